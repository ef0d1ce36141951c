"""Just enough HTTP/1.1 for a test server: parse a request, write a reply."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, TypeAlias

import orjson

from synthnb.testing.faults import Fault

MAX_HEAD_BYTES = 64 * 1024
MAX_BODY_BYTES = 64 * 1024 * 1024
_ENDLESS_BYTES = 1_000_000_000


class WatchedReader(asyncio.StreamReader):
    """A stream reader whose ``gone`` future ends when the client leaves."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(limit=MAX_HEAD_BYTES, loop=loop)
        self.gone: asyncio.Future[None] = loop.create_future()

    def feed_eof(self) -> None:
        """Note that the client closed its side."""
        super().feed_eof()
        self._leave()

    def set_exception(self, exc: BaseException) -> None:
        """Note that the connection broke."""
        super().set_exception(exc)  # type: ignore[arg-type]
        self._leave()

    def _leave(self) -> None:
        if not self.gone.done():
            self.gone.set_result(None)

    async def pause(self, seconds: float) -> bool:
        """Wait so long, or until the client leaves. True if it is still there."""
        if seconds > 0:
            await asyncio.wait({self.gone}, timeout=seconds)
        return not self.gone.done()


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A parsed request. Header names are lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def closes(self) -> bool:
        """Whether the client asked to close the connection after the reply."""
        return self.headers.get("connection", "").lower() == "close"


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply with a known length."""

    status: int
    body: bytes = b""
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)

    @classmethod
    def json(
        cls, status: int, value: Any, headers: dict[str, str] | None = None
    ) -> Reply:
        """Make a reply with a JSON body."""
        return cls(status, orjson.dumps(value), headers=headers or {})

    def head(self) -> bytes:
        """Return the status line and the headers, with the full Content-Length."""
        return self._head(f"content-length: {len(self.body)}")

    def chunked_head(self) -> bytes:
        """Return the status line and the headers of a chunked reply."""
        return self._head("transfer-encoding: chunked")

    def _head(self, framing: str) -> bytes:
        try:
            phrase = HTTPStatus(self.status).phrase
        except ValueError:
            phrase = "Unknown"
        lines = [
            f"HTTP/1.1 {self.status} {phrase}",
            f"content-type: {self.content_type}",
            framing,
            *(f"{name}: {value}" for name, value in self.headers.items()),
        ]
        return "\r\n".join(lines).encode() + b"\r\n\r\n"


async def read_request(reader: WatchedReader) -> HttpRequest | None:
    """Read the next request of a connection; ``None`` where the client left or babbles."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head[:-4].decode("latin-1").split("\r\n")
        method, target, _version = first.split(" ", 2)
        headers = {
            name.strip().lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines)
        }
        body = await _read_body(reader, headers)
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
        return None
    return HttpRequest(method, target.partition("?")[0], headers, body)


async def _read_body(reader: WatchedReader, headers: dict[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() == "chunked":
        return await _read_chunks(reader)
    length = int(headers.get("content-length", "0"))
    if length > MAX_BODY_BYTES:
        raise ValueError("body over the limit")
    return await reader.readexactly(length) if length else b""


async def _read_chunks(reader: WatchedReader) -> bytes:
    parts: list[bytes] = []
    while size := int((await reader.readuntil(b"\r\n")).partition(b";")[0], 16):
        if size + sum(map(len, parts)) > MAX_BODY_BYTES:
            raise ValueError("body over the limit")
        parts.append(await reader.readexactly(size))
        await reader.readexactly(2)
    while await reader.readuntil(b"\r\n") != b"\r\n":
        pass  # trailers
    return b"".join(parts)


async def send(
    reply: Reply,
    fault: Fault | None,
    reader: WatchedReader,
    writer: asyncio.StreamWriter,
) -> bool:
    """Send the reply in the fault's way. True if the connection may be used again."""
    if fault is None or fault.what not in DELIVERIES:
        writer.write(reply.head() + reply.body)
        await writer.drain()
        return True
    return await DELIVERIES[fault.what](reply, fault, reader, writer)


async def _hang(
    _reply: Reply, _fault: Fault, reader: WatchedReader, _writer: asyncio.StreamWriter
) -> bool:
    await asyncio.wait({reader.gone})
    return False


async def _drop(
    _reply: Reply, _fault: Fault, _reader: WatchedReader, _writer: asyncio.StreamWriter
) -> bool:
    return False


async def _half_body(
    reply: Reply, _fault: Fault, _reader: WatchedReader, writer: asyncio.StreamWriter
) -> bool:
    writer.write(reply.head() + reply.body[: len(reply.body) // 2])
    await writer.drain()
    return False


async def _reset(
    reply: Reply, fault: Fault, reader: WatchedReader, writer: asyncio.StreamWriter
) -> bool:
    await _half_body(reply, fault, reader, writer)
    # Lets the half reach the client first; a reset discards what is still on its way.
    await reader.pause(0.01)
    linger = struct.pack("ii", 1, 0)
    transport_socket = writer.get_extra_info("socket")
    transport_socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    writer.transport.abort()
    return False


async def _trickle(
    reply: Reply, fault: Fault, reader: WatchedReader, writer: asyncio.StreamWriter
) -> bool:
    writer.write(reply.head())
    for start in range(0, len(reply.body), fault.chunk):
        if start and not await reader.pause(fault.interval):
            return False
        writer.write(reply.body[start : start + fault.chunk])
        await writer.drain()
    return True


async def _endless(
    reply: Reply, _fault: Fault, reader: WatchedReader, writer: asyncio.StreamWriter
) -> bool:
    writer.write(reply.chunked_head())
    piece = b"8000\r\n" + b" " * 0x8000 + b"\r\n"
    for _ in range(_ENDLESS_BYTES // len(piece)):
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(0)
        if reader.gone.done():
            break
    return False


_Deliver: TypeAlias = Callable[
    [Reply, Fault, WatchedReader, asyncio.StreamWriter], Awaitable[bool]
]

DELIVERIES: dict[int | str, _Deliver] = {
    "hang": _hang,
    "drop": _drop,
    "half_body": _half_body,
    "reset": _reset,
    "trickle": _trickle,
    "endless": _endless,
}
