"""Connections to one origin: made when needed, kept for the next request."""

from __future__ import annotations

import asyncio
import ssl
import time
from urllib.parse import urlsplit

from synthnb import forked
from synthnb.providers.http_connection import (
    ConnectionBrokenError,
    HttpConnection,
    RequestHead,
)
from synthnb.providers.proxies import Proxy
from synthnb.providers.urls import is_loopback

_MOST_IDLE_SECONDS = 4.0
"""Servers on uvicorn (vLLM, KAITO) close a connection that idles for 5 s. One that is
closed while a request is on its way costs an attempt."""
_OK = 200


class ProxyRefusedError(ConnectionError):
    """The proxy opens no tunnel; holds its status."""


class HttpPool:
    """Keeps connections to one host; the last one given back is the next one taken."""

    def __init__(
        self,
        base_url: str,
        *,
        most: int,
        size: int,
        context: ssl.SSLContext | None,
        proxy: Proxy | None,
        connect_timeout: float,
    ) -> None:
        """Open nothing yet.

        Args:
            base_url: whose origin is connected to.
            most: bytes that an answer may have.
            size: connections at once; more requests wait in their order.
            context: TLS settings; ``None`` for http.
            proxy: what lies between.
            connect_timeout: seconds for TCP, tunnel and TLS together.
        """
        parts = urlsplit(base_url)
        assert parts.hostname is not None
        self._host = parts.hostname
        self._is_near = is_loopback(base_url)
        self._encrypted = parts.scheme == "https"
        self._port = parts.port or (443 if self._encrypted else 80)
        self._most = most
        self._context, self._proxy = context, proxy
        self._connect_timeout = connect_timeout
        self._idle: list[HttpConnection] = []
        self._room = asyncio.Semaphore(size)
        self.is_closed = False
        forked.guard(self)

    def forked(self) -> None:
        """Send nothing in a forked child: its sockets are those of its parent."""
        self.is_closed = True
        # Not closed either: that would take them out of the parent's loop.
        forked.keep(self._idle)
        self._idle = []

    async def take(self) -> HttpConnection:
        """Return a connection; it must be given back.

        Raises:
            OSError, TimeoutError, ssl.SSLError: none could be made.
        """
        await self._room.acquire()
        while self._idle:
            connection = self._idle.pop()
            if not connection.is_reusable:
                continue
            if time.monotonic() - connection.idle_since < _MOST_IDLE_SECONDS:
                return connection
            connection.abort()
        try:
            return await self._connect(asyncio.get_running_loop())
        except BaseException:
            self._room.release()
            raise

    def give_back(self, connection: HttpConnection) -> None:
        """Take a connection back: to be kept if it can carry another request."""
        if connection.is_reusable and not self.is_closed:
            connection.idle_since = time.monotonic()
            self._idle.append(connection)
        else:
            connection.abort()
        self._room.release()

    def close(self) -> None:
        """Close what is idle; what is in use is closed when it is given back."""
        self.is_closed = True
        while self._idle:
            self._idle.pop().abort()

    # making one ------------------------------------------------------------------------

    async def _connect(self, loop: asyncio.AbstractEventLoop) -> HttpConnection:
        async with asyncio.timeout(self._connect_timeout):
            if self._proxy is not None:
                return await self._through(loop, self._proxy)
            _, connection = await loop.create_connection(
                lambda: HttpConnection(loop, self._most),
                self._host,
                self._port,
                ssl=self._context,
                # A host with a broken IPv6 must not cost the whole time-out.
                happy_eyeballs_delay=None if self._is_near else 0.25,
            )
            return connection

    async def _through(
        self, loop: asyncio.AbstractEventLoop, proxy: Proxy
    ) -> HttpConnection:
        transport, connection = await loop.create_connection(
            lambda: HttpConnection(loop, self._most),
            proxy.host,
            proxy.port,
            ssl=ssl.create_default_context() if proxy.encrypted else None,
        )
        if not self._encrypted:
            return connection
        try:
            await self._tunnel(connection, proxy)
            secure = await loop.start_tls(
                transport, connection, self._require(), server_hostname=self._host
            )
        except BaseException:
            connection.abort()
            raise
        assert secure is not None
        connection.connection_made(secure)
        return connection

    def _require(self) -> ssl.SSLContext:
        assert self._context is not None
        return self._context

    async def _tunnel(self, connection: HttpConnection, proxy: Proxy) -> None:
        host = f"[{self._host}]" if ":" in self._host else self._host
        target = f"{host}:{self._port}"
        head = RequestHead(
            f"CONNECT {target} HTTP/1.1\r\nhost: {target}\r\n"
            + f"proxy-authorization: {proxy.authorization}\r\n"
            * bool(proxy.authorization)
        )
        try:
            status = await connection.tunnel(head)
        except ConnectionBrokenError as error:
            msg = f"the proxy {proxy.host}:{proxy.port} opens no tunnel: {error}"
            raise ProxyRefusedError(msg) from None
        if status != _OK:
            msg = f"the proxy {proxy.host}:{proxy.port} opens no tunnel: HTTP {status}"
            raise ProxyRefusedError(msg)
