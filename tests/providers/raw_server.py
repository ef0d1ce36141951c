"""For these tests: a raw server on 127.0.0.1 (any bytes, resets, silence), and values."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from synthnb.records import Message, Request, Sampling

CANARY = "sk-CANARY-9f3b7d21"
SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string"}},
    "required": ["answer"],
    "additionalProperties": False,
}


def http(status=200, body: object = "", **headers: str) -> bytes:
    """Return a whole HTTP answer; what is no str is sent as JSON."""
    raw = body if isinstance(body, str | bytes) else json.dumps(body)
    raw = raw.encode() if isinstance(raw, str) else raw
    lines = [f"HTTP/1.1 {status} X", f"content-length: {len(raw)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + raw


def chat(content: str | None = "hello", finish="stop", **message) -> dict:
    """Return the body of a chat completion."""
    return {
        "id": "chatcmpl-1",
        "model": "m",
        "choices": [
            {
                "message": {"role": "assistant", "content": content, **message},
                "finish_reason": finish,
            }
        ],
        "usage": {"prompt_tokens": 5, "completion_tokens": 2},
    }


def models(*ids: str, **fields) -> dict:
    """Return the body of a list of models."""
    return {"object": "list", "data": [{"id": name, **fields} for name in ids]}


def ask(text="hi", schema=None, system=None, **sampling) -> Request:
    """Return a small request."""
    first = (Message("system", system),) if system else ()
    messages = (*first, Message("user", text))
    return Request(messages, Sampling(**sampling), schema=schema)


@dataclass
class Seen:
    """One request that the raw server got."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


@dataclass(frozen=True)
class Broken:
    """Bytes, then an end of another kind: ``reset``, ``close`` or ``silence``."""

    head: bytes = b""
    then: str = "close"


@dataclass
class RawServer:
    answer: Callable[[Seen], bytes | Broken]
    port: int = 0
    seen: list[Seen] = field(default_factory=list)
    open: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def chats(self) -> list[Seen]:
        return [s for s in self.seen if s.path.endswith("/chat/completions")]

    async def talk(self, reader, writer) -> None:
        self.open += 1
        try:
            while (seen := await _read(reader)) is not None:
                self.seen.append(seen)
                answer = self.answer(seen)
                if isinstance(answer, Broken):
                    await self._break(answer, reader, writer)
                    return
                writer.write(answer)
                await writer.drain()
        finally:
            self.open -= 1

    async def _break(self, answer: Broken, reader, writer) -> None:
        writer.write(answer.head)
        await writer.drain()
        if answer.then == "silence":
            await reader.read()
        elif answer.then == "reset":
            await asyncio.sleep(0.02)  # the head must arrive before the reset does
            linger = struct.pack("ii", 1, 0)
            raw = writer.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            writer.transport.abort()


async def _read(reader) -> Seen | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.strip().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines)
    original = dict(line.split(": ", 1) for line in lines)
    if "authorization" in headers:
        headers["authorization"] = next(
            v for k, v in original.items() if k.lower() == "authorization"
        )
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    method, path, _ = first.split(" ")
    return Seen(method, path, headers, body)


@asynccontextmanager
async def talking(talk, *, ssl=None):
    """Serve ``talk(reader, writer)`` and give the port; no connection outlives it."""
    tasks = set()

    async def guarded(reader, writer):
        tasks.add(asyncio.current_task())
        # Cancelled at the end, or left by the client: both are fine here.
        with suppress(ConnectionError, asyncio.CancelledError):
            await talk(reader, writer)
        writer.close()
        with suppress(ConnectionError, asyncio.CancelledError):
            await writer.wait_closed()

    server = await asyncio.start_server(guarded, "127.0.0.1", 0, ssl=ssl)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def serving(answer, *, ssl=None):
    """Serve ``answer``: bytes, a ``Broken``, or a function of what was seen."""
    function = answer if callable(answer) else lambda _seen: answer
    raw = RawServer(function)
    async with talking(raw.talk, ssl=ssl) as raw.port:
        yield raw


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
