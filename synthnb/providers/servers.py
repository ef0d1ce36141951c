"""Tells servers apart by what they say themselves, and reads their model lists."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from synthnb.providers.answers import Answer

_OWNERS = {
    "vllm": "vllm",
    "llamacpp": "llama.cpp",
    "library": "ollama",
    "sglang": "sglang",
    "local": "transformers",
    "organization_owner": "lm-studio",
    "tensorrt_llm": "tensorrt-llm",
}
_CONTEXT_FIELDS = (
    "max_model_len",
    "context_length",
    "context_window",
    "max_context_length",
    "max_context_window_tokens",
)
_MOST_MODELS = 5_000


@dataclass(frozen=True, slots=True)
class ListedModel:
    """One entry of a server's list of models."""

    id: str
    parent: str | None = None
    """The base model, for a LoRA adapter."""
    context: int | None = None
    owner: str = ""
    loading: bool = False
    """llama.cpp lists a model without its meta data while it loads it."""


def read_models(answer: Answer) -> tuple[ListedModel, ...] | None:
    """Return the models of a ``/models`` answer; ``None`` if it holds no such list."""
    try:
        value = json.loads(answer.text())
    except (ValueError, RecursionError):
        return None
    entries = value.get("data") if isinstance(value, dict) else value
    if isinstance(value, dict) and entries is None and value.get("object") == "list":
        entries = []  # Ollama without any model says null
    if not isinstance(entries, list):
        return None
    return tuple(_models(entries[:_MOST_MODELS]))


def _models(entries: Iterable[Any]) -> Iterable[ListedModel]:
    for entry in entries:
        name = entry.get("id") if isinstance(entry, dict) else None
        if not isinstance(name, str) or not name:
            continue
        parent, owner = entry.get("parent"), entry.get("owned_by")
        yield ListedModel(
            id=name,
            parent=parent if isinstance(parent, str) else None,
            context=_context(entry),
            owner=owner if isinstance(owner, str) else "",
            loading=owner == "llamacpp" and "meta" in entry and entry["meta"] is None,
        )


def _context(entry: Mapping[str, Any]) -> int | None:
    meta = entry.get("meta")
    # n_ctx_train is what the model was trained for, not what this server gives.
    places = [entry.get(name) for name in _CONTEXT_FIELDS]
    places.append(meta.get("n_ctx") if isinstance(meta, dict) else None)
    return next((p for p in places if isinstance(p, int) and p > 0), None)


def kind_of(models: Iterable[ListedModel], answer: Answer, base_url: str) -> str:
    """Return the kind of server, from its list of models and its headers."""
    if answer.headers.get("x-litellm-version") or answer.headers.get(
        "x-litellm-call-id"
    ):
        return "litellm"
    if "llama.cpp" in (answer.headers.get("server") or "").lower():
        return "llama.cpp"
    for model in models:
        if model.owner in _OWNERS:
            return _OWNERS[model.owner]
    from synthnb.providers.presets import preset_at
    from synthnb.providers.urls import is_loopback

    preset = preset_at(base_url)
    if preset is not None and not is_loopback(base_url):
        return preset.name
    return "openai-compatible"


def ignores_response_format(kind: str) -> bool:
    """Tell whether a server takes ``response_format`` without doing anything with it."""
    return kind == "transformers"
