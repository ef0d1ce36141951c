"""Watches the calls of one transport: deadlines, a process that slept, memory.

One timer for all calls in flight, a few times a second. A timer for each call would cost
a twentieth of the call, and could not tell a server that is late from a process that was
asleep: a laptop whose lid was closed, a cell that held the loop for a minute.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Literal, Self

_INTERVAL = 0.25
_SHARE = 8
"""The timer runs at least so often within a call's own time-out."""
_LATE = 1.0
"""A timer that is later than this was held up: by the process, not by a server."""
_GROWTH = 256 * 1024 * 1024
_YOUNG = 0.5
"""Calls younger than this are not what the memory went into."""

Reason = Literal["", "late", "memory"]


class Call:
    """One call in flight, as a context manager; knows why it was ended, if it was."""

    __slots__ = (
        "_cancelling",
        "_task",
        "_watch",
        "began",
        "blind",
        "deadline",
        "reason",
    )

    def __init__(
        self, watch: CallWatch, began: float, seconds: float, *, blind: bool
    ) -> None:
        """Note when it began and how long it may take."""
        self._watch = watch
        self.blind = blind
        self.began = began
        self.deadline = began + seconds
        self.reason: Reason = ""

    def __enter__(self) -> Self:
        """Begin to be watched, in the running task."""
        task = asyncio.current_task()
        assert task is not None
        self._task, self._cancelling = task, task.cancelling()
        self._watch.calls[self] = None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop being watched; an end by the watch is no cancellation of the task.

        Raises:
            CallEndedError: the watch ended the call; ``reason`` says why.
        """
        self._watch.calls.pop(self, None)
        # As in asyncio.timeout: somebody else's cancellation at the same moment wins.
        if self.reason and self._task.uncancel() <= self._cancelling:
            raise CallEndedError(self.reason, self.deadline - self.began) from None

    def end(self, reason: Reason) -> None:
        """End the call for a reason of the watch's own."""
        if not self.reason:
            self.reason = reason
            self._task.cancel()


class CallEndedError(Exception):
    """The watch ended a call: ``late`` or ``memory``."""

    def __init__(self, reason: Reason, seconds: float) -> None:
        """Keep the reason, and how long the call might have taken."""
        super().__init__(reason)
        self.reason = reason
        self.seconds = seconds


class CallWatch:
    """The calls of one transport. Used on one loop."""

    def __init__(self, memory: Callable[[], int] | None = None) -> None:
        """Watch nothing yet.

        Args:
            memory: tells the process's resident bytes; default: psutil.
        """
        self.calls: dict[Call, None] = {}
        self._memory = memory
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._due = 0.0
        self._interval = _INTERVAL
        self._least = 0

    def call(self, seconds: float, *, blind: bool = False) -> Call:
        """Return a call to be used with ``with``.

        Args:
            seconds: how long it may take.
            blind: whether nobody counts its bytes as they come.
        """
        loop = self._loop
        if loop is None:
            loop = self._loop = asyncio.get_running_loop()
        now = loop.time()
        interval = min(_INTERVAL, seconds / _SHARE)
        if self._timer is None or interval < self._interval:
            self._schedule(loop, now, interval)
        return Call(self, now, seconds, blind=blind)

    def close(self) -> None:
        """Watch no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _schedule(
        self, loop: asyncio.AbstractEventLoop, now: float, interval: float
    ) -> None:
        self.close()
        self._interval, self._due = interval, now + interval
        self._timer = loop.call_at(self._due, self._tick)

    def _tick(self) -> None:
        self._timer = None
        if not self.calls:
            # A transport at rest runs no timer; what it then weighs is the new least.
            self._interval, self._least = _INTERVAL, 0
            return
        assert self._loop is not None
        now = self._loop.time()
        slept = now - self._due
        for call in self.calls:
            if slept > _LATE:
                call.deadline += slept
            elif now >= call.deadline:
                call.end("late")
        self._weigh(now)
        self._schedule(self._loop, now, self._interval)

    def _weigh(self, now: float) -> None:
        """End what may be an endless answer: its bytes lie where Python cannot look."""
        weight = self._memory() if self._memory else _resident()
        if not self._least or weight < self._least:
            self._least = weight
        elif weight - self._least > _GROWTH:
            self._least = weight
            for call in self.calls:
                if call.blind and now - call.began > _YOUNG:
                    call.end("memory")


def _resident() -> int:
    import psutil

    return int(psutil.Process().memory_info().rss)
