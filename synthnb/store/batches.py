"""Many rows in one SQL statement.

Python's sqlite3 gives the interpreter away and takes it back for each step of a
statement, and ``executemany`` makes a step for each row. Against a busy loop those hand-overs
cost the loop a quarter of its time (measured at 8,000 answers a second); a statement of 64 rows is
one step.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

_SIZES = (64, 16, 4, 1)
"""Rows of one statement: few sizes, so that each is compiled once; 64 rows of the widest
table stay below the 999 values that any SQLite takes."""
_ROW = re.compile(r"VALUES (\(\?(?:, ?\?)*\))")


def batches(
    sql: str, rows: Sequence[Sequence[Any]]
) -> Iterator[tuple[str, Sequence[Any]]]:
    """Yield statements with their values that insert the rows, in their order.

    Args:
        sql: an INSERT with one row of place-holders.
        rows: the values of each row.
    """
    at, left = 0, len(rows)
    for size in _SIZES:
        while left >= size:
            statement = sql if size == 1 else _of_rows(sql, size)
            yield statement, tuple(chain.from_iterable(rows[at : at + size]))
            at, left = at + size, left - size


@lru_cache(maxsize=64)
def _of_rows(sql: str, number: int) -> str:
    return _ROW.sub(lambda row: "VALUES " + ",".join([row[1]] * number), sql, count=1)
