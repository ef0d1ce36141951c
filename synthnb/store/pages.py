"""SQLite's file format, read page by page with no help from what may be damaged.

Follows https://sqlite.org/fileformat2.html: leaf pages tell by themselves what they
are, so their rows are found though the tree above them, the schema or the list of free
pages is lost. The frames of a ``-wal`` that were committed stand for their pages.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Self

TABLE, INDEX = 13, 10
_INDEX_ABOVE = 2
_WAL_HEAD, _FRAME_HEAD = 32, 24
_WAL_MAGIC = (0x377F0682, 0x377F0683)
_WIDTHS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_NULL, _REAL, _ZERO, _ONE, _BLOB = 0, 7, 8, 9, 12

Value = int | float | str | bytes | None


class Cell(NamedTuple):
    """A row of a table, or an entry of an index (whose ``rowid`` is 0)."""

    page: int
    kind: int
    """``TABLE`` or ``INDEX``."""
    rowid: int
    values: tuple[Value, ...]


class BrokenCellError(ValueError):
    """What should be a row is none."""


class Pages:
    """The pages of a database and its ``-wal``; a context manager."""

    def __init__(
        self, path: Path, *, bad: frozenset[int] = frozenset(), alone: bool = False
    ) -> None:
        """Open for reading.

        Args:
            path: the database.
            bad: pages, from 1, that are known to be wrong; nothing of them is read.
            alone: whether the ``-wal`` is left out: a file whose pages are known to be
                right has none.

        Raises:
            OSError: it cannot be read.
        """
        self._file = path.open("rb")
        size = path.stat().st_size
        self._data = (
            mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
        )
        self.bad = bad
        self.size = _page_size(self._data[16:18])
        wal = path.with_name(f"{path.name}-wal")
        self._wal = {} if alone else _committed(wal, self.size)
        self.count = max(len(self._data) // self.size, max(self._wal, default=0))
        self.broken = 0
        """Rows that were found and could not be read."""
        self._free = self._free_pages()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        if isinstance(self._data, mmap.mmap):
            self._data.close()
        self._file.close()

    def cells(self) -> Iterator[Cell]:
        """Yield every row and index entry that can be read whole; count the others."""
        for number in range(1, self.count + 1):
            page = self._page(number)
            if page is None or number in self._free:
                continue
            head = 100 if number == 1 else 0
            kind = page[head] if len(page) > head else 0
            if kind in {TABLE, INDEX, _INDEX_ABOVE}:
                yield from self._cells_of(number, page, head)

    def _page(self, number: int) -> bytes | None:
        if number in self.bad or not 1 <= number <= self.count:
            return None
        found = self._wal.get(number)
        if found is None:
            found = self._data[(number - 1) * self.size : number * self.size]
        return found if len(found) == self.size else None

    def _cells_of(self, number: int, page: bytes, head: int) -> Iterator[Cell]:
        # Pages above the leaves have a longer head, and a page number before each cell.
        above = page[head] == _INDEX_ABOVE
        kind = TABLE if page[head] == TABLE else INDEX
        past, skip = (12, 4) if above else (8, 0)
        count = int.from_bytes(page[head + 3 : head + 5], "big")
        first = head + past
        if first + 2 * count > self.size:
            self.broken += 1
            return
        for at in struct.unpack_from(f">{count}H", page, first):
            try:
                yield self._cell(number, page, at + skip, kind)
            except (BrokenCellError, IndexError, struct.error, UnicodeDecodeError):
                self.broken += 1

    def _cell(self, number: int, page: bytes, at: int, kind: int) -> Cell:
        size, at = _varint(page, at)
        rowid = 0
        if kind == TABLE:
            rowid, at = _varint(page, at)
        payload = self._payload(page, at, size, kind)
        return Cell(number, kind, rowid, _record(payload))

    def _payload(self, page: bytes, at: int, size: int, kind: int) -> bytes:
        """Return a cell's bytes, those on its overflow pages too (format, 1.6)."""
        usable = self.size
        most = usable - 35 if kind == TABLE else (usable - 12) * 64 // 255 - 23
        if size <= most:
            return _exactly(page[at : at + size], size)
        least = (usable - 12) * 32 // 255 - 23
        here = least + (size - least) % (usable - 4)
        here = here if here <= most else least
        parts, left = [page[at : at + here]], size - here
        following = int.from_bytes(page[at + here : at + here + 4], "big")
        while left > 0:
            more = self._page(following)
            if more is None or following in self._free:
                raise BrokenCellError
            parts.append(more[4 : 4 + min(left, usable - 4)])
            left -= usable - 4
            following = int.from_bytes(more[:4], "big")
        return _exactly(b"".join(parts), size)

    def _free_pages(self) -> frozenset[int]:
        """Return the pages that are in no table: they hold rows that were moved away."""
        free: set[int] = set()
        first = self._page(1)
        trunk = int.from_bytes(first[32:36], "big") if first else 0
        while trunk and trunk not in free:
            page = self._page(trunk)
            if page is None:
                break
            count = int.from_bytes(page[4:8], "big")
            if count > self.size // 4 - 2:
                break
            free.add(trunk)
            free.update(struct.unpack_from(f">{count}I", page, 8))
            trunk = int.from_bytes(page[:4], "big")
        return frozenset(free)


def _page_size(field: bytes) -> int:
    size = int.from_bytes(field, "big")
    size = 65536 if size == 1 else size
    # Ours have SQLite's default; a header that says nonsense is itself what is broken.
    return size if size >= 512 and size & (size - 1) == 0 else 4096  # noqa: PLR2004


def _committed(path: Path, page_size: int) -> dict[int, bytes]:
    """Return the pages of a ``-wal`` up to its last commit whose checksums hold."""
    try:
        data = path.read_bytes()
    except OSError:
        return {}
    if len(data) < _WAL_HEAD:
        return {}
    magic, _, size, _, salt1, salt2, *sum_ = struct.unpack_from(">8I", data)
    if magic not in _WAL_MAGIC or size != page_size:
        return {}
    order = ">" if magic & 1 else "<"
    if _checksum(data[:24], order, 0, 0) != tuple(sum_):
        return {}
    pages: dict[int, bytes] = {}
    waiting: dict[int, bytes] = {}
    one, two = sum_
    for at in range(_WAL_HEAD, len(data) - _FRAME_HEAD - size + 1, _FRAME_HEAD + size):
        number, commit, first, second, *said = struct.unpack_from(">6I", data, at)
        page = data[at + _FRAME_HEAD : at + _FRAME_HEAD + size]
        one, two = _checksum(data[at : at + 8] + page, order, one, two)
        if (first, second) != (salt1, salt2) or (one, two) != tuple(said):
            break
        waiting[number] = page
        if commit:
            pages |= waiting
            waiting = {}
    return pages


def _checksum(data: bytes, order: str, one: int, two: int) -> tuple[int, int]:
    """Return SQLite's running checksum of a WAL (format, 4.2)."""
    for first, second in struct.iter_unpack(f"{order}2I", data):
        one = (one + first + two) & 0xFFFFFFFF
        two = (two + second + one) & 0xFFFFFFFF
    return one, two


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for n in range(8):
        byte = data[at + n]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:  # noqa: PLR2004 - the highest bit says that more follows
            return value, at + n + 1
    value = value << 8 | data[at + 8]
    return value - (1 << 64) if value >> 63 else value, at + 9


def _record(payload: bytes) -> tuple[Value, ...]:
    """Read a record (format, 2.1).

    Raises:
        BrokenCellError: its parts do not fill it exactly.
    """
    end, at = _varint(payload, 0)
    kinds: list[int] = []
    while at < end:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    values: list[Value] = []
    for kind in kinds:
        value, at = _value(payload, at, kind)
        values.append(value)
    if at != len(payload) or end > len(payload):
        raise BrokenCellError
    return tuple(values)


def _value(data: bytes, at: int, kind: int) -> tuple[Value, int]:
    if kind == _NULL:
        return None, at
    if width := _WIDTHS.get(kind):
        part = _exactly(data[at : at + width], width)
        return int.from_bytes(part, "big", signed=True), at + width
    if kind == _REAL:
        return struct.unpack_from(">d", data, at)[0], at + 8
    if kind in {_ZERO, _ONE}:
        return kind - _ZERO, at
    if kind < _BLOB:
        raise BrokenCellError
    width = (kind - _BLOB) // 2
    part = _exactly(data[at : at + width], width)
    return (part.decode() if kind % 2 else part), at + width


def _exactly(part: bytes, size: int) -> bytes:
    if size < 0 or len(part) != size:
        raise BrokenCellError
    return part
