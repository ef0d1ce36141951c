"""Who may send now: a semaphore whose size is found while it is used."""

from __future__ import annotations

import asyncio
from collections import deque

from synthnb.engine.adaptive import AdaptiveLimit


class Slots:
    """Lets as many in as the limit says, in the order in which they came.

    Belongs to one loop. Whoever entered tells the limit how it went (``answered``,
    ``refused``, ``failed`` or ``dropped``) and then calls ``left``.

    Attributes:
        limit: what is told and asked.
    """

    def __init__(self, limit: AdaptiveLimit) -> None:
        """Share the limit of one endpoint."""
        self.limit = limit
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def enter(self) -> None:
        """Return when a request may be sent; it counts as in flight from then on."""
        limit = self.limit
        if not self._waiting and limit.in_flight < limit.limit:
            limit.sent()
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except BaseException:
            if turn.done() and not turn.cancelled():
                # Its turn had come in the very moment in which it was given up.
                limit.dropped()
                self.left()
            raise

    def left(self) -> None:
        """Let those in for whom there is room now; also after the limit has changed."""
        limit = self.limit
        while self._waiting and limit.in_flight < limit.limit:
            turn = self._waiting.popleft()
            if not turn.done():
                # Counted now, not when it wakes: many answers may come in one turn of
                # the loop, and none of them may see the same room as free.
                limit.sent()
                turn.set_result(None)
