"""A checksum of each page of a ledger that is closed: SQLite keeps none of its own.

A flipped bit in an answer's text breaks no structure, so no check of SQLite's sees it.
The sums of the closed file are kept beside it and compared before it is written again
(measured: 0.5 s a gigabyte). They lie as CRC-32 (RFC 1952), four bytes a page of 4 kB.
"""

from __future__ import annotations

import os
import struct
import sys
import zlib
from array import array
from pathlib import Path

BINARY: int = getattr(os, "O_BINARY", 0)
"""Windows must be told not to touch line ends."""
PAGE = 4096
"""SQLite's default page size; with another one a sum covers parts of pages."""
_MAGIC = b"synthnb sums 1\n\0"
_HEAD = struct.Struct("<16sQI")
"""Magic, bytes of the ledger, CRC-32 of the sums."""
_BLOCK = 256 * PAGE


def page_sums(handle: int) -> tuple[array[int], int]:
    """Return the sum of each page of an open file, and the file's bytes.

    Reads from the start; the last page may be cut off.

    Raises:
        OSError: it cannot be read.
    """
    sums, size = array("I"), os.lseek(handle, 0, os.SEEK_SET)
    while block := os.read(handle, _BLOCK):
        size += len(block)
        view = memoryview(block)
        sums.extend(
            zlib.crc32(view[at : at + PAGE]) for at in range(0, len(block), PAGE)
        )
    return sums, size


def write_sums(path: Path, sums: array[int], size: int) -> None:
    """Write the sums of a file of ``size`` bytes whole, and wait until they are on disk.

    Raises:
        OSError: there is no room, or the folder cannot be written.
    """
    data = _little(sums)
    temporary = path.with_name(f".{path.name}-{os.getpid()}")
    try:
        handle = os.open(
            temporary, os.O_CREAT | os.O_WRONLY | os.O_TRUNC | BINARY, 0o600
        )
        with os.fdopen(handle, "wb") as file:
            file.write(_HEAD.pack(_MAGIC, size, zlib.crc32(data)) + data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def read_sums(path: Path) -> tuple[array[int], int] | None:
    """Return the sums and the bytes they were made of; ``None`` where there are none.

    Sums that are torn or damaged themselves prove nothing, and count as none.
    """
    try:
        whole = path.read_bytes()
    except OSError:
        return None
    if len(whole) < _HEAD.size:
        return None
    magic, size, check = _HEAD.unpack_from(whole)
    data = whole[_HEAD.size :]
    if (
        magic != _MAGIC
        or len(data) != 4 * -(-size // PAGE)
        or zlib.crc32(data) != check
    ):
        return None
    sums = array("I")
    sums.frombytes(data)
    if sys.byteorder == "big":
        sums.byteswap()
    return sums, size


def changed_pages(then: array[int], now: array[int]) -> list[int]:
    """Return the pages, counted from 1 as SQLite does, that are not what they were."""
    if then == now:
        return []
    longest = max(len(then), len(now))
    return [
        n + 1
        for n in range(longest)
        if n >= len(then) or n >= len(now) or then[n] != now[n]
    ]


def _little(sums: array[int]) -> bytes:
    if sys.byteorder == "big":
        sums = array("I", sums)
        sums.byteswap()
    return sums.tobytes()
