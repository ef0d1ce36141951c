"""Token counts by the server's own tokenizer, where it offers one.

Four ways, tried once in this order: vLLM counts a chat with its template; llama.cpp
applies the template on one path and counts on another; SGLang and llama.cpp's older
versions count a text, to which the template adds some tokens a message.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import orjson

from synthnb.errors import ProviderError
from synthnb.providers.answers import Answer, Transport

Chat: TypeAlias = Sequence[Mapping[str, str]]
_OK = 200
_PASSING = frozenset({408, 429, 500, 502, 503, 504})
"""These say nothing about what the server can do."""
_ABSENT = frozenset({404, 405, 501})
_TEMPLATE_TOKENS = 4
"""What a usual chat template adds to each message."""
_MOST_KEPT = 512


class Count(NamedTuple):
    """The tokens of a prompt.

    Attributes:
        tokens: of the chat with its template.
        is_exact: whether the template was counted, not guessed.
        context: the model's, where the answer names it.
    """

    tokens: int
    is_exact: bool
    context: int | None = None


class _PassingError(Exception):
    """The server did not answer this time."""


class _AbsentError(Exception):
    """There is no such path: no other body will help."""


class Tokenizer:
    """Counts chats; learns once which way the server understands.

    Counts are kept, for many answers may be wanted to one prompt.
    """

    def __init__(self, transport: Transport, root: str, model: str) -> None:
        """Prepare; nothing is asked yet.

        Args:
            transport: to the server.
            root: its address without ``/v1``.
            model: the model's id.
        """
        self._transport = transport
        self._root = root
        self._model = model
        self._ways: list[Callable[[Chat], Awaitable[Count | None]]] = [
            self._of_chat,
            self._of_template,
            self._of_prompt,
            self._of_content,
        ]
        self._is_settled = False
        self._kept: dict[int, Count] = {}

    @property
    def exists(self) -> bool | None:
        """Whether the server counts; ``None`` until it was asked."""
        return self._is_settled if self._is_settled or not self._ways else None

    async def count(self, chat: Chat) -> Count | None:
        """Return the tokens of a chat; ``None`` where the server does not count them."""
        mark = hash(tuple((m["role"], m["content"]) for m in chat))
        kept = self._kept.get(mark)
        if kept is not None:
            return kept
        found = await self._ask_all(chat)
        if found is not None:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            self._kept[mark] = found
        return found

    async def _ask_all(self, chat: Chat) -> Count | None:
        try:
            for way in list(self._ways):
                found = await way(chat)
                if found is not None:
                    # Several tasks may learn at once: all come to the same.
                    self._ways, self._is_settled = [way], True
                    return found
        except _PassingError:
            return None
        except _AbsentError:
            pass
        if not self._is_settled:
            self._ways = []
        return None

    async def _of_chat(self, chat: Chat) -> Count | None:
        value = await self._ask({"model": self._model, "messages": chat})
        return _counted(value, is_exact=True)

    async def _of_template(self, chat: Chat) -> Count | None:
        try:
            value = await self._ask({"messages": chat}, "/apply-template")
        except _AbsentError:
            return None
        prompt = value.get("prompt")
        if not isinstance(prompt, str) or not prompt:
            return None
        body = {"content": prompt, "add_special": True, "parse_special": True}
        return _counted(await self._ask(body), is_exact=True)

    async def _of_prompt(self, chat: Chat) -> Count | None:
        value = await self._ask({"model": self._model, "prompt": _text(chat)})
        return _counted(value, messages=len(chat))

    async def _of_content(self, chat: Chat) -> Count | None:
        return _counted(await self._ask({"content": _text(chat)}), messages=len(chat))

    async def _ask(
        self, body: dict[str, Any], path: str = "/tokenize"
    ) -> dict[str, Any]:
        try:
            answer = await self._transport.post_to(
                f"{self._root}{path}", orjson.dumps(body)
            )
        except (ProviderError, TypeError):  # TypeError: a lone surrogate
            raise _PassingError from None
        if answer.status in _PASSING:
            raise _PassingError
        if answer.status in _ABSENT:
            raise _AbsentError
        return _object(answer) if answer.status == _OK else {}


def _text(chat: Chat) -> str:
    return "\n".join(message["content"] for message in chat)


def _object(answer: Answer) -> dict[str, Any]:
    try:
        value = json.loads(answer.text())
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _counted(
    value: dict[str, Any], *, is_exact: bool = False, messages: int = 0
) -> Count | None:
    count, tokens, context = (
        value.get(name) for name in ("count", "tokens", "max_model_len")
    )
    # llama.cpp takes a chat for an empty text and finds no tokens in it.
    if not isinstance(count, int):
        count = len(tokens) if isinstance(tokens, list) else 0
    if count <= 0:
        return None
    known = context if isinstance(context, int) and context > 0 else None
    return Count(count + _TEMPLATE_TOKENS * messages, is_exact, known)
