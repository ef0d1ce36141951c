"""Opening the client of one run."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable

from synthnb.providers.protocol import ChatClient

OpenClient = Callable[[], contextlib.AbstractAsyncContextManager[ChatClient]]


@contextlib.asynccontextmanager
async def lend(client: ChatClient) -> AsyncIterator[ChatClient]:
    """Use a client that belongs to somebody else; it is left open."""
    yield client


@contextlib.asynccontextmanager
async def own(
    connect: Callable[[], Awaitable[ChatClient]],
) -> AsyncIterator[ChatClient]:
    """Open a client for one run and close it at its end."""
    client = await connect()
    try:
        yield client
    finally:
        await client.aclose()
