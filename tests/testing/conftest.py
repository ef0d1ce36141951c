"""A bare HTTP client: it hides nothing of what the server does on the wire."""

from __future__ import annotations

import asyncio
import contextlib
import json
from dataclasses import dataclass

import pytest


@dataclass
class Response:
    status: int
    headers: dict
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def text(self):
        return self.json["choices"][0]["message"]["content"]

    @property
    def finish_reason(self):
        return self.json["choices"][0]["finish_reason"]


class Connection:
    """One connection, kept alive over several requests."""

    def __init__(self, reader, writer):
        self.reader = reader
        self.writer = writer

    @classmethod
    async def to(cls, server):
        return cls(*await asyncio.open_connection("127.0.0.1", server.port))

    async def send(self, method, path, payload=b"", **headers):
        lines = [
            f"{method} {path} HTTP/1.1",
            "host: x",
            f"content-length: {len(payload)}",
        ]
        lines += [
            f"{name.replace('_', '-')}: {value}" for name, value in headers.items()
        ]
        self.writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + payload)
        await self.writer.drain()

    async def receive(self):
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = dict(line.split(": ", 1) for line in head[1:] if line)
        body = await self.reader.readexactly(int(headers["content-length"]))
        return Response(int(head[0].split()[1]), headers, body)

    async def ask(self, method, path, payload=b"", **headers):
        await self.send(method, path, payload, **headers)
        return await self.receive()

    async def close(self):
        self.writer.close()
        with contextlib.suppress(ConnectionError):
            await self.writer.wait_closed()


def chat_body(prompt="hello", **fields):
    return {"model": "m", "messages": [{"role": "user", "content": prompt}], **fields}


@pytest.fixture
def connect():
    return Connection.to


@pytest.fixture
def get():
    async def ask(server, path, **headers):
        connection = await Connection.to(server)
        try:
            return await connection.ask("GET", path, **headers)
        finally:
            await connection.close()

    return ask


@pytest.fixture
def chat():
    """Send one chat request on a connection of its own and return the response."""

    async def ask(server, prompt="hello", *, headers=None, **fields):
        connection = await Connection.to(server)
        payload = json.dumps(chat_body(prompt, **fields)).encode()
        try:
            return await connection.ask(
                "POST", "/v1/chat/completions", payload, **(headers or {})
            )
        finally:
            await connection.close()

    return ask


@pytest.fixture
def post():
    async def ask(server, path, value, **headers):
        connection = await Connection.to(server)
        try:
            payload = json.dumps(value).encode()
            return await connection.ask("POST", path, payload, **headers)
        finally:
            await connection.close()

    return ask


@pytest.fixture
def until():
    """Wait for a condition: no sleep of a guessed length."""

    async def wait(condition):
        async with asyncio.timeout(10):
            while not condition():
                await asyncio.sleep(0.002)

    return wait
