"""How a reply is sent where the fault is in the sending."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from synthnb.testing.connection import Connection
from synthnb.testing.faults import Fault
from synthnb.testing.wire import Reply

_ENDLESS_BYTES: Final = 1_000_000_000


async def send(reply: Reply, fault: Fault | None, connection: Connection) -> bool:
    """Send the reply in the fault's way. True if the connection may be used again."""
    if fault is None or fault.what not in DELIVERIES:
        connection.write(reply.head() + reply.body)
        await connection.drain()
        return True
    return await DELIVERIES[fault.what](reply, fault, connection)


async def _hang(_reply: Reply, _fault: Fault, connection: Connection) -> bool:
    await asyncio.wait({connection.gone})
    return False


async def _drop(_reply: Reply, _fault: Fault, _connection: Connection) -> bool:
    return False


async def _half_body(reply: Reply, _fault: Fault, connection: Connection) -> bool:
    connection.write(reply.head() + reply.body[: len(reply.body) // 2])
    await connection.drain()
    return False


async def _reset(reply: Reply, fault: Fault, connection: Connection) -> bool:
    await _half_body(reply, fault, connection)
    # Lets the half reach the client first; a reset discards what is still on its way.
    await connection.pause(0.01)
    linger = struct.pack("ii", 1, 0)
    transport_socket = connection.transport.get_extra_info("socket")
    transport_socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    connection.transport.abort()
    return False


async def _trickle(reply: Reply, fault: Fault, connection: Connection) -> bool:
    connection.write(reply.head())
    for start in range(0, len(reply.body), fault.chunk):
        if start and not await connection.pause(fault.interval):
            return False
        connection.write(reply.body[start : start + fault.chunk])
        await connection.drain()
    return True


async def _endless(reply: Reply, _fault: Fault, connection: Connection) -> bool:
    connection.write(reply.chunked_head())
    piece = b"8000\r\n" + b" " * 0x8000 + b"\r\n"
    for _ in range(_ENDLESS_BYTES // len(piece)):
        connection.write(piece)
        await connection.drain()
        await asyncio.sleep(0)
        if connection.gone.done():
            break
    return False


_Deliver: TypeAlias = Callable[[Reply, Fault, Connection], Awaitable[bool]]

DELIVERIES: Final[dict[int | str, _Deliver]] = {
    "hang": _hang,
    "drop": _drop,
    "half_body": _half_body,
    "reset": _reset,
    "trickle": _trickle,
    "endless": _endless,
}
