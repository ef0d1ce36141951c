"""One HTTP/1.1 connection (RFC 9112): writes a request, reads its answer.

Written on asyncio's own protocol and llhttp (by httptools), because this is the path that
every row takes. Measured at 64 requests at a time: a third of aiohttp's time on the
event loop. A transport in Rust has less of that, but its threads fight the loop for
the interpreter: as part of a whole run it cost twice the CPU of this one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import httptools

from synthnb.providers.answers import Answer

_MAX_HEADER_BYTES = 64 * 1024
_INFORMATIONAL = 200


class Headers(list[tuple[bytes, bytes]]):
    """Response headers as they came; hardly any is ever looked at, so none is decoded."""

    __slots__ = ()

    def get(self, key: str, default: str | None = None) -> str | None:
        """Return a header's first value, whatever the case of its name."""
        wanted = key.lower().encode("latin-1")
        for name, value in self:
            if name.lower() == wanted:
                return value.decode("latin-1")
        return default


class RequestHead:
    """A request's line and headers. They hold the key, so no ``repr`` shows them."""

    __slots__ = ("_bytes",)

    def __init__(self, text: str) -> None:
        """Keep the lines, each with its line end; content-length comes behind them."""
        self._bytes = text.encode("ascii")

    def with_body(self, body: bytes) -> bytes:
        """Return the whole request."""
        return b"%bcontent-length: %d\r\n\r\n%b" % (self._bytes, len(body), body)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class ConnectionBrokenError(Exception):
    """The connection ended before the answer was complete; ``str`` says how."""


class AnswerTooLargeError(Exception):
    """The answer is larger than the cap; nothing more of it is read."""


class HttpConnection(asyncio.Protocol):
    """A connection that carries one request at a time.

    Attributes:
        is_reusable: whether another request may follow the last answer.
        began: whether a byte of the present answer has come.
        idle_since: when it was last given back, by ``time.monotonic``.
    """

    __slots__ = (
        "_answer",
        "_body",
        "_headers",
        "_is_head_complete",
        "_length",
        "_loop",
        "_most",
        "_on_begin",
        "_parser",
        "_size",
        "_transport",
        "_tunnel",
        "began",
        "idle_since",
        "is_reusable",
    )

    def __init__(self, loop: asyncio.AbstractEventLoop, most: int) -> None:
        """Wait for the connection to be made.

        Args:
            loop: the loop that it lives on.
            most: bytes that an answer's body may have.
        """
        self._loop = loop
        self._most = most
        self._transport: asyncio.Transport | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._answer: asyncio.Future[Answer] | None = None
        self._tunnel: asyncio.Future[int] | None = None
        self._on_begin: Callable[[], None] | None = None
        self._clear()
        self.idle_since = 0.0

    def _clear(self) -> None:
        self._headers = Headers()
        self._body: list[bytes] = []
        self._size = self._length = 0
        self._is_head_complete = False
        self.began = False
        self.is_reusable = False

    async def exchange(
        self,
        head: RequestHead,
        body: bytes,
        on_begin: Callable[[], None] | None = None,
    ) -> Answer:
        """Send a whole request and return its answer.

        Cancelling closes the connection, so that the server may stop working.

        Args:
            head: request line and headers.
            body: may be empty.
            on_begin: called when the answer's first byte has come.

        Raises:
            ConnectionBrokenError: no whole answer came.
            AnswerTooLargeError: it is over the cap.
        """
        transport = self._transport
        if transport is None or transport.is_closing():
            raise ConnectionBrokenError("the connection was closed")
        self._clear()
        self._on_begin = on_begin
        answer: asyncio.Future[Answer] = self._loop.create_future()
        self._answer = answer
        transport.write(head.with_body(body))
        try:
            return await answer
        except BaseException:
            self.abort()
            raise
        finally:
            self._answer = None

    async def tunnel(self, head: RequestHead) -> int:
        """Send a proxy's CONNECT and return the status (RFC 9110, 9.3.6).

        Raises:
            ConnectionBrokenError: there was no answer.
        """
        assert self._transport is not None
        self._tunnel = self._loop.create_future()
        self._transport.write(head.with_body(b""))
        try:
            return await self._tunnel
        finally:
            self._tunnel = None
            self._body = []

    def abort(self) -> None:
        """Close at once."""
        self.is_reusable = False
        if self._transport is not None:
            self._transport.abort()

    # asyncio's side --------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the socket's transport; a proxy's tunnel brings a second one."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Feed the parser; what nobody asked for ends the connection."""
        if self._tunnel is not None:
            self._read_tunnel(data)
            return
        if self._answer is None or self._answer.done():
            self.abort()
            return
        if not self.began:
            self.began = True
            if self._on_begin is not None:
                self._on_begin()
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            cause = error.__context__
            if isinstance(cause, AnswerTooLargeError | ConnectionBrokenError):
                self._fail(cause)
            else:
                self._fail(ConnectionBrokenError(f"no HTTP answer: {error}"))
        except httptools.HttpParserUpgrade:
            self._fail(ConnectionBrokenError("the server wants another protocol"))

    def eof_received(self) -> bool:
        """End an answer that has no length of its own; any other is broken off."""
        if self._ends_with_connection():
            self._deliver()
        else:
            what = "in the middle of" if self.began else "before"
            self._fail(ConnectionBrokenError(f"it was closed {what} the answer"))
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that the connection is gone."""
        self.is_reusable = False
        self._transport = None
        self._fail(ConnectionBrokenError(str(exc) if exc else "it was closed"))

    def _read_tunnel(self, data: bytes) -> None:
        # A tunnel's 200 has no body and no length: no parser's matter.
        assert self._tunnel is not None
        self._body.append(data)
        head, end, _ = b"".join(self._body).partition(b"\r\n\r\n")
        words = head.split(b"\r\n", 1)[0].split()
        if self._tunnel.done() or not (end or len(head) > _MAX_HEADER_BYTES):
            return
        if len(words) > 1 and words[0].startswith(b"HTTP/1.") and words[1].isdigit():
            self._tunnel.set_result(int(words[1]))
        else:
            self._fail(ConnectionBrokenError("it speaks no HTTP"))

    # the parser's side -----------------------------------------------------------------

    def on_message_begin(self) -> None:
        """Take no second answer behind the first: it would be the next request's."""
        if self._answer is None or self._answer.done():
            raise ConnectionBrokenError("there are two answers to one request")

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep one header."""
        self._length += len(name) + len(value)
        if self._length > _MAX_HEADER_BYTES:
            raise ConnectionBrokenError("the answer's head is too long")
        self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Refuse a body that says itself that it is too large."""
        self._is_head_complete = True
        length = self._headers.get("content-length", "")
        if length and length.isdecimal() and int(length) > self._most:
            raise AnswerTooLargeError

    def on_body(self, body: bytes) -> None:
        """Keep a piece of the body, up to the cap."""
        self._size += len(body)
        if self._size > self._most:
            raise AnswerTooLargeError
        self._body.append(body)

    def on_message_complete(self) -> None:
        """Hand over the answer, unless it was an informational one (1xx)."""
        if self._parser.get_status_code() < _INFORMATIONAL:
            self._headers, self._is_head_complete = Headers(), False
            return
        self._deliver()

    def _deliver(self) -> None:
        if self._answer is None or self._answer.done():
            return
        self.is_reusable = self._parser.should_keep_alive()
        body = self._body[0] if len(self._body) == 1 else b"".join(self._body)
        status = self._parser.get_status_code()
        self._answer.set_result(Answer(status, self._headers, body))

    def _ends_with_connection(self) -> bool:
        headers = self._headers
        return (
            self.began
            and self._is_head_complete
            and headers.get("content-length") is None
            and "chunked" not in (headers.get("transfer-encoding") or "").lower()
            and self._parser.get_status_code() >= _INFORMATIONAL
        )

    def _fail(self, error: Exception) -> None:
        for waiting in (self._answer, self._tunnel):
            if waiting is not None and not waiting.done():
                waiting.set_exception(error)
        self.abort()
