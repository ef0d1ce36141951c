"""The bodies of the fault server: answers, spoiled answers, scripted errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any, Final

import orjson

from synthnb.testing.answers import ODD_TEXTS, Answer, ThinkForm
from synthnb.testing.faults import Fault
from synthnb.testing.json_text import dumps
from synthnb.testing.shapes import ErrorShape
from synthnb.testing.tokens import CHARACTERS, count_tokens, prompt_tokens
from synthnb.testing.wire import Reply

_HTML: Final = b"<html><head><title>Sign in</title></head><body>Portal</body></html>"


def completion(
    answer: Answer,
    body: Mapping[str, Any],
    number: int,
    *,
    form: ThinkForm = "reasoning_content",
    sends_usage: bool = True,
) -> Reply:
    """Make the ``chat.completion`` reply of an answer."""
    message = answer.message(form)
    usage = _estimate(answer, body) if answer.usage == "estimate" else answer.usage
    value: dict[str, Any] = {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 0,
        "model": answer.model or body.get("model"),
        "choices": [
            {"index": 0, "message": message, "finish_reason": answer.finish_reason}
        ],
    }
    if usage is not None and sends_usage:
        value["usage"] = usage if isinstance(usage, dict) else dict(usage)
    counts = usage or _estimate(answer, body)
    return Reply(
        200,
        dumps(value),
        prompt_tokens=max(0, counts.get("prompt_tokens", 0)),
        completion_tokens=max(0, counts.get("completion_tokens", 0)),
        finish_reason=answer.finish_reason,
    )


def _estimate(answer: Answer, body: Mapping[str, Any]) -> dict[str, Any]:
    prompt = prompt_tokens(body)
    written = count_tokens(answer.text or "")
    thought = count_tokens(answer.thinking) if answer.thinking is not None else 0
    usage: dict[str, Any] = {
        "prompt_tokens": prompt,
        "completion_tokens": written + thought,
        "total_tokens": prompt + written + thought,
    }
    if thought:
        usage["completion_tokens_details"] = {"reasoning_tokens": thought}
    return usage


def cut_at(answer: Answer, tokens: int) -> Answer:
    """Return the answer as a limit on its tokens leaves it; thinking counts first."""
    if answer.text is None or tokens <= 0:
        return answer
    thinking = answer.thinking
    left = tokens * CHARACTERS
    if thinking is not None:
        thinking = thinking[:left]
        left -= len(thinking)
    if len(answer.text) <= left:
        return answer
    text = answer.text[:left]
    return replace(answer, text=text, thinking=thinking, finish_reason="length")


def faulty_answer(answer: Answer, fault: Fault) -> Answer:
    """Return the answer as the fault leaves it (finish reason, usage, text)."""
    spoil = _SPOILED.get(fault.name)
    return answer if spoil is None else spoil(answer, answer.text or "", fault)


def _usage(prompt: int, written: int) -> dict[str, int]:
    total = prompt + written
    return {
        "prompt_tokens": prompt,
        "completion_tokens": written,
        "total_tokens": total,
    }


_CALL: Final = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "search", "arguments": '{"query": "'},
}

_SPOILED: Final[Mapping[str, Callable[[Answer, str, Fault], Answer]]] = {
    "length": lambda _, text, __: Answer(text[: max(1, len(text) // 2)], "length"),
    "cut_json": lambda _, text, __: Answer(text[: len(text) * 2 // 3], "length"),
    "content_filter": lambda _, __, ___: Answer("", "content_filter"),
    "huge": lambda _, __, fault: Answer("x" * fault.size),
    "no_usage": lambda answer, _, __: replace(answer, usage=None),
    "negative_usage": lambda answer, _, __: replace(answer, usage=_usage(-1, -7)),
    "zero_usage": lambda answer, _, __: replace(answer, usage=_usage(0, 0)),
    "refusal": lambda _, __, fault: Answer(
        None, refusal=fault.text or "I'm sorry, I can't help with that."
    ),
    "tool_calls": lambda _, __, ___: Answer(None, "tool_calls", tool_calls=(_CALL,)),
    "null_content": lambda _, __, ___: Answer(None),
    "wrong_field": lambda answer, text, _: replace(answer, text=None, thinking=text),
    "odd_text": lambda answer, _, fault: replace(
        answer, text=fault.text or ODD_TEXTS["lone_surrogate"]
    ),
    "other_model": lambda answer, _, fault: replace(
        answer, model=fault.text or "another-model"
    ),
}


def faulty_reply(fault: Fault, error: ErrorShape | None = None) -> Reply | None:
    """Return the reply that stands in place of an answer, if the fault is such a one.

    ``error`` makes the bodies of statuses that have none of their own.
    """
    if isinstance(fault.what, int):
        return _status_reply(fault.what, fault, error)
    replaced = {
        "html": Reply(200, _HTML, "text/html; charset=utf-8"),
        "garbage": Reply(200, b'{"choices": [{"message": {"content": "cut'),
        "empty": Reply(200),
        "endless": Reply(200),
    }
    return replaced.get(fault.what)


def _status_reply(status: int, fault: Fault, shape: ErrorShape | None) -> Reply:
    headers: dict[str, str] = {}
    if fault.retry_after is not None:
        headers["retry-after"] = retry_after(fault.retry_after, as_date=fault.as_date)
    if isinstance(fault.body, str):
        return Reply(status, fault.body.encode(), "text/plain; charset=utf-8", headers)
    if fault.body is not None:
        return Reply(status, orjson.dumps(fault.body), headers=headers)
    if shape is not None:
        made = shape(status, f"scripted {status}", kind="scripted")
        return replace(made, headers=headers)
    error = {"message": f"scripted {status}", "type": "scripted", "code": status}
    return Reply.json(status, {"error": error}, headers)


def retry_after(seconds: float, *, as_date: bool) -> str:
    """Write the value of a ``Retry-After`` header."""
    if as_date:
        # An HTTP date has whole seconds; rounding down would ask for less than wanted.
        then = datetime.now(UTC).timestamp() + seconds
        moment = datetime.fromtimestamp(0, UTC) + timedelta(seconds=math.ceil(then))
        return format_datetime(moment, usegmt=True)
    return str(int(seconds)) if seconds == int(seconds) else str(seconds)
