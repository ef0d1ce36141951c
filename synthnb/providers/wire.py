"""A ``Request`` as the JSON body of a chat call, in a server's dialect."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import orjson

from synthnb.providers.dialect import Form, Structured
from synthnb.providers.plain_schema import plain_schema
from synthnb.providers.schema_prompt import instruction
from synthnb.records import JsonSchema, Request

_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_SURROGATE = re.compile("[\ud800-\udfff]")


def encode(request: Request, model: str, form: Form) -> tuple[bytes, bool]:
    """Return the JSON body, and whether lone surrogates had to be replaced in it.

    It holds only fields that are wanted, so strict servers take it.
    """
    body: dict[str, Any] = {"model": model, "messages": _messages(request, form)}
    sampling = request.sampling
    if sampling.max_tokens is not None:
        name = "max_completion_tokens" if form.completion_limit else "max_tokens"
        body[name] = sampling.max_tokens
    for name in ("temperature", "top_p", "seed"):
        value = getattr(sampling, name)
        if value is not None and name not in form.dropped:
            body[name] = value
    if sampling.stop and "stop" not in form.dropped:
        body["stop"] = sampling.stop
    if request.schema is not None and form.structured is not Structured.PROMPT_ONLY:
        body["response_format"] = _response_format(request, form)
    try:
        return orjson.dumps(body), False
    except (
        TypeError
    ):  # a lone surrogate, an integer over 64 bits: rare, so tried second
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), default=str)
        clean = _SURROGATE.sub("\ufffd", text)
        return clean.encode(), clean != text


def _messages(request: Request, form: Form) -> list[dict[str, str]]:
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
        return {"type": "json_object"}
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
