"""The bodies of error answers, in each shape that servers use.

At least six shapes of body are in use: ``{"error": {...}}``, ``{"error": "text"}``, a
string that holds JSON, ``{"object": "error", ...}`` at the top, FastAPI's ``{"detail":
...}`` (text or a list), and HTML or plain text from something in between.
"""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass, replace
from typing import Any

from synthnb.providers.answers import Answer

_READ = 8_000
_PAGE = 4_000
_CONTEXT = re.compile(
    r"should not exceed max_(?:num_tokens|seq_len)|"
    r"context_length_exceeded|exceed_context_size|maximum context length|"
    r"context (?:length|size|window)|maximum model length|max_model_len|"
    r"prompt (?:is )?too long|input (?:is )?too (?:long|large)|too many (?:input )?tokens|"
    r"input tokens.{0,40}exceed|reduce the length of the (?:messages|prompt)|"
    r"maximum (?:prompt|allowed|input) length|max_(?:seq_len|num_tokens)\b|"
    r"(?:input|prompt) token count .{0,40}exceed|too many tokens|"
    r"`inputs` (?:tokens|must have)",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"model_not_found|model[^.]{0,120}(?:does not exist|not found|not exist|"
    r"not a valid model|unknown|is not available)|not a valid model|invalid model|"
    r"unknown model|no such model|model is not supported",
    re.IGNORECASE,
)
_REFUSES = re.compile(
    r"unsupported|not (?:support|permit|allow|accept)|unknown|unrecognized|"
    r"unexpected|extra input|does ?n[o']t support|invalid param|only the default|"
    r"is not available|must be",
    re.IGNORECASE,
)
_LOADING = re.compile(r"\bloading\b|not ready|starting up|warming up", re.IGNORECASE)
_NO_CREDIT = re.compile(
    r"insufficient_quota|insufficient (?:balance|credit|fund)|billing|out of credits",
    re.IGNORECASE,
)
_MODERATED = re.compile(
    r"moderation|flagged|content[ _]?(?:filter|polic)", re.IGNORECASE
)
_REFUSAL_CODES = {"unsupported_parameter", "unsupported_value", "extra_forbidden"}


@dataclass(frozen=True, slots=True)
class Failure:
    """What an error answer says, whatever its shape."""

    status: int
    message: str
    code: str = ""
    param: str = ""
    is_html: bool = False

    @property
    def is_context(self) -> bool:
        """Whether prompt and answer did not fit the context."""
        return self._says(_CONTEXT)

    @property
    def is_loading(self) -> bool:
        """Whether the server has not finished loading its model."""
        return self._says(_LOADING)

    @property
    def is_unknown_model(self) -> bool:
        """Whether the server does not know the model's id."""
        return self._says(_NO_MODEL)

    @property
    def is_no_credit(self) -> bool:
        """Whether the account has run out of money."""
        return self._says(_NO_CREDIT)

    @property
    def is_moderation(self) -> bool:
        """Whether the server's moderation refused the prompt, not the key."""
        return self._says(_MODERATED)

    @property
    def refuses_parameter(self) -> bool:
        """Whether it is about a parameter that the server or model does not take."""
        return self.code in _REFUSAL_CODES or _REFUSES.search(self.message) is not None

    def _says(self, pattern: re.Pattern[str]) -> bool:
        return pattern.search(f"{self.code} {self.message}") is not None


def read_failure(answer: Answer) -> Failure:
    """Return what an error answer says."""
    whole = answer.text().strip()
    value = _json_or_none(whole)
    if value is not None:
        found = _read_value(answer.status, value)
        return replace(found, message=found.message[:_READ])
    text = whole[:_READ]
    is_html = text[:200].lower().startswith(("<!doctype", "<html", "<head"))
    return Failure(answer.status, _plain(text) if is_html else text, is_html=is_html)


def _read_value(status: int, value: Any) -> Failure:
    if isinstance(value, str):
        inner = _json_or_none(value)
        return (
            _read_value(status, inner) if inner is not None else Failure(status, value)
        )
    if not isinstance(value, dict):
        return Failure(status, json.dumps(value, ensure_ascii=False)[:_READ])
    if value.get("error"):
        return _read_error(status, value["error"], value)
    if value.get("detail"):
        return _read_detail(status, value["detail"])
    return _read_error(status, value, value)


def _read_error(status: int, error: Any, whole: dict[str, Any]) -> Failure:
    if isinstance(error, str):
        inner = _json_or_none(error)
        if isinstance(inner, dict):
            return _read_value(status, inner)
        more = whole.get("message")
        text = f"{error}: {more}" if isinstance(more, str) and more != error else error
        return Failure(status, text, _text(whole.get("code")))
    if not isinstance(error, dict):
        return Failure(status, json.dumps(error, ensure_ascii=False)[:_READ])
    message = error.get("message") or error.get("msg") or error.get("error")
    if not isinstance(message, str):
        message = json.dumps(message or error, ensure_ascii=False)
    code = " ".join(filter(None, (_text(error.get("code")), _text(error.get("type")))))
    codes = code.split()
    named = next((c for c in codes if c in _REFUSAL_CODES), code)
    return Failure(status, message[:_READ], named, _text(error.get("param")))


def _read_detail(status: int, detail: Any) -> Failure:
    if isinstance(detail, dict):
        return _read_value(status, {"error": detail})
    if not isinstance(detail, list):
        return Failure(status, str(detail)[:_READ])
    texts, code, param = [], "", ""
    for item in detail:
        if not isinstance(item, dict):
            texts.append(str(item))
            continue
        raw = item.get("loc")
        place = [str(p) for p in raw if p != "body"] if isinstance(raw, list) else []
        param, code = param or ".".join(place), code or _text(item.get("type"))
        texts.append(f"{'.'.join(place)}: {_text(item.get('msg'))}".strip(": "))
    return Failure(status, "; ".join(texts)[:_READ], code, param)


def _plain(page: str) -> str:
    body = re.sub(r"(?is)<(script|style)\b.{0,2000}?</\1>", " ", page[:_PAGE])
    return html.unescape(re.sub(r"<[^<>]*>", " ", body)).replace("<", "‹")


def _json_or_none(text: str) -> Any:
    if text[:1] not in {"{", "[", '"'}:
        return None
    try:
        return json.loads(text)
    except ValueError:
        return None
    except RecursionError:
        return None


def _text(value: Any) -> str:
    return "" if value is None else str(value)
