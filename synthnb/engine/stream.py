"""A run's events as an async iterator."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import weakref
from collections import deque
from collections.abc import Callable
from typing import Self

from synthnb.engine.events import Dropped, Event, StateChanged

_MOST = 10_000
"""Events that wait for a slow reader; older ones are dropped and counted."""

_Reader = tuple[asyncio.AbstractEventLoop, asyncio.Event]


class EventStream:
    """``async for event in run.events()``: ends with the run.

    It never holds up the run: who reads too slowly misses the oldest events and is told
    how many. It may be read on another loop, or in another thread, than the run's. One
    that nobody holds any more, e.g. after a ``break``, stops listening by itself.
    """

    def __init__(
        self,
        subscribe: Callable[[Callable[[Event], None]], Callable[[], None]],
        *,
        is_over: bool | Callable[[], bool],
        most: int = _MOST,
    ) -> None:
        """Begin to listen at once, so that nothing is missed before the first read.

        Args:
            subscribe: lets a function hear each event; returns the way out.
            is_over: tells whether the run has ended already.
            most: events that are kept for a slow reader.
        """
        self._most = most
        self._events: deque[Event] = deque()
        self._dropped = 0
        self._over = False
        self._lock = threading.Lock()
        self._readers: list[_Reader] = []
        # The run must not keep alive what nobody reads.
        self._leave = weakref.finalize(self, subscribe(_listener(weakref.ref(self))))
        self._leave.atexit = False
        # Asked last: a run that ends while this begins has either been heard or is over.
        if is_over() if callable(is_over) else is_over:
            self._over = True

    def _hear(self, event: Event) -> None:
        with self._lock:
            if len(self._events) >= self._most:
                self._events.popleft()
                self._dropped += 1
            self._events.append(event)
            if isinstance(event, StateChanged) and event.state.is_final:
                self._over = True
            readers, self._readers = self._readers, []
        _wake(readers)

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
                self._readers.append((asyncio.get_running_loop(), wake))
            await wake.wait()
        self._leave()
        raise StopAsyncIteration

    def close(self) -> None:
        """Listen no more; what was heard can still be read, in any thread."""
        self._leave()
        with self._lock:
            self._over = True
            readers, self._readers = self._readers, []
        _wake(readers)


def _listener(stream: weakref.ref[EventStream]) -> Callable[[Event], None]:
    def hear(event: Event) -> None:
        if (alive := stream()) is not None:
            alive._hear(event)  # noqa: SLF001 - the stream's own ear

    return hear


def _wake(readers: list[_Reader]) -> None:
    for loop, wake in readers:
        with contextlib.suppress(RuntimeError):  # the reader's loop was closed
            loop.call_soon_threadsafe(wake.set)
