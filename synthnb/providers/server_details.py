"""Questions that only some kinds of servers can answer: version, context, loading."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from synthnb.errors import ProviderError
from synthnb.providers.answers import Answer
from synthnb.providers.servers import ListedModel
from synthnb.providers.urls import root_of

if TYPE_CHECKING:
    from synthnb.providers.connecting import Link

_QUICK = 5.0
_OK = 200
_GAUGE = re.compile(
    r"^kaito_model_download_remaining_seconds(?:\{[^}]*\})? (-?[\d.e+]+)", re.MULTILINE
)


_VERSIONS = {
    "vllm": ("/version", "version"),
    "tensorrt-llm": ("/version", "version"),
    "ollama": ("/api/version", "version"),
    "sglang": ("/get_server_info", "version"),
    "llama.cpp": ("/props", "build_info"),
}


async def version_of(link: Link, kind: str) -> str:
    """Return kind and version in one text; a new version may have learned something.

    A server that does not say its version is known by its kind only.
    """
    path, field = _VERSIONS.get(kind, ("", ""))
    version = (await _json(link, path)).get(field) if path else None
    if not isinstance(version, str) or not version:
        return kind
    return f"{kind} {link.redactor(version)[:100]}"


async def context_of(
    link: Link, kind: str, models: Iterable[ListedModel], model: str | None
) -> int | None:
    """Return the tokens that fit, asking the server's own route where it has one.

    llama.cpp says it of a slot, LM Studio and Ollama of a model that is loaded.
    """
    listed = next((m.context for m in models if m.id == model), None)
    if kind == "llama.cpp":
        props = await _json(link, "/props")
        settings = props.get("default_generation_settings")
        slot = settings.get("n_ctx") if isinstance(settings, dict) else None
        return slot if isinstance(slot, int) and slot > 0 else listed
    if kind == "ollama":
        return await loaded_context(link, model) or listed
    if kind == "lm-studio":
        loaded = (await _json(link, "/api/v0/models")).get("data")
        return _named(loaded, ("id",), model, "loaded_context_length") or listed
    return listed


async def loaded_context(link: Link, model: str | None) -> int | None:
    """Return the context of a model that Ollama holds loaded; ``None`` before that."""
    running = (await _json(link, "/api/ps")).get("models")
    return _named(running, ("name", "model"), model, "context_length")


async def is_still_loading(
    link: Link, kind: str, models: Iterable[ListedModel], model: str
) -> bool:
    """Tell whether the server lists a model that it cannot use yet (llama.cpp)."""
    if kind != "llama.cpp":
        return False
    if any(entry.loading for entry in models if entry.id == model):
        return True
    answer = await _get(link, "/health")
    return answer is not None and answer.status == 503  # noqa: PLR2004


async def loading_note(link: Link, answer: Answer) -> str | None:
    """Return what KAITO's gauges say while it downloads a model; ``None`` if nothing.

    While it loads, KAITO answers 404 everywhere but on ``/metrics``.
    """
    if answer.status != 404 or answer.headers.get("x-litellm-version"):  # noqa: PLR2004
        return None
    metrics = await _get(link, "/metrics")
    if metrics is None or b"kaito_model_download" not in bytes(metrics.body):
        return None
    match = _GAUGE.search(metrics.text())
    seconds = float(match[1]) if match else -1
    if seconds < 0:
        return "KAITO is downloading the model"
    return f"KAITO is downloading the model, about {seconds:.0f} s left"


def _named(
    entries: Any, names: tuple[str, ...], model: str | None, field: str
) -> int | None:
    for entry in entries if isinstance(entries, list) else ():
        if not isinstance(entry, dict):
            continue
        if any(entry.get(n) in {model, f"{model}:latest"} for n in names):
            value = entry.get(field)
            return value if isinstance(value, int) and value > 0 else None
    return None


async def _get(link: Link, path: str) -> Answer | None:
    try:
        return await link.transport.get(
            f"{root_of(link.base_url)}{path}", timeout_seconds=_QUICK
        )
    except ProviderError:
        return None


async def _json(link: Link, path: str) -> dict[str, Any]:
    answer = await _get(link, path)
    if answer is None or answer.status != _OK:
        return {}
    try:
        value = json.loads(answer.text())
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
