"""The paths besides chat, by the kind of server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from synthnb.testing import metrics
from synthnb.testing.metrics import Gauges
from synthnb.testing.shapes import ErrorShape
from synthnb.testing.tokens import CHARACTERS, prompt_tokens
from synthnb.testing.wire import Reply, read_json


class Look(NamedTuple):
    """What a path may tell of the server."""

    models: list[str]
    max_model_len: int | None
    gauges: Gauges
    error: ErrorShape
    slots: int
    body: bytes


Route: TypeAlias = Callable[[Look], Reply]
Routes: TypeAlias = Mapping[tuple[str, str], Route]


def _of(page: Callable[[Gauges], Reply]) -> Route:
    return lambda look: page(look.gauges)


def _json(value: Any) -> Route:
    return lambda _: Reply.json(200, value)


def _empty(_: Look) -> Reply:
    return Reply(200)


def _text(text: str) -> Route:
    return lambda _: Reply.text(text)


def _vllm_tokenize(look: Look) -> Reply:
    value = read_json(look.body)
    if not isinstance(value, dict) or not {"prompt", "messages"} & set(value):
        return look.error(400, "prompt or messages are missing")
    count = (
        prompt_tokens(value)
        if "messages" in value
        else _count(str(value.get("prompt") or ""))
    )
    tokens = list(range(1, count + 1))
    return Reply.json(
        200,
        {
            "count": count,
            "max_model_len": look.max_model_len,
            "tokens": tokens,
            "token_strs": None,
        },
    )


def _llama_tokenize(look: Look) -> Reply:
    value = read_json(look.body)
    if not isinstance(value, dict) or "content" not in value:
        return Reply.json(200, {"tokens": []})  # so does llama.cpp
    return Reply.json(
        200, {"tokens": list(range(1, _count(str(value["content"])) + 1))}
    )


def _count(text: str) -> int:
    return -(-len(text) // CHARACTERS)


def _props(look: Look) -> Reply:
    return Reply.json(
        200,
        {
            "default_generation_settings": {"n_ctx": look.max_model_len},
            "total_slots": look.slots,
            "model_path": look.models[0] if look.models else "",
            "chat_template": "{{ messages }}",
            "build_info": "b9999-fault",
        },
    )


def _slots(look: Look) -> Reply:
    slots = [
        {
            "id": number,
            "n_ctx": look.max_model_len,
            "is_processing": number < look.gauges.running,
        }
        for number in range(look.slots)
    ]
    return Reply.json(200, slots)


def _ollama_models(look: Look) -> Reply:
    models = [
        {
            "name": name,
            "model": name,
            "modified_at": "2026-01-01T00:00:00Z",
            "size": 5_200_000_000,
            "digest": "0" * 64,
            "details": {"format": "gguf", "parameter_size": "8B"},
        }
        for name in look.models
    ]
    return Reply.json(200, {"models": models})


def _ollama_loaded(look: Look) -> Reply:
    models = [
        {
            "name": name,
            "model": name,
            "size": 6_000_000_000,
            "size_vram": 6_000_000_000,
            "context_length": look.max_model_len,
            "expires_at": "2026-01-01T00:05:00Z",
        }
        for name in look.models[:1]
    ]
    return Reply.json(200, {"models": models})


def _lm_studio_models(look: Look) -> Reply:
    data = [
        {
            "id": name,
            "object": "model",
            "type": "llm",
            "state": "loaded",
            "max_context_length": look.max_model_len,
            "loaded_context_length": look.max_model_len,
        }
        for name in look.models
    ]
    return Reply.json(200, {"object": "list", "data": data})


def _sglang_info(look: Look) -> Reply:
    model = look.models[0] if look.models else ""
    value = {"model_path": model, "version": "0.5.6", "max_total_num_tokens": 400_000}
    return Reply.json(200, value)


def _litellm_costly(look: Look) -> Reply:
    # It asks each upstream model: a client that gets here has spent its user's money.
    endpoints = [{"model": name} for name in look.models]
    value = {"healthy_endpoints": endpoints, "unhealthy_endpoints": []}
    return Reply.json(200, value)


_VLLM: Final[Routes] = {
    ("GET", "/health"): _empty,
    ("GET", "/ping"): _empty,
    ("GET", "/version"): _json({"version": "0.14.1"}),
    ("GET", "/metrics"): _of(metrics.vllm),
    ("POST", "/tokenize"): _vllm_tokenize,
}

ROUTES: Final[Mapping[str, Routes]] = {
    "plain": {("GET", "/health"): _empty},
    "vllm": _VLLM,
    "vllm-old": {
        **_VLLM,
        ("GET", "/version"): _json({"version": "0.6.3"}),
        ("GET", "/metrics"): _of(metrics.vllm_old),
    },
    "kaito-vllm": {**_VLLM, ("GET", "/metrics"): _of(metrics.kaito_vllm)},
    "kaito-transformers": {
        ("GET", "/health"): _json({"status": "Healthy"}),
        ("GET", "/metrics"): _of(metrics.kaito_transformers),
    },
    "sglang": {
        ("GET", "/health"): _empty,
        ("GET", "/health_generate"): _empty,
        ("GET", "/get_server_info"): _sglang_info,
        ("GET", "/metrics"): _of(metrics.sglang),
    },
    "llama.cpp": {
        ("GET", "/health"): _json({"status": "ok"}),
        ("GET", "/metrics"): _of(metrics.llama_cpp),
        ("GET", "/props"): _props,
        ("GET", "/slots"): _slots,
        ("POST", "/tokenize"): _llama_tokenize,
    },
    "ollama": {
        ("GET", "/"): _text("Ollama is running"),
        ("GET", "/api/tags"): _ollama_models,
        ("GET", "/api/ps"): _ollama_loaded,
        ("GET", "/api/version"): _json({"version": "0.14.0"}),
    },
    "lm-studio": {("GET", "/api/v0/models"): _lm_studio_models},
    "litellm": {
        ("GET", "/health"): _litellm_costly,
        ("GET", "/health/liveliness"): _json("I'm alive!"),
        ("GET", "/health/readiness"): _json({"status": "healthy"}),
    },
    "hosted": {},
    "trtllm": {
        ("GET", "/health"): _empty,
        ("GET", "/health_generate"): _empty,
        ("GET", "/version"): _json({"version": "1.2.0"}),
        ("GET", "/metrics"): _of(metrics.trtllm),
    },
}
