"""One client's connection: requests in, replies out, one after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Protocol, TypeAlias

from synthnb.testing.wire import HttpRequest, Reply, RequestParser

Outcome: TypeAlias = "Reply | Coroutine[Any, Any, bool] | None"


class Exchange(Protocol):
    """What a connection needs of its server."""

    def opened(self, connection: Connection) -> bool:
        """Note a connection. False drops it."""

    def lost(self, connection: Connection) -> None:
        """Note that it is gone."""

    def exchange(self, request: HttpRequest, connection: Connection) -> Outcome:
        """Return a reply at once, or a coroutine that sends it; ``None`` drops all.

        The coroutine returns whether the connection may be used again.
        """


class Connection(asyncio.Protocol):
    """A connection. What needs no waiting is answered without a task: that is fast.

    Attributes:
        gone: done as soon as the client has left (closed its side, or broke off).
        task: the exchange under way, where it needs one.
        transport: the socket's transport.
    """

    transport: asyncio.Transport

    def __init__(self, server: Exchange, loop: asyncio.AbstractEventLoop) -> None:
        self._server = server
        self._loop = loop
        self._parser = RequestParser()
        self._writable: asyncio.Future[None] | None = None
        self._eof = False
        self.gone: asyncio.Future[None] = loop.create_future()
        self.task: asyncio.Task[bool] | None = None

    # what the loop calls ---------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        if not self._server.opened(self):
            transport.abort()

    def data_received(self, data: bytes) -> None:
        """Take bytes and answer what is whole by now."""
        self._parser.feed(data)
        if self.task is None and self._writable is None:
            self._answer()

    def eof_received(self) -> bool:
        """Note that the client closed its side; end now, or after the exchange."""
        self._eof = True
        self._leave()
        # A half-closed connection may still be written to, but not one with TLS.
        tls = self.transport.get_extra_info("ssl_object") is not None
        return self.task is not None and not tls

    def connection_lost(self, _exc: Exception | None) -> None:
        """Note that nothing more can be sent."""
        self._leave()
        self._server.lost(self)
        self.resume_writing()

    def pause_writing(self) -> None:
        """Wait before more is written: the client reads slowly."""
        self._writable = self._loop.create_future()

    def resume_writing(self) -> None:
        """Go on."""
        waiter, self._writable = self._writable, None
        if waiter is not None:
            if not waiter.done():
                waiter.set_result(None)
            if self.task is None and not self.transport.is_closing():
                self._answer()

    # what deliveries call --------------------------------------------------------

    def write(self, data: bytes) -> None:
        """Send bytes."""
        self.transport.write(data)

    async def drain(self) -> None:
        """Wait until the client has read enough.

        Raises:
            ConnectionResetError: it is gone.
        """
        if self._writable is not None:
            await asyncio.shield(self._writable)
        if self.transport.is_closing():
            raise ConnectionResetError("the client left")

    async def pause(self, seconds: float) -> bool:
        """Wait so long, or until the client leaves. True if it is still there."""
        if seconds > 0 and not self.gone.done():
            await _first(self._loop, self.gone, seconds)
        return not self.gone.done()

    # inside ----------------------------------------------------------------------

    def _leave(self) -> None:
        if not self.gone.done():
            self.gone.set_result(None)

    def _answer(self) -> None:
        try:
            while self._writable is None and not self.transport.is_closing():
                request = self._parser.next()
                if request is None:
                    return
                outcome = self._server.exchange(request, self)
                if isinstance(outcome, Reply):
                    self.transport.write(outcome.head() + outcome.body)
                    if request.closes:
                        self.transport.close()
                elif outcome is None:
                    self.transport.close()
                else:
                    self._spawn(outcome, closes=request.closes)
                    return
        except ValueError:
            self.transport.close()  # it babbles

    def _spawn(self, work: Coroutine[Any, Any, bool], *, closes: bool) -> None:
        self.task = self._loop.create_task(work)
        self.task.add_done_callback(lambda task: self._done(task, closes=closes))

    def _done(self, task: asyncio.Task[bool], *, closes: bool) -> None:
        self.task = None
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, ConnectionError):
            self._loop.call_exception_handler(
                {"message": "the fault server failed", "exception": error, "task": task}
            )
        failed = task.cancelled() or error is not None
        if failed or closes or self._eof or not task.result():
            self.transport.close()
        else:
            self._answer()


async def _first(
    loop: asyncio.AbstractEventLoop, gone: asyncio.Future[None], seconds: float
) -> None:
    """Wait for the future or the time: ``asyncio.wait`` without its set and its checks."""
    waiter: asyncio.Future[None] = loop.create_future()

    def wake(_: object = None) -> None:
        if not waiter.done():
            waiter.set_result(None)

    timer = loop.call_later(seconds, wake)
    gone.add_done_callback(wake)
    try:
        await waiter
    finally:
        timer.cancel()
        gone.remove_done_callback(wake)
