"""The shapes of error answers, one for each kind of server.

``{"error": {...}}``, ``{"error": "text"}``, a text that holds JSON, ``{"object":
"error", ...}`` at the top and FastAPI's ``{"detail": ...}``.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Final, Protocol

from synthnb.testing.wire import Reply


class ErrorShape(Protocol):
    """Makes an error answer."""

    def __call__(
        self,
        status: int,
        message: str,
        *,
        kind: str = "invalid_request_error",
        param: str | None = None,
        code: str | None = None,
    ) -> Reply:
        """Return the reply."""


_VLLM_TYPES: Final = {
    400: "BadRequestError",
    401: "Unauthorized",
    404: "NotFoundError",
    500: "InternalServerError",
}


def openai_error(
    status: int,
    message: str,
    *,
    kind: str = "invalid_request_error",
    param: str | None = None,
    code: str | None = None,
) -> Reply:
    """Make an error reply in OpenAI's shape."""
    error = {"message": message, "type": kind, "param": param, "code": code}
    return Reply.json(status, {"error": error})


def vllm_error(
    status: int,
    message: str,
    *,
    kind: str = "",
    param: str | None = None,
    code: str | None = None,
) -> Reply:
    """Make vLLM's newer shape: inside of ``error``, the code is the status."""
    return Reply.json(status, {"error": _numbered(status, message, kind, param, code)})


def top_level_error(
    status: int,
    message: str,
    *,
    kind: str = "",
    param: str | None = None,
    code: str | None = None,
) -> Reply:
    """Make the shape of older vLLM, SGLang and TensorRT-LLM: all at the top."""
    fields = _numbered(status, message, kind, param, code)
    return Reply.json(status, {"object": "error", **fields})


def _numbered(
    status: int, message: str, kind: str, param: str | None, code: str | None
) -> dict[str, Any]:
    named = _VLLM_TYPES.get(status, kind or "Error")
    return {"message": message, "type": named, "param": param, "code": code or status}


def llama_cpp_error(
    status: int,
    message: str,
    *,
    kind: str = "invalid_request_error",
    param: str | None = None,  # noqa: ARG001
    code: str | None = None,  # noqa: ARG001
) -> Reply:
    """Make llama.cpp's shape."""
    return Reply.json(
        status, {"error": {"code": status, "message": message, "type": kind}}
    )


def string_error(
    status: int,
    message: str,
    *,
    kind: str = "",  # noqa: ARG001
    param: str | None = None,  # noqa: ARG001
    code: str | None = None,  # noqa: ARG001
) -> Reply:
    """Make LM Studio's shape: the error is a text."""
    return Reply.json(status, {"error": message})


def detail_error(
    status: int,
    message: str,
    *,
    kind: str = "",  # noqa: ARG001
    param: str | None = None,  # noqa: ARG001
    code: str | None = None,  # noqa: ARG001
) -> Reply:
    """Make FastAPI's shape."""
    return Reply.json(status, {"detail": message})


def litellm_error(
    status: int,
    message: str,
    *,
    kind: str = "",
    param: str | None = None,
    code: str | None = None,  # noqa: ARG001
) -> Reply:
    """Make LiteLLM's shape: OpenAI's, the code is the status as a text."""
    phrase = HTTPStatus(status).phrase.title().replace(" ", "")
    error = {
        "message": f"litellm.{phrase}Error: {message}",
        "type": kind or None,
        "param": param,
        "code": str(status),
    }
    return Reply.json(status, {"error": error})


def mistral_error(
    status: int,
    message: str,
    *,
    kind: str = "invalid_request_error",
    param: str | None = None,
    code: str | None = None,  # noqa: ARG001
) -> Reply:
    """Make Mistral's shape: all at the top, codes of its own."""
    numbers = {429: ("rate_limited", "1300"), 400: (kind, "3051")}
    named, number = numbers.get(status, (kind, str(status)))
    value = {
        "object": "error",
        "message": message,
        "type": named,
        "param": param,
        "code": number,
    }
    return Reply.json(status, value)
