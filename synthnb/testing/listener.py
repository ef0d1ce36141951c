"""The sockets of a fault server: listening, away, back on the same port."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import Callable
from typing import TypeVar

from synthnb.testing.connection import Connection, Exchange

_T = TypeVar("_T")
_BACKLOG = 1024
_TURNS = 5
"""From accept() to the protocol asyncio takes three turns of the loop."""


class Listener:
    """Listens on 127.0.0.1 for an ``Exchange`` and keeps its connections.

    Attributes:
        port: 0 until it listened once, if a free one is wanted.
        connections: the open ones.
    """

    def __init__(self, port: int, context: ssl.SSLContext | None) -> None:
        self.port = port
        self.connections: set[Connection] = set()
        self._context = context
        self._server: asyncio.Server | None = None
        self._opening: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: int | None = None

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop that it started in."""
        assert self._loop is not None, "the fault server is not running"
        return self._loop

    @property
    def is_running(self) -> bool:
        """Whether it was started and not closed, be it away for now or not."""
        return self._loop is not None

    async def start(self, exchange: Exchange) -> None:
        """Listen.

        Raises:
            OSError: the port is in use.
        """
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        await self._serve(self._bind(), exchange)

    def open(self, exchange: Exchange) -> None:
        """Listen again. Clients can connect from now on; no need to wait."""
        if self._server is None and self._opening is None:
            work = self._serve(self._bind(), exchange)
            self._opening = self.loop.create_task(work)
            self._opening.add_done_callback(lambda _: setattr(self, "_opening", None))

    def shut(self) -> None:
        """Refuse connections from now on."""
        if self._opening is not None:
            self._opening.cancel()
        server, self._server = self._server, None
        if server is not None:
            server.close()

    def cut(self) -> None:
        """Break off every connection, as a killed process does."""
        for connection in list(self.connections):
            connection.transport.abort()
            if connection.task is not None:
                connection.task.cancel()

    async def close(self) -> None:
        """Stop listening and end all connections and their work."""
        server = self._server
        self.shut()
        # Repeated: a connection that was accepted in this very moment is among them
        # some turns of the loop later.
        quiet = 0
        while quiet < _TURNS:
            quiet = 0 if self.connections else quiet + 1
            self.cut()
            tasks = [c.task for c in self.connections if c.task is not None]
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.sleep(0)
        if server is not None:
            await server.wait_closed()
        self._loop = None

    def call(self, work: Callable[[], _T]) -> _T:
        """Do the work in the server's loop, from whatever thread."""
        if not self.is_running or threading.get_ident() == self._thread:
            return work()

        async def there() -> _T:
            return work()

        return asyncio.run_coroutine_threadsafe(there(), self.loop).result(10)

    def _bind(self) -> socket.socket:
        listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(("127.0.0.1", self.port))
            # Already here, so that clients can connect before the loop comes round.
            listening.listen(_BACKLOG)
        except OSError:
            listening.close()
            raise
        self.port = listening.getsockname()[1]
        return listening

    async def _serve(self, listening: socket.socket, exchange: Exchange) -> None:
        loop = self.loop
        try:
            self._server = await loop.create_server(
                lambda: Connection(exchange, loop),
                sock=listening,
                backlog=_BACKLOG,
                ssl=self._context,
            )
        except BaseException:
            listening.close()
            raise
