"""Plans a request to fit the context, before it is sent.

Budget = context - answer - template. It costs next to nothing where it can: most prompts
are so short, measured by what answers told of tokens a character, that no question
arises, and some are so long that nothing needs to be asked. Only in between is the
server's own tokenizer asked, once for each prompt; where there is none, the server
decides.

An answer that does not fit behind its prompt is shortened to the room that is left, down
to a quarter of what was asked for (``max_tokens_lowered`` in the row's provenance).
Below that the request is refused: such an answer would mostly be cut off.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import replace

from synthnb.errors import ContextError
from synthnb.providers.dialect import Dialect
from synthnb.providers.tokenize import Count
from synthnb.records import Request

LOWERED = "max_tokens_lowered"
"""Mark in ``Completion.adapted``."""
_MOST_CHARS = 10
"""Characters that a token never has on average in a text; long words have six or seven.
Runs of one character can have more, so they are taken out first."""
_REPEATED = re.compile(r"(.{1,4}?)\1{3,}", re.DOTALL)
_FIRST_RATE = 1.0
"""Tokens a character before the first answer: more than in any alphabet."""
_MARGIN = 1.25
"""On the densest prompt that was seen."""
_TELLING = 400
"""Characters from which on a prompt's tokens tell of the text, not of the template."""
_TEMPLATE = 64
_GUESS_SLACK = 32
"""Tokens that a guessed template may be short of."""
_LEAST_SHARE = 4

Counter = Callable[[Request], Awaitable[Count | None]]


def characters(request: Request) -> int:
    """Return the characters of a request's messages."""
    total = 0
    for message in request.messages:
        total += len(message.content)
    return total


class Planner:
    """Plans the requests of one client."""

    __slots__ = ("_densest", "_dialect", "_rate")

    def __init__(self, dialect: Dialect) -> None:
        """Plan by what the dialect knows of the context, now and later."""
        self._dialect = dialect
        self._rate = _FIRST_RATE
        self._densest = 0.0

    def fits(self, chars: int, request: Request) -> bool:
        """Tell whether there is no doubt that a request fits."""
        context = self._dialect.context
        if context is None:
            return True
        wanted = request.sampling.max_tokens or 0
        return chars * self._rate + _TEMPLATE + wanted <= context

    def saw(self, chars: int, tokens: int) -> None:
        """Learn from an answer how many tokens a prompt of so many characters has."""
        if chars >= _TELLING and tokens > chars * self._densest:
            self._densest = tokens / chars
        if self._densest:
            self._rate = self._densest * _MARGIN

    async def plan(self, request: Request, count: Counter | None) -> Request:
        """Return the request as it may be sent: perhaps with a lower ``max_tokens``.

        Args:
            request: what is wanted.
            count: the server's tokenizer, where it may have one.

        Raises:
            ContextError: it cannot fit; ``sent`` is false.
        """
        dialect = self._dialect
        context = dialect.context
        if context is None or not dialect.is_context_sure:
            # A size that an earlier kernel learned refuses nothing by itself.
            return request
        wanted = request.sampling.max_tokens or 0
        if _fewest_tokens(request, context) >= context:
            raise _too_long(request, context, None)
        found = None if count is None else await count(request)
        if found is None:
            return request
        slack = 0 if found.is_exact else _GUESS_SLACK
        room = context - found.tokens - slack
        if room <= 0:
            if room > -2 * slack:  # only the guess stands against it
                return request
            raise _too_long(request, context, found.tokens)
        if wanted <= room:
            return request
        shorter = shortened(request, room)
        if shorter is None:
            raise _too_long(request, context, found.tokens)
        return shorter


def shortened(request: Request, room: int) -> Request | None:
    """Return the request with a ``max_tokens`` that fits the room, if that is enough.

    Args:
        request: what is wanted.
        room: tokens that the prompt leaves for the answer.
    """
    wanted = request.sampling.max_tokens
    if wanted is None or not wanted > room > 0 or room * _LEAST_SHARE < wanted:
        return None
    return replace(request, sampling=replace(request.sampling, max_tokens=room))


def _fewest_tokens(request: Request, context: int) -> int:
    if characters(request) // _MOST_CHARS < context:
        return 0  # not so long that it is worth a closer look
    dense = sum(len(_REPEATED.sub(r"\1", m.content)) for m in request.messages)
    return dense // _MOST_CHARS


def _too_long(request: Request, context: int, tokens: int | None) -> ContextError:
    wanted = request.sampling.max_tokens
    size = f"{characters(request):,} characters"
    if tokens is not None:
        size = f"{tokens:,} tokens"
    answer = f" and an answer of up to {wanted:,}" if wanted else ""
    error = ContextError(
        f"a prompt of {size}{answer} does not fit the context of {context:,} tokens; "
        "it was not sent",
        hint="use smaller chunks, a smaller max_tokens, or a server with more context",
    )
    error.limit, error.prompt_tokens, error.sent = context, tokens, False
    return error
