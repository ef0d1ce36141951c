"""What a server's own metrics say of its load, as a guide for the limit.

Prometheus text of vLLM, SGLang and llama.cpp. A server without metrics is found out once.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Awaitable, Callable
from typing import NamedTuple

_SECONDS = 1.0
_LATER_SECONDS = 10.0
_MISSES = 3
"""A server that restarts has no metrics for a moment."""
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
# Of a page of some thousand lines just these are looked at; a label's value may hold
# anything, braces too (Prometheus' text format 0.0.4).
_LINE = re.compile(
    rf"^(?P<name>{'|'.join(_WAITING + _RUNNING + _CACHE)})"
    r"""(?:\{(?:[^"}]|"(?:[^"\\]|\\.)*")*\})?[ \t]+(?P<value>\S+)""",
    re.MULTILINE,
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
        if math.isfinite(value):
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
    """Look about once a second until cancelled.

    A server that never showed any is given up; one that did is asked again now and then.

    Args:
        fetch: returns the text of the metrics, or ``None``; what it raises is a miss.
        tell: heeds what was seen.
    """
    misses, has_seen = 0, False
    while True:
        gauges = await _look(fetch)
        if gauges is None:
            misses += 1
            if misses == _MISSES and not has_seen:
                return
        else:
            misses, has_seen = 0, True
            tell(gauges)
        await asyncio.sleep(_SECONDS if misses < _MISSES else _LATER_SECONDS)


async def _look(fetch: Callable[[], Awaitable[str | None]]) -> Gauges | None:
    try:
        text = await fetch()
    except Exception:  # noqa: BLE001 - a guide that fails must not end the run
        return None
    return None if text is None else read_gauges(text)
