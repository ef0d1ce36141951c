"""Watches the calls of one transport: deadlines, and a process that slept.

One timer for all calls in flight, a few times a second. A timer for each call would cost
a twentieth of the call, and could not tell a server that is late from a process that was
asleep: a laptop whose lid was closed, a cell that held the loop for a minute.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Self

_INTERVAL = 0.25
_SHARE = 8
"""The timer runs at least so often within a call's own time-out."""
_LATE = 1.0
"""A timer that is later than this was held up: by the process, not by a server."""


class Call:
    """One call in flight, as a context manager; ended when its deadline has passed."""

    __slots__ = (
        "_cancelling",
        "_task",
        "_watch",
        "began",
        "deadline",
        "is_late",
    )

    def __init__(self, watch: CallWatch, began: float, seconds: float) -> None:
        """Note when it began and how long it may take."""
        self._watch = watch
        self.began = began
        self.deadline = began + seconds
        self.is_late = False

    def __enter__(self) -> Self:
        """Begin to be watched, in the running task."""
        task = asyncio.current_task(self._watch.loop)
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
            CallLateError: the watch ended the call.
        """
        self._watch.calls.pop(self, None)
        # As in asyncio.timeout: somebody else's cancellation at the same moment wins.
        if self.is_late and self._task.uncancel() <= self._cancelling:
            raise CallLateError(self.deadline - self.began) from None

    def postpone(self, deadline: float) -> None:
        """Move the deadline, e.g. because the answer has begun."""
        self.deadline = max(self.deadline, deadline)

    def end(self) -> None:
        """End the call: its deadline has passed."""
        if not self.is_late:
            self.is_late = True
            self._task.cancel()


class CallLateError(Exception):
    """A call was not over at its deadline."""

    def __init__(self, seconds: float) -> None:
        """Keep how long the call might have taken."""
        super().__init__(f"not over after {seconds:g} s")
        self.seconds = seconds


class CallWatch:
    """The calls of one transport. Used on one loop."""

    def __init__(self) -> None:
        """Watch nothing yet."""
        self.calls: dict[Call, None] = {}
        self.loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._due = 0.0
        self._interval = _INTERVAL

    def call(self, seconds: float) -> Call:
        """Return a call that may take so many seconds; use it with ``with``."""
        loop = self.loop
        if loop is None:
            loop = self.loop = asyncio.get_running_loop()
        now = loop.time()
        interval = min(_INTERVAL, seconds / _SHARE)
        if self._timer is None or interval < self._interval:
            self._schedule(loop, now, interval)
        return Call(self, now, seconds)

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
            self._interval = _INTERVAL  # a transport at rest runs no timer
            return
        assert self.loop is not None
        now = self.loop.time()
        slept = now - self._due
        for call in self.calls:
            if slept > _LATE:
                call.deadline += slept
            elif now >= call.deadline:
                call.end()
        self._schedule(self.loop, now, self._interval)
