"""What a server's own metrics say of its load, as a guide for the limit.

Prometheus text of vLLM, SGLang and llama.cpp. A server without metrics is found out once.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import NamedTuple

_SECONDS = 1.0
_LINE = re.compile(
    r"^(?P<name>[a-zA-Z_:][\w:]*)(?:\{[^}]*\})? +(?P<value>[-+.\deEinfNa]+)",
    re.MULTILINE,
)
_WAITING = (
    "vllm:num_requests_waiting",
    "sglang:num_queue_reqs",
    "llamacpp:requests_deferred",
)
_RUNNING = (
    "vllm:num_requests_running",
    "sglang:num_running_reqs",
    "llamacpp:requests_processing",
)
_CACHE = (
    "vllm:kv_cache_usage_perc",
    "vllm:gpu_cache_usage_perc",
    "sglang:token_usage",
)


class Gauges(NamedTuple):
    """One look at a server: requests that run and wait, share of the cache in use."""

    running: float
    waiting: float
    cache: float


def read_gauges(text: str) -> Gauges | None:
    """Return what a metrics page says; ``None`` if it has none of the known names.

    A server with several engines or models has a line for each: they are added up, of
    the cache the fullest counts.
    """
    found: dict[str, list[float]] = {}
    for match in _LINE.finditer(text):
        try:
            value = float(match["value"])
        except ValueError:
            continue
        if value == value:  # noqa: PLR0124 - NaN differs from itself
            found.setdefault(match["name"], []).append(value)

    def of(names: tuple[str, ...]) -> list[float]:
        return next((found[name] for name in names if name in found), [])

    waiting, running = of(_WAITING), of(_RUNNING)
    if not waiting and not running:
        return None
    return Gauges(sum(running), sum(waiting), max(of(_CACHE), default=0.0))


async def watch(
    fetch: Callable[[], Awaitable[str | None]], tell: Callable[[Gauges], object]
) -> None:
    """Look about once a second until cancelled, or until there is nothing to see."""
    misses = 0
    while misses < 3:  # noqa: PLR2004 - a server that restarts has none for a moment
        text = await fetch()
        gauges = None if text is None else read_gauges(text)
        if gauges is None:
            misses += 1
        else:
            misses = 0
            tell(gauges)
        await asyncio.sleep(_SECONDS)
