"""What every request passes before it is sent: pause, pool-wide wait, stop, disk."""

from __future__ import annotations

import asyncio


class StopDispatchError(Exception):
    """Raised in a worker that waits at the gate of a run that was stopped."""


class Gate:
    """Holds back new requests; those in flight are never touched.

    Belongs to one loop; other threads reach it through ``Run``.
    """

    def __init__(self) -> None:
        """Start open."""
        self._changed = asyncio.Event()
        self._not_before = 0.0
        self.paused = False
        self.stopped = False
        self.disk_trouble = False
        self.stalled = False
        self._broken: Exception | None = None

    def pause(self) -> None:
        """Send nothing new until ``resume``."""
        self.paused = True

    def resume(self) -> None:
        """Go on sending."""
        self.paused = False
        self._changed.set()

    def set_disk_trouble(self, *, waiting: bool) -> None:
        """Buy no more answers while the ledger cannot be written."""
        self.disk_trouble = waiting
        self._changed.set()

    def end_stall(self) -> None:
        """Go on: somebody answers again."""
        self.stalled = False
        self._changed.set()

    def break_with(self, error: Exception) -> None:
        """Let everybody who comes or waits fail with ``error``."""
        self._broken = error
        self._changed.set()

    def stop(self) -> None:
        """Let nobody through any more."""
        self.stopped = True
        self._changed.set()

    def hold(self, seconds: float) -> None:
        """Let the whole pool wait: a server's Retry-After is meant for all requests."""
        until = asyncio.get_running_loop().time() + seconds
        self._not_before = max(self._not_before, until)

    def held_for(self) -> float:
        """Return the seconds that the pool still has to wait."""
        return max(0.0, self._not_before - asyncio.get_running_loop().time())

    @property
    def is_open(self) -> bool:
        """Whether ``wait`` would return at once, for a request that has no delay."""
        return not (
            self.stopped
            or self.paused
            or self.disk_trouble
            or self.stalled
            or self._not_before
            or self._broken
        )

    async def wait(self, at_least: float = 0.0) -> None:
        """Return when a request may be sent, after ``at_least`` seconds.

        Raises:
            StopDispatchError: the run was stopped meanwhile.
            Exception: what ``break_with`` was called with.
        """
        loop = asyncio.get_running_loop()
        own = loop.time() + at_least if at_least > 0 else 0.0
        while True:
            if self._broken is not None:
                raise self._broken
            if self.stopped:
                raise StopDispatchError
            closed = self.paused or self.disk_trouble or self.stalled
            ready = max(own, self._not_before)
            if not closed and (ready == 0.0 or ready <= loop.time()):
                self._not_before = 0.0
                return
            await self._sleep(None if closed else ready - loop.time())

    async def nap(self, seconds: float) -> None:
        """Wait, whether the gate is open or not.

        Raises:
            StopDispatchError: the run was stopped meanwhile.
            Exception: what ``break_with`` was called with.
        """
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while (left := until - loop.time()) > 0:
            if self._broken is not None:
                raise self._broken
            if self.stopped:
                raise StopDispatchError
            await self._sleep(left)

    async def _sleep(self, seconds: float | None) -> None:
        # A fresh wait for the next change: clear() cannot lose one, for this runs
        # between two awaits of a single-threaded loop.
        self._changed.clear()
        try:
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            return
