"""A server's 200 answer as a ``Completion``; what is none becomes a typed error."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import orjson

from synthnb.errors import ProviderError, ServerError
from synthnb.providers.answers import Answer
from synthnb.providers.dialect import INLINE, REASONING_FIELDS
from synthnb.providers.failures import error_for, excerpt
from synthnb.providers.forms import Form
from synthnb.providers.reasoning import separate
from synthnb.providers.redaction import Redactor
from synthnb.records import Completion, Request, Usage

CUT = "prompt_cut_by_server"
"""Mark in ``Completion.adapted``: the server read a part of the prompt only."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_MOST_TOKENS = 100_000_000
_CUT_RATIO = 6.5
"""More characters than this for each prompt token: a part of the prompt was not read."""
_CUT_LEAST = 1_000
_CONTEXT_STEP = 1_024
"""Contexts are multiples of it; a server that cuts fills its context to the brim."""
_CONTEXT_SLACK = 8
_WRONG_FIELD = "answer_from_reasoning"
_NO_USAGE = Usage()


def decode(
    answer: Answer,
    request: Request,
    form: Form,
    redactor: Redactor,
    *,
    replaced: bool = False,
    context: int | None = None,
) -> Completion:
    """Return the completion in a 200 answer.

    Args:
        answer: the server's answer.
        request: what was asked; decides whether JSON may stand in the reasoning.
        form: how it was sent; what it changed is noted in ``adapted``.
        redactor: passes each text that goes into an error.
        replaced: whether lone surrogates were replaced in what was sent.
        context: tokens of the server's context, where known; a prompt that was cut is
            then told for sure.

    Raises:
        ProviderError: the answer is no chat completion; an error in a 200 answer is
            typed like one with its own status.
    """
    data, also_replaced = _load(answer, redactor)
    choice = _first_choice(data, answer, redactor)
    message = choice.get("message")
    if not isinstance(message, dict):
        message = {"content": choice.get("text")}
    text, reasoning = separate(_content(message), message)
    adapted = form.adapted(request)
    if replaced or also_replaced:
        adapted = (*adapted, "surrogates_replaced")
    finish_reason = _string(choice.get("finish_reason"))
    if not text and isinstance(message.get("refusal"), str):
        text, finish_reason = message["refusal"], "refusal"
    elif not text and reasoning and request.schema is not None and _is_json(reasoning):
        text, reasoning = reasoning, None
        adapted = (*adapted, _WRONG_FIELD)
    usage = _usage(data.get("usage"), text, reasoning)
    if _was_cut(request, usage, data, context):
        adapted = (*adapted, CUT)
    return Completion(
        text,
        reasoning,
        finish_reason,
        usage,
        _string(data.get("model")),
        _string(data.get("id")),
        adapted,
    )


def reasoning_place(answer: Answer) -> str:
    """Return where the reasoning of a 200 answer stands: a field's name, or "inline"."""
    try:
        message = orjson.loads(answer.body)["choices"][0]["message"]
    except (ValueError, LookupError, TypeError):
        return INLINE
    if not isinstance(message, dict):
        return INLINE
    given = (n for n in REASONING_FIELDS if isinstance(message.get(n), str))
    return next((name for name in given if message[name].strip()), INLINE)


def full_context(prompt_tokens: int, completion_tokens: int) -> int | None:
    """Return the usual size of context that an answer filled to the brim, if it did."""
    for tokens in (prompt_tokens, prompt_tokens + completion_tokens):
        if tokens >= _CUT_LEAST and _fills(tokens):
            return -(-tokens // _CONTEXT_STEP) * _CONTEXT_STEP
    return None


def _load(answer: Answer, redactor: Redactor) -> tuple[dict[str, Any], bool]:
    replaced = False
    try:
        data: Any = orjson.loads(answer.body)
    except ValueError:  # invalid UTF-8 or a lone surrogate: json is laxer
        text = answer.text()
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            raise _unreadable(text, answer.status, redactor) from None
        data, replaced = _without_surrogates(data), True
    if not isinstance(data, dict):
        raise _unreadable(answer.text(), answer.status, redactor)
    return data, replaced


def _without_surrogates(data: Any) -> Any:
    text = json.dumps(data, ensure_ascii=False)
    return json.loads(_SURROGATE.sub("\ufffd", text))


def _unreadable(text: str, status: int, redactor: Redactor) -> ServerError:
    what = excerpt(text, redactor)
    if not text.strip():
        message = "the server's answer is empty"
    elif text.lstrip()[:1] == "<":
        message = f"the server answered with a page instead of JSON: {what}"
    else:
        message = f"the server's answer is no chat completion: {what}"
    return ServerError(
        message,
        hint="is this the base URL of an OpenAI-compatible API (…/v1)? try provider.check()",
        http_status=status,
    )


def _first_choice(
    data: dict[str, Any], answer: Answer, redactor: Redactor
) -> dict[str, Any]:
    choices = data.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        return choices[0]
    if data.get("error") or data.get("object") == "error" or data.get("detail"):
        raise _hidden_error(data, answer, redactor)
    raise _unreadable(answer.text(), answer.status, redactor)


def _hidden_error(
    data: dict[str, Any], answer: Answer, redactor: Redactor
) -> ProviderError:
    error = data.get("error")
    code = error.get("code") if isinstance(error, dict) else data.get("code")
    text = str(code)
    status = int(text) if text.isdecimal() else 0
    if not 400 <= status < 600:  # noqa: PLR2004 - HTTP's error classes
        status = 502
    found = error_for(answer._replace(status=status), redactor)
    found.http_status = answer.status
    return found


def _content(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = (p.get("text") for p in content if isinstance(p, dict))
        return "".join(p for p in parts if isinstance(p, str))
    return ""


def _is_json(text: str) -> bool:
    try:
        return isinstance(orjson.loads(text), dict | list)
    except ValueError:
        return False


def _usage(usage: Any, text: str, reasoning: str | None) -> Usage:
    if not isinstance(usage, dict):
        return _NO_USAGE
    prompt, answer = usage.get("prompt_tokens"), usage.get("completion_tokens")
    # The ordinary answer; what is odd is looked at below.
    if (
        type(prompt) is int
        and type(answer) is int
        and 0 < prompt < _MOST_TOKENS
        and 0 < answer < _MOST_TOKENS
    ):
        return Usage(prompt, answer)
    wrote = bool(text or reasoning)
    return Usage(
        _count(usage.get("prompt_tokens"), least=1),
        _count(usage.get("completion_tokens"), least=1 if wrote else 0),
    )


def _count(value: Any, *, least: int) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not least <= value <= _MOST_TOKENS:  # NaN and infinity fail here too
        return None
    return int(value)


def _was_cut(
    request: Request, usage: Usage, data: Mapping[str, Any], context: int | None
) -> bool:
    """Tell whether the server cut the prompt.

    Where the context's size is known: the prompt alone fills it, which leaves no room for
    the answer that was asked for. Else: far too few tokens, and the size of a usual
    context. A good answer must not be lost to this. So few tokens alone prove nothing: a
    server may count only those that its prefix cache did not hold.
    """
    tokens = usage.prompt_tokens
    if tokens is None:
        return False
    if context is not None and context - _CONTEXT_SLACK <= tokens <= context:
        wanted = request.sampling.max_tokens
        if wanted is None or tokens + wanted > context:
            return True
    if tokens < _CUT_LEAST:
        return False
    if not (_fills(tokens) or _fills(tokens + (usage.completion_tokens or 0))):
        return False
    read = tokens + _cached(data)
    if sum(len(m.content) for m in request.messages) < _CUT_RATIO * read:
        return False
    # Long runs of the same few characters make few tokens: they are no sign of a cut.
    dense = sum(
        len(re.sub(r"(.{1,4}?)\1{3,}", r"\1", m.content, flags=re.DOTALL))
        for m in request.messages
    )
    return dense > _CUT_RATIO * read


def _fills(tokens: int) -> bool:
    """Tell whether a count lies at, or just below, the size of a usual context."""
    return -tokens % _CONTEXT_STEP <= _CONTEXT_SLACK


def _cached(data: Mapping[str, Any]) -> int:
    """Return the tokens from a cache that a server tells apart; they may count twice."""
    usage, timings = data.get("usage"), data.get("timings")
    usage = usage if isinstance(usage, dict) else {}
    details = usage.get("prompt_tokens_details")
    told = (
        details.get("cached_tokens") if isinstance(details, dict) else None,
        usage.get("cache_read_input_tokens"),
        usage.get("prompt_cache_hit_tokens"),
        timings.get("cache_n") if isinstance(timings, dict) else None,
    )
    return max((_count(value, least=0) or 0 for value in told), default=0)


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) else None
