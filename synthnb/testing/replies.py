"""The bodies of the fault server: answers, error shapes, refusals of a dialect."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any, Final

import orjson

from synthnb.testing.faults import Answer, Fault
from synthnb.testing.wire import Reply

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

_HTML: Final = b"<html><head><title>Sign in</title></head><body>Portal</body></html>"


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


def completion(answer: Answer, body: Mapping[str, Any], number: int) -> Reply:
    """Make the ``chat.completion`` reply of an answer."""
    message: dict[str, Any] = {"role": "assistant", "content": answer.text}
    if answer.reasoning is not None:
        message["reasoning_content"] = answer.reasoning
    value: dict[str, Any] = {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 0,
        "model": answer.model or body.get("model"),
        "choices": [
            {"index": 0, "message": message, "finish_reason": answer.finish_reason}
        ],
    }
    usage = _estimate(answer, body) if answer.usage == "estimate" else answer.usage
    if usage is not None:
        value["usage"] = dict(usage)
    return Reply.json(200, value)


def prompt_tokens(body: Mapping[str, Any]) -> int:
    """Estimate the tokens of the messages: one for four characters."""
    messages = body.get("messages") or []
    return sum(len(str(message.get("content"))) for message in messages) // 4 + 1


def _estimate(answer: Answer, body: Mapping[str, Any]) -> dict[str, int]:
    prompt = prompt_tokens(body)
    written = len(answer.text or "") // 4 + 1
    return {
        "prompt_tokens": prompt,
        "completion_tokens": written,
        "total_tokens": prompt + written,
    }


def faulty_answer(answer: Answer, fault: Fault) -> Answer:
    """Return the answer as the fault leaves it (finish reason, usage, length)."""
    text = answer.text or ""
    changed = {
        "length": Answer(text[: max(1, len(text) // 2)], "length"),
        "content_filter": Answer("", "content_filter"),
        "huge": Answer("x" * fault.size),
        "no_usage": Answer(answer.text, answer.finish_reason, usage=None),
        "negative_usage": Answer(
            answer.text,
            answer.finish_reason,
            usage={"prompt_tokens": -1, "completion_tokens": -7, "total_tokens": -8},
        ),
    }
    return changed.get(fault.name, answer)


def faulty_reply(fault: Fault) -> Reply | None:
    """Return the reply that stands in place of an answer, if the fault is such a one."""
    if isinstance(fault.what, int):
        return _status_reply(fault.what, fault)
    replaced = {
        "html": Reply(200, _HTML, "text/html; charset=utf-8"),
        "garbage": Reply(200, b'{"choices": [{"message": {"content": "cut'),
        "empty": Reply(200),
        "endless": Reply(200),
    }
    return replaced.get(fault.what)


def _status_reply(status: int, fault: Fault) -> Reply:
    headers: dict[str, str] = {}
    if fault.retry_after is not None:
        headers["retry-after"] = _retry_after(fault.retry_after, as_date=fault.as_date)
    if isinstance(fault.body, str):
        return Reply(status, fault.body.encode(), "text/plain; charset=utf-8", headers)
    if fault.body is not None:
        return Reply(status, orjson.dumps(fault.body), headers=headers)
    error = {"message": f"scripted {status}", "type": "scripted", "code": status}
    return Reply.json(status, {"error": error}, headers)


def _retry_after(seconds: float, *, as_date: bool) -> str:
    if as_date:
        # An HTTP date has whole seconds; rounding down would ask for less than wanted.
        then = datetime.now(UTC).timestamp() + seconds
        moment = datetime.fromtimestamp(0, UTC) + timedelta(seconds=math.ceil(then))
        return format_datetime(moment, usegmt=True)
    return str(int(seconds)) if seconds == int(seconds) else str(seconds)


def unknown_fields(body: Mapping[str, Any]) -> Reply | None:
    """Refuse fields outside of OpenAI's list, as transformers serve does (422)."""
    unknown = sorted(set(body) - _KNOWN_FIELDS)
    if not unknown:
        return None
    detail = f"Unsupported fields in the request: {set(unknown)}"
    return Reply.json(422, {"detail": detail})


def no_max_tokens(body: Mapping[str, Any]) -> Reply | None:
    """Refuse ``max_tokens``, as OpenAI's reasoning models do."""
    if "max_tokens" not in body:
        return None
    message = (
        "Unsupported parameter: 'max_tokens' is not supported with this model. "
        "Use 'max_completion_tokens' instead."
    )
    return openai_error(400, message, param="max_tokens", code="unsupported_parameter")


def no_temperature(body: Mapping[str, Any]) -> Reply | None:
    """Refuse any temperature but 1, as OpenAI's reasoning models do."""
    if body.get("temperature", 1) == 1:
        return None
    message = (
        f"Unsupported value: 'temperature' does not support {body['temperature']} with "
        "this model. Only the default (1) value is supported."
    )
    return openai_error(400, message, param="temperature", code="unsupported_value")


def no_system_role(body: Mapping[str, Any]) -> Reply | None:
    """Refuse a system message, as some chat templates do."""
    if all(message.get("role") != "system" for message in body["messages"]):
        return None
    return openai_error(400, "System role not supported", kind="BadRequestError")


def no_json_schema(body: Mapping[str, Any]) -> Reply | None:
    """Refuse ``json_schema`` with an error that is a string, as LM Studio writes them."""
    return _refuse_format(body, "json_schema", "'json_object' or 'text'")


def no_json_object(body: Mapping[str, Any]) -> Reply | None:
    """Refuse ``json_object``, as LM Studio does."""
    return _refuse_format(body, "json_object", "'json_schema' or 'text'")


def _refuse_format(body: Mapping[str, Any], kind: str, others: str) -> Reply | None:
    if (body.get("response_format") or {}).get("type") != kind:
        return None
    return Reply.json(400, {"error": f"'response_format.type' must be {others}"})


def over_context(body: Mapping[str, Any], max_model_len: int) -> Reply | None:
    """Refuse what does not fit the context, in vLLM's words."""
    prompt = prompt_tokens(body)
    wanted = body.get("max_completion_tokens") or body.get("max_tokens") or 0
    if prompt + wanted <= max_model_len:
        return None
    message = (
        f"This model's maximum context length is {max_model_len} tokens. However, you "
        f"requested {wanted} output tokens and your prompt contains at least {prompt} "
        "input tokens. Please reduce the length of the input prompt or the number of "
        "requested output tokens."
    )
    return openai_error(400, message, kind="BadRequestError", param="input_tokens")


REFUSALS: Final[Mapping[str, Callable[[Mapping[str, Any]], Reply | None]]] = {
    "no_json_schema": no_json_schema,
    "no_json_object": no_json_object,
    "no_max_tokens": no_max_tokens,
    "no_temperature": no_temperature,
    "no_system_role": no_system_role,
    "unknown_field_422": unknown_fields,
}
"""The dialects' flags of ``FaultServer`` and what each of them does."""
