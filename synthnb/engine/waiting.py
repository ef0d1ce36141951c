"""Waiting for a run's end: awaited, in a cell, in a script, on another thread's loop."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import Future

from synthnb import forked
from synthnb.engine.nesting import wait_nested
from synthnb.errors import SynthnbError


class Waiting:
    """The end of one run, for whoever waits for it.

    Attributes:
        future: done when the run has ended, with what ended it early.
        loop: where the run works; ``None`` before it was started.
    """

    def __init__(self, name: str, stop: Callable[[], None]) -> None:
        """Name the run; ``stop`` is what an interrupted wait does."""
        self._name = name
        self._stop = stop
        self._is_copy = False
        self.loop: asyncio.AbstractEventLoop | None = None
        self.future: Future[None] = Future()
        # A waiting cell that is interrupted must not cancel the run for everybody else.
        self.future.set_running_or_notify_cancel()
        forked.guard(self)

    def forked(self) -> None:
        """Know, in a forked child, that the run goes on in the parent only."""
        self._is_copy = not self.future.done()
        # The parent's thread may have held the future's lock in that very moment.
        forked.keep(self.future)

    def check(self) -> None:
        """Do nothing in the process where the run works.

        Raises:
            StoreError: this is a forked copy of it, which would wait for ever.
        """
        if self._is_copy:
            raise forked.refusal(f"the run {self._name!r}")

    async def reach(self, timeout: float | None) -> None:  # noqa: ASYNC109 - a cancelled wait stops the run, one that timed out does not
        """Wait for the end, on whichever loop this is.

        Raises:
            TimeoutError: it is not there yet.
            SynthnbError: what ended the run early.
        """
        self.check()
        end = asyncio.wrap_future(self.future)
        try:
            await asyncio.wait([end], timeout=timeout)
        except asyncio.CancelledError:
            # The cell was interrupted: stop buying, let what is in flight arrive.
            self._stop()
            raise
        if not end.done():
            msg = f"run {self._name!r} is not finished after {timeout:g} s; it goes on"
            raise TimeoutError(msg)
        end.result()

    def block(self, timeout: float | None) -> None:
        """Wait for the end without ``await``, in a script or in a cell.

        Raises:
            TimeoutError: it is not there yet.
            SynthnbError: what ended the run early.
        """
        self.check()
        try:
            here = asyncio.get_running_loop()
        except RuntimeError:
            here = None
        loop = self.loop
        if self.future.done() or loop is None or loop.is_closed():
            self._sleep(timeout)
        elif here is loop:
            self._drive(lambda: wait_nested(loop, self.reach(timeout)))
        elif here is None and not loop.is_running():
            # The loop of an earlier `asyncio.Runner.run` or cell of IPython's shell:
            # it stands still until somebody turns it.
            self._drive(lambda: loop.run_until_complete(self.reach(timeout)))
        else:
            self._sleep(timeout)

    def _drive(self, turn: Callable[[], None]) -> None:
        try:
            turn()
        except KeyboardInterrupt:
            self._stop()
            raise

    def _sleep(self, timeout: float | None) -> None:
        try:
            self.future.result(timeout)
        except KeyboardInterrupt:
            self._stop()
            with contextlib.suppress(SynthnbError):
                self._drain()
            raise

    def _drain(self) -> None:
        try:
            self.future.result()
        except KeyboardInterrupt:
            self._stop()
            raise
