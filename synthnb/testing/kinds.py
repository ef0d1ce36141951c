"""The kinds of servers that a fault server can be like."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from synthnb.testing import metrics, shapes
from synthnb.testing.answers import ThinkForm
from synthnb.testing.routes import ROUTES, Routes
from synthnb.testing.shapes import ErrorShape
from synthnb.testing.wire import Reply


@dataclass(frozen=True, slots=True)
class Kind:
    """What sets a kind of server apart. Options of ``FaultServer`` override it.

    Attributes:
        name: what ``FaultServer.like`` takes.
        owned_by: in ``/v1/models``.
        models: ids there.
        error: the shape of its error answers.
        overflow: what a request over the context gets (``overflow.OVERFLOWS``).
        context: tokens, if the kind has a limit without being told one.
        entry: further fields of a model in ``/v1/models``; ``max_model_len`` is there
            where ``lists_context``.
        routes: its paths besides chat and models.
        think_form: where thinking stands in an answer.
        strict_model: whether a model that is not listed is a 404.
        refusals: flags that are on.
        rate_message: of its 429.
    """

    name: str
    owned_by: str
    models: tuple[str, ...]
    error: ErrorShape
    overflow: str
    routes: Routes
    context: int | None = None
    lists_context: bool = False
    entry: Mapping[str, Any] = field(default_factory=dict)
    think_form: ThinkForm = "reasoning_content"
    strict_model: bool = True
    refusals: tuple[str, ...] = ()
    rate_message: str = "Too many requests"

    def not_found(self, method: str, path: str) -> Reply:
        """Return what a path gets that the kind does not have."""
        if self.name == "lm-studio":  # its log calls it "returning 200 anyway"
            return shapes.string_error(
                200, f"Unexpected endpoint or method. ({method} {path})"
            )
        if self.name == "ollama":
            return Reply(404, b"404 page not found", "text/plain")
        if self.name == "llama.cpp":
            return shapes.llama_cpp_error(404, "File Not Found", kind="not_found_error")
        if self.routes is ROUTES["hosted"]:
            message = f"Invalid URL ({method} {path})"
            return self.error(404, message, kind="invalid_request_error")
        return Reply.json(404, {"detail": "Not Found"})

    def without_metrics(self) -> Reply:
        """Return what ``/metrics`` gets where the server was started without."""
        if self.name != "llama.cpp":
            return self.not_found("GET", "/metrics")
        message = (
            "This server does not support metrics endpoint. Start it with `--metrics`"
        )
        return self.error(501, message, kind="not_supported_error")

    def while_loading(self, method: str, path: str) -> Reply | None:
        """Return what a path gets before the model is loaded; ``None``: as usual."""
        if self.name.startswith("kaito"):
            if path == "/metrics":
                return metrics.kaito_loading(95.0)
            return Reply.json(404, {"detail": "Not Found"})
        if self.name == "llama.cpp" and (method, path) == ("GET", "/v1/models"):
            return None  # it may say 200 by now
        return self.error(503, "Loading model", kind="unavailable_error")


_VLLM: Final[dict[str, Any]] = {
    "owned_by": "vllm",
    "context": 32_768,
    "lists_context": True,
}

KINDS: Final[Mapping[str, Kind]] = {
    kind.name: kind
    for kind in (
        Kind(
            "plain", "vllm", ("fault-model",), shapes.openai_error, "plain",
            ROUTES["plain"], lists_context=True, strict_model=False,
        ),
        Kind(
            "vllm", models=("Qwen/Qwen3-8B",), error=shapes.vllm_error,
            overflow="vllm", routes=ROUTES["vllm"], think_form="reasoning",
            entry={"root": "Qwen/Qwen3-8B", "parent": None, "permission": []}, **_VLLM,
        ),
        Kind(
            "vllm-old", models=("/workspace/vllm/weights",),
            error=shapes.top_level_error, overflow="vllm-old",
            routes=ROUTES["vllm-old"],
            entry={"root": "/workspace/vllm/weights", "parent": None}, **_VLLM,
        ),
        Kind(
            "kaito-vllm", models=("phi-4-mini-instruct",), error=shapes.vllm_error,
            overflow="vllm", routes=ROUTES["kaito-vllm"],
            entry={"root": "/workspace/vllm/weights", "parent": None},
            rate_message="Too many requests: the waiting queue is full", **_VLLM,
        ),
        Kind(
            "kaito-transformers", "kaito", ("phi-4-mini-instruct",),
            shapes.detail_error, "fastapi", ROUTES["kaito-transformers"],
            context=16_384, think_form="inline", strict_model=False,
            refusals=("unknown_field_422",),
        ),
        Kind(
            "sglang", "sglang", ("Qwen/Qwen3-8B",), shapes.top_level_error, "sglang",
            ROUTES["sglang"], context=32_768, lists_context=True, strict_model=False,
        ),
        Kind(
            "llama.cpp", "llamacpp", ("qwen3-8b-q4_k_m.gguf",), shapes.llama_cpp_error,
            "llama.cpp", ROUTES["llama.cpp"], context=4096, strict_model=False,
        ),
        Kind(
            "ollama", "library", ("qwen3:8b",), shapes.openai_error, "cut",
            ROUTES["ollama"], context=4096, think_form="reasoning",
        ),
        Kind(
            "lm-studio", "organization_owner", ("qwen3-8b",), shapes.string_error,
            "lm-studio", ROUTES["lm-studio"], context=4096, strict_model=False,
            refusals=("no_json_object",),
        ),
        Kind(
            "litellm", "openai", ("gpt-4o-mini",), shapes.litellm_error, "litellm",
            ROUTES["litellm"], context=128_000,
        ),
        Kind(
            "openai", "system", ("gpt-4o-mini",), shapes.openai_error, "openai",
            ROUTES["hosted"], context=128_000,
        ),
        Kind(
            "openai-reasoning", "system", ("o4-mini",), shapes.openai_error, "openai",
            ROUTES["hosted"], context=200_000, think_form="hidden",
            refusals=("no_max_tokens", "no_temperature"),
        ),
        Kind(
            "mistral", "mistralai", ("mistral-small-latest",), shapes.mistral_error,
            "mistral", ROUTES["hosted"], context=32_768,
            rate_message="Requests rate limit exceeded",
        ),
        Kind(
            "trtllm", "tensorrt_llm", ("Qwen3-8B",), shapes.top_level_error, "trtllm",
            ROUTES["trtllm"], context=32_768, strict_model=False,
        ),
    )
}  # fmt: skip


def kind_of(name: str) -> Kind:
    """Return the kind of that name.

    Raises:
        ValueError: there is none.
    """
    try:
        return KINDS[name]
    except KeyError:
        message = f"no server is like {name!r}; there are {', '.join(KINDS)}"
        raise ValueError(message) from None
