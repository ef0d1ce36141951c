"""Who may send now: a semaphore whose size is found while it is used."""

from __future__ import annotations

import asyncio
from collections import deque

from synthnb.engine.adaptive import AdaptiveLimit


class Slots:
    """Lets as many in as the limit says, in the order in which they came.

    Belongs to one loop. Whoever entered tells the limit how it went (``answered``,
    ``refused``, ``failed`` or ``dropped``) and then calls ``left``.
    """

    def __init__(self, limit: AdaptiveLimit) -> None:
        """Share the limit of one endpoint."""
        self.limit = limit
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._promised = 0

    async def enter(self) -> None:
        """Return when a request may be sent; it counts as in flight from then on."""
        limit = self.limit
        if not self._waiting and limit.in_flight + self._promised < limit.limit:
            limit.sent()
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except BaseException:
            if turn.done() and not turn.cancelled():
                # Its turn had come in the very moment in which it was given up.
                self._promised -= 1
                self.left()
            raise
        self._promised -= 1
        limit.sent()

    def left(self) -> None:
        """Let those in for whom there is room now; also after the limit has changed."""
        limit = self.limit
        while self._waiting and limit.in_flight + self._promised < limit.limit:
            turn = self._waiting.popleft()
            if not turn.done():
                self._promised += 1
                turn.set_result(None)
