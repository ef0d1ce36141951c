"""The requests that a server holds: those that run, those that wait, and its batch."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import math

from synthnb.testing.capacity import Capacity


class Load:
    """The places of one server, given in order of arrival.

    Attributes:
        capacity: the present limit; ``None`` has no limit.
        running: requests that have a place.
        max_running: the most at once.
        max_waiting: the most that waited at once.
    """

    def __init__(self, capacity: Capacity | None = None) -> None:
        self._capacity = capacity
        self._waiters: dict[asyncio.Future[bool], None] = {}
        self.running = 0
        self.max_running = 0
        self.max_waiting = 0

    @property
    def waiting(self) -> int:
        """Requests without a place so far."""
        return len(self._waiters)

    @property
    def capacity(self) -> Capacity | None:
        """The limit; may be changed while requests run and wait."""
        return self._capacity

    @capacity.setter
    def capacity(self, capacity: Capacity | None) -> None:
        self._capacity = capacity
        self._admit()

    @property
    def is_full(self) -> bool:
        """Whether a request that comes now is refused."""
        capacity = self._capacity
        if capacity is None or not self._is_taken():
            return False
        if capacity.kind == "refuse":
            return True
        return capacity.max_waiting is not None and self.waiting >= capacity.max_waiting

    @property
    def fullness(self) -> float:
        """The share of the places in use, from 0 to 1."""
        limit = self._capacity.limit if self._capacity else 256
        return min(1.0, self.running / limit)

    async def enter(self, gone: asyncio.Future[None]) -> bool:
        """Wait for a place. False if the client left before; then it has none."""
        if not self._is_taken() and not self._waiters:
            self._take()
            return True
        waiter: asyncio.Future[bool] = gone.get_loop().create_future()

        def leave(_: object) -> None:
            if self._waiters.pop(waiter, 0) is None and not waiter.done():
                waiter.set_result(False)

        self._waiters[waiter] = None
        self.max_waiting = max(self.max_waiting, self.waiting)
        gone.add_done_callback(leave)
        try:
            return await waiter
        except asyncio.CancelledError:
            self._waiters.pop(waiter, None)
            if not waiter.cancelled() and waiter.done() and waiter.result():
                self.leave()
            raise
        finally:
            gone.remove_done_callback(leave)

    def leave(self) -> None:
        """Give the place to the next that waits."""
        self.running -= 1
        self._admit()

    def _is_taken(self) -> bool:
        capacity = self._capacity
        if capacity is None or capacity.kind == "rate":
            return False
        return self.running >= capacity.limit

    def _take(self) -> None:
        self.running += 1
        self.max_running = max(self.max_running, self.running)

    def _admit(self) -> None:
        while self._waiters and not self._is_taken():
            waiter = next(iter(self._waiters))
            del self._waiters[waiter]
            if not waiter.done():  # else its task was cancelled just now
                self._take()
                waiter.set_result(True)


class Batch:
    """Answers that are written together, one token of each in a step.

    All running answers advance at one pace that depends on how many they are, so the
    end of each is known in steps, and only the pace changes (generalised processor
    sharing). One timer, for the answer that ends next, is enough for any number.

    Args:
        loop: gives the time and the timer.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._ends: list[tuple[float, int, asyncio.Future[None]]] = []
        self._count = itertools.count()
        self._steps = 0.0
        self._at = loop.time()
        self._pace = math.inf
        self._timer: asyncio.TimerHandle | None = None

    async def write(
        self, tokens: int, capacity: Capacity, gone: asyncio.Future[None]
    ) -> None:
        """Return when so many tokens are written, or the client has left."""
        done: asyncio.Future[None] = self.loop.create_future()

        def leave(_: object) -> None:
            if not done.done():
                done.set_result(None)

        self._advance()
        entry = (self._steps + tokens, next(self._count), done)
        heapq.heappush(self._ends, entry)
        self._set_pace(capacity)
        gone.add_done_callback(leave)
        try:
            await done
        finally:
            gone.remove_done_callback(leave)
            if entry in self._ends:
                self._advance()
                self._ends.remove(entry)
                heapq.heapify(self._ends)
                self._set_pace(capacity)

    def _advance(self) -> None:
        now = self.loop.time()
        self._steps += (now - self._at) / self._pace
        self._at = now

    def _set_pace(self, capacity: Capacity) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self._ends:
            self._pace = math.inf
            return
        self._pace = max(1e-9, capacity.step_seconds(len(self._ends)))
        left = max(0.0, self._ends[0][0] - self._steps) * self._pace
        self._timer = self.loop.call_later(left, self._end_next, capacity)

    def _end_next(self, capacity: Capacity) -> None:
        self._advance()
        # The first has its end now, whatever floating point makes of the sum of paces.
        self._steps = max(self._steps, self._ends[0][0])
        while self._ends and self._ends[0][0] <= self._steps:
            _, _, done = heapq.heappop(self._ends)
            if not done.done():
                done.set_result(None)
        self._set_pace(capacity)
