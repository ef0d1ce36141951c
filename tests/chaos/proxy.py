"""A TCP proxy that spoils what passes it, in a thread of its own.

``with Proxy(port, Cut(after=80, reset=True)) as proxy`` listens on 127.0.0.1. What is done
to a connection is decided when it is accepted: one way for all, or a function of its
number, from 1.
"""

from __future__ import annotations

import asyncio
import random
import socket
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

_PIECE = 64 * 1024
_WAIT = 10.0


@dataclass(frozen=True)
class Pass:
    """Everything passes."""


@dataclass(frozen=True)
class BlackHole:
    """The connection is made; what is sent is taken, and nothing ever comes back."""


@dataclass(frozen=True)
class Slice:
    """The answer comes in pieces of ``size`` bytes, one each ``interval`` seconds."""

    size: int = 1
    interval: float = 1.0


@dataclass(frozen=True)
class Cut:
    """After so many bytes of answers the connection ends, by FIN or by RST."""

    after: int
    reset: bool = False


@dataclass(frozen=True)
class Delay:
    """Each piece of an answer is late by ``seconds``, give or take ``jitter``."""

    seconds: float
    jitter: float = 0.0
    seed: int = 0


Way = Pass | BlackHole | Slice | Cut | Delay


class Proxy:
    """Between a client and a port of this machine.

    Attributes:
        port: where it listens.
        accepted: connections so far.
        open: connections that the client has not closed.
        passed: bytes of answers that were handed on.
        cut: connections that were cut in the middle of an answer.
        way: what is done to the next connections; may be changed at any time.
    """

    def __init__(self, target: int, way: Way | Callable[[int], Way] = Pass()) -> None:
        """Name the port that is behind; ``with`` begins to listen."""
        self._target = target
        self.way = way
        self.port = self.accepted = self.open = self.passed = self.cut = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def base_url(self) -> str:
        """What a client takes as its base URL."""
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        """Listen."""
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(_WAIT)
        return self

    def __exit__(self, *_: object) -> None:
        """Cut every connection and end the thread."""
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(_WAIT)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_WAIT)
        self._loop.close()

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(
            self._accept, "127.0.0.1", 0, backlog=1024
        )
        self.port = self._server.sockets[0].getsockname()[1]

    async def _end(self) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.accepted += 1
        self.open += 1
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        way = self.way(self.accepted) if callable(self.way) else self.way
        try:
            if isinstance(way, BlackHole):
                while await reader.read(_PIECE):
                    pass
            else:
                await self._join(reader, writer, way)
        except (ConnectionError, asyncio.CancelledError):
            pass  # the client left, or the test is over
        finally:
            self.open -= 1
            writer.transport.abort()

    async def _join(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, way: Way
    ) -> None:
        above, below = await asyncio.open_connection("127.0.0.1", self._target)
        sides = [
            asyncio.ensure_future(_copy(reader, below)),
            asyncio.ensure_future(self._answer(above, writer, way)),
        ]
        try:
            # Whichever side ends first, by leaving or by the way, ends the connection.
            await asyncio.wait(sides, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for side in sides:
                side.cancel()
            await asyncio.gather(*sides, return_exceptions=True)
            below.transport.abort()

    async def _answer(
        self, above: asyncio.StreamReader, writer: asyncio.StreamWriter, way: Way
    ) -> None:
        sent, dice = 0, random.Random(getattr(way, "seed", 0))
        while data := await above.read(_PIECE):
            if isinstance(way, Delay):
                late = way.seconds + dice.uniform(-way.jitter, way.jitter)
                await asyncio.sleep(max(0.0, late))
            if isinstance(way, Slice):
                await self._slice(data, writer, way)
                continue
            if isinstance(way, Cut) and sent + len(data) >= way.after:
                await self._give(data[: way.after - sent], writer)
                self.cut += 1
                await _cut(writer, reset=way.reset)
                return
            sent += len(data)
            await self._give(data, writer)

    async def _slice(
        self, data: bytes, writer: asyncio.StreamWriter, way: Slice
    ) -> None:
        for start in range(0, len(data), way.size):
            await self._give(data[start : start + way.size], writer)
            await asyncio.sleep(way.interval)

    async def _give(self, data: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        self.passed += len(data)
        await writer.drain()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(_PIECE):
        writer.write(data)
        await writer.drain()


async def _cut(writer: asyncio.StreamWriter, *, reset: bool) -> None:
    if not reset:
        writer.close()  # sends what is buffered, then FIN
        await writer.wait_closed()
        return
    # What was sent must arrive first: a reset discards what is still on its way.
    await asyncio.sleep(0.01)
    held = writer.get_extra_info("socket")
    held.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
