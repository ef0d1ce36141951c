"""A run's events as an async iterator."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Callable
from typing import Self

from synthnb.engine.events import Dropped, Event, StateChanged

_MOST = 10_000
"""Events that wait for a slow reader; older ones are dropped and counted."""


class EventStream:
    """``async for event in run.events()``: ends with the run.

    It never holds up the run: who reads too slowly misses the oldest events and is told
    how many. It may be read on another loop, or in another thread, than the run's.
    """

    def __init__(
        self,
        subscribe: Callable[[Callable[[Event], None]], Callable[[], None]],
        *,
        is_over: bool,
        most: int = _MOST,
    ) -> None:
        """Begin to listen at once, so that nothing is missed before the first read.

        Args:
            subscribe: lets a function hear each event; returns the way out.
            is_over: whether the run has ended already.
            most: events that are kept for a slow reader.
        """
        self._most = most
        self._events: deque[Event] = deque()
        self._dropped = 0
        self._over = is_over
        self._lock = threading.Lock()
        self._reader: tuple[asyncio.AbstractEventLoop, asyncio.Event] | None = None
        self._leave = subscribe(self._hear)

    def _hear(self, event: Event) -> None:
        with self._lock:
            if len(self._events) >= self._most:
                self._events.popleft()
                self._dropped += 1
            self._events.append(event)
            if isinstance(event, StateChanged) and event.state.is_final:
                self._over = True
            reader, self._reader = self._reader, None
        if reader is not None:
            loop, wake = reader
            with contextlib.suppress(RuntimeError):  # the reader's loop was closed
                loop.call_soon_threadsafe(wake.set)

    def __aiter__(self) -> Self:
        """Return itself."""
        return self

    async def __anext__(self) -> Event:
        """Return the next event.

        Raises:
            StopAsyncIteration: the run has ended and every event was read.
        """
        while True:
            with self._lock:
                if self._dropped:
                    number, self._dropped = self._dropped, 0
                    return Dropped(number)
                if self._events:
                    return self._events.popleft()
                if self._over:
                    break
                wake = asyncio.Event()
                self._reader = asyncio.get_running_loop(), wake
            await wake.wait()
        self._leave()
        raise StopAsyncIteration

    def close(self) -> None:
        """Listen no more; what was heard can still be read."""
        self._leave()
        with self._lock:
            self._over = True
