"""A ``Request`` as the JSON body of a chat call, in a server's dialect."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import orjson

from synthnb.providers.forms import Form, Structured
from synthnb.providers.plain_schema import plain_schema
from synthnb.providers.schema_prompt import instruction
from synthnb.records import JsonSchema, Request

_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_MOST_FORMATS = 32
_JSON_OBJECT = {"type": "json_object"}


class Encoder:
    """Writes the requests of one client down.

    What many requests share is written once: a schema is turned into text the first time
    that it is sent.
    """

    __slots__ = ("_formats", "_model")

    def __init__(self, model: str) -> None:
        """Write for a model.

        Args:
            model: its id.
        """
        self._model = model
        # The schema is kept beside its text: its id stays its own as long as it lives.
        self._formats: dict[
            tuple[int, str, bool], tuple[JsonSchema, orjson.Fragment]
        ] = {}

    def __call__(self, request: Request, form: Form) -> tuple[bytes, bool]:
        """Return the JSON body, and whether lone surrogates had to be replaced in it.

        It holds only fields that are wanted, so strict servers take it.
        """
        body: dict[str, Any] = {
            "model": self._model,
            "messages": messages_of(request, form),
        }
        sampling = request.sampling
        dropped = form.dropped
        if sampling.max_tokens is not None:
            name = "max_completion_tokens" if form.completion_limit else "max_tokens"
            body[name] = sampling.max_tokens
        if sampling.temperature is not None and "temperature" not in dropped:
            body["temperature"] = sampling.temperature
        if sampling.top_p is not None and "top_p" not in dropped:
            body["top_p"] = sampling.top_p
        if sampling.seed is not None and "seed" not in dropped:
            body["seed"] = sampling.seed
        if sampling.stop and "stop" not in dropped:
            body["stop"] = sampling.stop
        has_format = (
            request.schema is not None and form.structured is not Structured.PROMPT_ONLY
        )
        try:
            if has_format:
                body["response_format"] = self._format(request, form)
            return orjson.dumps(body), False
        except TypeError:
            # A lone surrogate, an integer over 64 bits: rare, so tried second.
            if has_format:
                body["response_format"] = _response_format(request, form)
            return _written_laxly(body)

    def _format(self, request: Request, form: Form) -> Any:
        if form.structured is Structured.JSON_OBJECT:
            return _JSON_OBJECT
        assert request.schema is not None
        mark = id(request.schema), request.schema_name, form.plain_schema
        kept = self._formats.get(mark)
        if kept is None:
            text = orjson.dumps(_response_format(request, form))
            if len(self._formats) >= _MOST_FORMATS:
                self._formats.clear()
            kept = self._formats[mark] = request.schema, orjson.Fragment(text)
        return kept[1]


def encode(request: Request, model: str, form: Form) -> tuple[bytes, bool]:
    """Return what ``Encoder`` makes of one request."""
    return Encoder(model)(request, form)


def _written_laxly(body: dict[str, Any]) -> tuple[bytes, bool]:
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), default=str)
    # A pair of them is the character that it means, as in the ledger.
    clean = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return clean.encode(), clean != text


def messages_of(request: Request, form: Form) -> list[dict[str, str]]:
    """Return the chat as it is sent in this form."""
    messages = [{"role": m.role, "content": m.content} for m in request.messages]
    if form.fold_system:
        messages = _folded(messages)
    if request.schema is not None and form.structured:
        _append(messages, instruction(request.schema))
    return messages


def _folded(messages: list[dict[str, str]]) -> list[dict[str, str]]:
    system = "\n\n".join(m["content"] for m in messages if m["role"] == "system")
    others = [m for m in messages if m["role"] != "system"]
    if not system:
        return others
    if others and others[0]["role"] == "user":
        first = {"role": "user", "content": f"{system}\n\n{others[0]['content']}"}
        return [first, *others[1:]]
    return [{"role": "user", "content": system}, *others]


def _append(messages: list[dict[str, str]], text: str) -> None:
    for message in reversed(messages):
        if message["role"] == "user":
            message["content"] = f"{message['content']}\n\n{text}"
            return
    messages.append({"role": "user", "content": text})


def _response_format(request: Request, form: Form) -> dict[str, Any]:
    if form.structured is Structured.JSON_OBJECT:
        return _JSON_OBJECT
    assert request.schema is not None
    name = _NAME.sub("_", request.schema_name)[:64] or "answer"
    schema = plain_schema(request.schema) if form.plain_schema else request.schema
    described: dict[str, Any] = {"name": name, "schema": schema}
    if _is_strict(schema):
        described["strict"] = True
    return {"type": "json_schema", "json_schema": described}


def _is_strict(schema: JsonSchema) -> bool:
    """Tell whether each object is closed and wants all it has (OpenAI's strict mode)."""
    stack: list[Any] = [schema]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack += node
        if not isinstance(node, Mapping):
            continue
        properties = node.get("properties")
        if node.get("type") == "object" or isinstance(properties, Mapping):
            names = set(properties) if isinstance(properties, Mapping) else set()
            closed = node.get("additionalProperties") is False
            if not closed or names != set(node.get("required", ())):
                return False
        children = [
            v for k, v in node.items() if k not in {"enum", "const", "required"}
        ]
        stack += children
    return True
