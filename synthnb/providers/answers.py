"""One HTTP answer, whichever library fetched it, and the protocol of what fetches."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class HeaderLookup(Protocol):
    """Response headers, looked up without regard to case."""

    def get(self, key: str, /) -> str | None:
        """Return the header's (first) value, or ``None``."""
        ...


class Answer(NamedTuple):
    """Status, headers and the whole body."""

    status: int
    headers: HeaderLookup
    body: bytes | bytearray | memoryview

    def text(self) -> str:
        """Return the body as text; bytes that are not UTF-8 are replaced."""
        return bytes(self.body).decode("utf-8", "replace")


class Transport(Protocol):
    """Sends one HTTP request; knows hosts, headers and time-outs, not chats."""

    async def post(self, path: str, body: bytes) -> Answer:
        """POST a JSON body to the base URL plus ``path``.

        Raises:
            ProviderError: no whole answer came back.
        """
        ...

    async def post_to(self, url: str, body: bytes) -> Answer:
        """POST a JSON body to a whole URL on the same origin, in a few seconds.

        Raises:
            ProviderError: no whole answer came back.
        """
        ...

    async def get(self, url: str, *, timeout_seconds: float | None = None) -> Answer:
        """GET a whole URL on the same origin, with its own total time-out.

        Raises:
            ProviderError: no whole answer came back.
        """
        ...

    async def aclose(self) -> None:
        """Close the connections."""
        ...
