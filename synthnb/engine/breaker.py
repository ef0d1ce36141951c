"""The circuit breaker: where nobody answers, the pool waits for one knock at the door.

One failed connection opens it: no row is at fault, so none loses an attempt. While it is
open nothing is sent; one worker asks the server's health, each time after twice the
wait. The run goes on by itself once somebody answers, or ends with everything saved
(M. Nygard, "Release It!", 2007, calls this a circuit breaker).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from synthnb.config import Limits
from synthnb.engine.events import Held
from synthnb.engine.gate import Gate
from synthnb.errors import ConnectError
from synthnb.providers.protocol import ChatClient


class Breaker:
    """Shared by the workers of one run; lives on its loop."""

    def __init__(
        self,
        client: ChatClient,
        gate: Gate,
        limits: Limits,
        *,
        on_change: Callable[[], None],
        emit: Callable[[Held], None],
    ) -> None:
        """Start closed.

        Args:
            client: asked for its health, where it can tell.
            gate: shut while the breaker is open.
            limits: how often and how long is waited.
            on_change: called when it opens and when it closes.
            emit: takes an event for each wait.
        """
        self._client = client
        self._gate = gate
        self._limits = limits
        self._on_change = on_change
        self._emit = emit
        self._failures = 0
        self._closed: asyncio.Future[None] | None = None

    def answered(self) -> None:
        """Note that the server is there: the count of failures begins anew."""
        self._failures = 0

    async def wait(self, error: ConnectError) -> None:
        """Return when it may be tried again.

        Raises:
            StopDispatchError: the run was stopped meanwhile.
            ConnectError: nobody answered for too long; the run is to end.
        """
        if self._closed is not None:
            await asyncio.shield(self._closed)
            return
        self._closed = asyncio.get_running_loop().create_future()
        self._gate.stalled = True
        self._on_change()
        try:
            await self._knock(error)
        except BaseException as ended:
            # Whoever waits for this knock meets the same end.
            if isinstance(ended, Exception):
                self._closed.set_exception(ended)
                self._closed.exception()  # it may be that nobody waits
            else:
                self._closed.cancel()
            raise
        else:
            self._closed.set_result(None)
        finally:
            self._closed = None
            self._gate.end_stall()
            self._on_change()

    async def _knock(self, error: ConnectError) -> None:
        is_up = getattr(self._client, "is_up", None)
        policy = self._limits.retry
        while True:
            self._failures += 1
            if self._failures > self._limits.max_connect_failures:
                raise self._gave_up(error)
            ceiling = policy.base_seconds * 2 ** (self._failures - 1)
            seconds = min(policy.max_seconds, ceiling)
            self._emit(Held(seconds, error))
            await self._gate.nap(seconds)
            # A client that cannot tell is tried with the next request.
            if is_up is None or await is_up():
                return

    def _gave_up(self, error: ConnectError) -> ConnectError:
        hint = (
            error.hint
            or "Start the server, then run the same cell again: what was answered is "
            "saved."
        )
        msg = f"{error.message} ({self._failures} times in a row)"
        return ConnectError(msg, hint=hint)
