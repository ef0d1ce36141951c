"""Token counts by the server's own tokenizer, where it offers one.

vLLM and SGLang count a chat with its template; llama.cpp counts a text, to which the
template adds some tokens a message.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import orjson

from synthnb.errors import ProviderError
from synthnb.providers.answers import Answer, Transport
from synthnb.records import Message

_OK = 200
_TEMPLATE_TOKENS = 4
"""What a usual chat template adds to each message."""


async def count_tokens(
    transport: Transport, root: str, model: str, messages: Sequence[Message]
) -> int | None:
    """Return the prompt tokens of a chat; ``None`` where the server does not count.

    Args:
        transport: to the server.
        root: its address without ``/v1``.
        model: the model's id.
        messages: the chat.
    """
    chat = [{"role": m.role, "content": m.content} for m in messages]
    found = await _ask(transport, root, {"model": model, "messages": chat})
    if found is not None:
        return found
    text = "\n".join(m.content for m in messages)
    found = await _ask(transport, root, {"content": text})
    return None if found is None else found + _TEMPLATE_TOKENS * len(messages)


async def _ask(transport: Transport, root: str, body: dict[str, Any]) -> int | None:
    try:
        answer = await transport.post_to(f"{root}/tokenize", orjson.dumps(body))
    except (ProviderError, TypeError):  # TypeError: a lone surrogate
        return None
    return _count(answer) if answer.status == _OK else None


def _count(answer: Answer) -> int | None:
    try:
        value = json.loads(answer.text())
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    count, tokens = value.get("count"), value.get("tokens")
    if isinstance(count, int) and count > 0:
        return count
    # llama.cpp takes a chat for an empty text and finds no tokens in it.
    return len(tokens) if isinstance(tokens, list) and tokens else None
