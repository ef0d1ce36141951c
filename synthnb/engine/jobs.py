"""From rows to jobs: each row gets a stable id, each sample of it a job."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from synthnb.engine.occurrences import Occurrences
from synthnb.errors import FrameError
from synthnb.fingerprint import row_hash
from synthnb.records import Row

_ID_COLUMNS = ("record_id", "chunk_id")


class Job(NamedTuple):
    """One slot to fill: the ``sample_index``-th answer for a row."""

    ordinal: int
    row_id: str
    sample_index: int
    row: Row


def iterate_jobs(
    rows: Iterable[Row], *, samples: int, id_column: str | None
) -> Iterator[Job]:
    """Yield jobs lazily, the samples of a row one after the other.

    ``row_id`` is the id column's value (default: ``record_id`` or ``chunk_id`` where a
    row has one), else the hash of the row's content. Equal ids get an occurrence number,
    so the same row twice is two rows, and the same two on the next run. An id that looks
    like a numbered one (``a#1``) never shares its slot with it.

    Raises:
        FrameError: a row lacks the named id column.
    """
    seen = Occurrences()
    for ordinal, row in enumerate(rows):
        base = _base_id(row, id_column)
        row_id, occurrence = base, seen.count(base)
        while occurrence:
            row_id = f"{base}#{occurrence}"
            occurrence = occurrence + 1 if seen.count(row_id) else 0
        for sample_index in range(samples):
            yield Job(ordinal, row_id, sample_index, row)


def _base_id(row: Row, id_column: str | None) -> str:
    if id_column is not None:
        value = row.get(id_column)
        if value is None or value == "":
            msg = f"a row has no value in the id column {id_column!r}"
            hint = (
                "Fill the column, or leave id_column out: rows then get ids by content."
            )
            raise FrameError(msg, hint=hint)
        return _storable(str(value))
    for name in _ID_COLUMNS:
        if row.get(name) not in {None, ""}:
            return _storable(str(row[name]))
    return row_hash(row)


def _storable(text: str) -> str:
    """Write lone surrogates as escapes: the ledger's text is UTF-8, and ids differ."""
    return text.encode("utf-8", "backslashreplace").decode()
