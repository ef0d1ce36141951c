"""Just enough HTTP/1.1 for a test server: parse a request, write a reply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

import orjson

from synthnb.testing.json_text import dumps

MAX_HEAD_BYTES: Final = 64 * 1024
MAX_BODY_BYTES: Final = 64 * 1024 * 1024
OK: Final = 200
_END: Final = b"\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Head:
    """A parsed request head. Header names are lower case."""

    method: str
    path: str
    headers: dict[str, str]
    length: int
    """Of the body; -1 where it comes in chunks."""
    closes: bool
    """Whether the client asked to close the connection after the reply."""

    @classmethod
    def parse(cls, raw: bytes) -> Head:
        """Read a head without its last blank line.

        Raises:
            ValueError: it is no HTTP, or its body is over the limit.
        """
        first, *lines = raw.decode("latin-1").split("\r\n")
        method, target, _version = first.split(" ", 2)
        headers = {
            name.strip().lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines)
        }
        length = int(headers.get("content-length", "0"))
        if not 0 <= length <= MAX_BODY_BYTES:
            raise ValueError("body over the limit")
        if headers.get("transfer-encoding", "").lower() == "chunked":
            length = -1
        closes = headers.get("connection", "").lower() == "close"
        return cls(method, target.partition("?")[0], headers, length, closes)


@dataclass(slots=True)
class HttpRequest:
    """A whole request."""

    head: Head
    body: bytes

    @property
    def method(self) -> str:
        """The method, in upper case as sent."""
        return self.head.method

    @property
    def path(self) -> str:
        """The path without its query."""
        return self.head.path

    @property
    def headers(self) -> dict[str, str]:
        """The headers, their names in lower case."""
        return self.head.headers

    @property
    def closes(self) -> bool:
        """Whether the client asked to close the connection after the reply."""
        return self.head.closes


@dataclass(slots=True)
class Reply:
    """A reply with a known length. Not frozen, for speed; nobody changes one."""

    status: int
    body: bytes = b""
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    prompt_tokens: int = 0
    completion_tokens: int = 0
    """What the answer took, for the server's own metrics and the batch's time."""
    finish_reason: str | None = None
    """Of an answer; counted in the metrics."""

    @classmethod
    def json(
        cls, status: int, value: Any, headers: Mapping[str, str] | None = None
    ) -> Reply:
        """Make a reply with a JSON body."""
        return cls(status, dumps(value), headers=headers or {})

    @classmethod
    def text(cls, text: str, content_type: str = "text/plain; charset=utf-8") -> Reply:
        """Make a 200 with a text."""
        return cls(200, text.encode(), content_type)

    def head(self) -> bytes:
        """Return the status line and the headers, with the full Content-Length."""
        if self.status == OK and not self.headers:
            return (
                b"HTTP/1.1 200 OK\r\ncontent-type: %b\r\ncontent-length: %d\r\n\r\n"
                % (self.content_type.encode(), len(self.body))
            )
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
        return "\r\n".join(lines).encode() + _END


class RequestParser:
    """Cuts the bytes of one connection into requests.

    A client's heads repeat but for the body's length, so parsed heads are kept, at most
    ``_KEPT`` for a connection. They hold its key, so they go with the connection.
    """

    _KEPT: Final = 32

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._heads: dict[bytes, Head] = {}

    def feed(self, data: bytes) -> None:
        """Take what the client sent."""
        self._buffer += data

    def next(self) -> HttpRequest | None:
        """Return the next whole request, or ``None`` until more bytes come.

        Raises:
            ValueError: what came is no HTTP or is over a limit.
        """
        end = self._buffer.find(_END)
        if end < 0:
            if len(self._buffer) > MAX_HEAD_BYTES:
                raise ValueError("head over the limit")
            return None
        raw = bytes(self._buffer[:end])
        head = self._heads.get(raw)
        if head is None:
            head = Head.parse(raw)
            if len(self._heads) >= self._KEPT:
                self._heads.clear()
            self._heads[raw] = head
        start = end + len(_END)
        if head.length < 0:
            return self._chunked(head, start)
        stop = start + head.length
        if len(self._buffer) < stop:
            return None
        body = bytes(self._buffer[start:stop])
        del self._buffer[:stop]
        return HttpRequest(head, body)

    def _chunked(self, head: Head, start: int) -> HttpRequest | None:
        parts: list[bytes] = []
        while (line := self._buffer.find(b"\r\n", start)) >= 0:
            size = int(self._buffer[start:line].partition(b";")[0], 16)
            start = line + 2
            if size == 0:
                return self._after_trailers(head, b"".join(parts), start)
            if size < 0 or size + sum(map(len, parts)) > MAX_BODY_BYTES:
                raise ValueError("body over the limit")
            if len(self._buffer) < start + size + 2:
                return None
            parts.append(bytes(self._buffer[start : start + size]))
            start += size + 2
        return None

    def _after_trailers(
        self, head: Head, body: bytes, start: int
    ) -> HttpRequest | None:
        while (line := self._buffer.find(b"\r\n", start)) >= 0:
            if line == start:
                del self._buffer[: line + 2]
                return HttpRequest(head, body)
            start = line + 2
        return None


def read_json(raw: bytes) -> Any:
    """Return the value of a body; ``None`` where it is no JSON."""
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None
