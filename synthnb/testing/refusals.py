"""What certain servers refuse, and in which words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol, TypeAlias

from synthnb.testing.shapes import ErrorShape
from synthnb.testing.wire import Reply

Body: TypeAlias = Mapping[str, Any]

_KNOWN_FIELDS: Final = frozenset(
    [
        "model",
        "messages",
        "temperature",
        "top_p",
        "max_tokens",
        "max_completion_tokens",
        "seed",
        "stop",
        "n",
        "response_format",
        "stream",
        "stream_options",
        "presence_penalty",
        "frequency_penalty",
        "logprobs",
        "top_logprobs",
        "user",
        "tools",
        "tool_choice",
    ]
)


def unknown_fields(body: Body, error: ErrorShape) -> Reply | None:  # noqa: ARG001
    """Refuse fields outside of OpenAI's list, as transformers serve does (422)."""
    unknown = sorted(set(body) - _KNOWN_FIELDS)
    if not unknown:
        return None
    detail = f"Unsupported fields in the request: {set(unknown)}"
    return Reply.json(422, {"detail": detail})


def no_max_tokens(body: Body, error: ErrorShape) -> Reply | None:
    """Refuse ``max_tokens``, as OpenAI's reasoning models do."""
    if "max_tokens" not in body:
        return None
    message = (
        "Unsupported parameter: 'max_tokens' is not supported with this model. "
        "Use 'max_completion_tokens' instead."
    )
    return error(400, message, param="max_tokens", code="unsupported_parameter")


def no_temperature(body: Body, error: ErrorShape) -> Reply | None:
    """Refuse any temperature but 1, as OpenAI's reasoning models do."""
    if body.get("temperature", 1) == 1:
        return None
    message = (
        f"Unsupported value: 'temperature' does not support {body['temperature']} with "
        "this model. Only the default (1) value is supported."
    )
    return error(400, message, param="temperature", code="unsupported_value")


def no_system_role(body: Body, error: ErrorShape) -> Reply | None:
    """Refuse a system message, as some chat templates do."""
    if all(message.get("role") != "system" for message in body["messages"]):
        return None
    return error(400, "System role not supported", kind="BadRequestError")


def needs_user_turn(body: Body, error: ErrorShape) -> Reply | None:
    """Refuse a conversation of system messages alone, as strict templates do."""
    if any(message.get("role") == "user" for message in body["messages"]):
        return None
    return error(400, "No user query found in messages.", kind="BadRequestError")


def no_json_schema(body: Body, error: ErrorShape) -> Reply | None:
    """Refuse ``json_schema``."""
    return _refuse_format(body, "json_schema", "'json_object' or 'text'", error)


def no_json_object(body: Body, error: ErrorShape) -> Reply | None:
    """Refuse ``json_object``, as LM Studio does."""
    return _refuse_format(body, "json_object", "'json_schema' or 'text'", error)


def no_text_format(body: Body, error: ErrorShape) -> Reply | None:
    """Refuse ``text``, as older LM Studio does."""
    return _refuse_format(body, "text", "'json_schema'", error)


def no_response_format(body: Body, error: ErrorShape) -> Reply | None:
    """Refuse any ``response_format``, as some hosted models do."""
    if body.get("response_format") is None:
        return None
    message = "Unsupported parameter: 'response_format' is not supported"
    return error(400, message, param="response_format", code="unsupported_parameter")


def _refuse_format(
    body: Body, kind: str, others: str, error: ErrorShape
) -> Reply | None:
    if (body.get("response_format") or {}).get("type") != kind:
        return None
    message = f"'response_format.type' must be {others}"
    return error(400, message, param="response_format")


class _Refuse(Protocol):
    def __call__(self, body: Body, error: ErrorShape) -> Reply | None: ...


REFUSALS: Final[Mapping[str, _Refuse]] = {
    "no_json_schema": no_json_schema,
    "no_json_object": no_json_object,
    "no_text_format": no_text_format,
    "no_response_format": no_response_format,
    "no_max_tokens": no_max_tokens,
    "no_temperature": no_temperature,
    "no_system_role": no_system_role,
    "needs_user_turn": needs_user_turn,
    "unknown_field_422": unknown_fields,
}
"""The dialects' flags of ``FaultServer`` and what each of them does."""

IN_STRINGS: Final = frozenset({"no_json_schema", "no_json_object", "no_text_format"})
"""Flags that a plain server answers in LM Studio's shape, the one known to refuse so."""
