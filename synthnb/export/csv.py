"""CSV (RFC 4180, UTF-8) that a spreadsheet can open without running anything in it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

from synthnb.export.base import Options, Tally, as_text, clean
from synthnb.frames import rows_of

if TYPE_CHECKING:
    import pandas as pd

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def write(df: pd.DataFrame, file: IO[bytes], options: Options, tally: Tally) -> None:
    """Write all columns (or those chosen) of all rows; a missing value is an empty cell.

    Text that a spreadsheet would take for a formula gets a ``'`` in front and is counted
    (OWASP, "CSV Injection"). Numbers stay numbers, a negative one too.
    """
    columns = options.columns or tuple(map(str, df.columns))
    for cells in _table(df, columns, tally):
        line = io.StringIO(newline="")
        csv.writer(line, lineterminator="\r\n").writerow(
            [_cell(cell, options, tally) for cell in cells]
        )
        file.write(line.getvalue().encode())


def _table(
    df: pd.DataFrame, columns: tuple[str, ...], tally: Tally
) -> Iterator[list[Any]]:
    yield [clean(name, tally) for name in columns]
    for row in rows_of(df):
        tally.rows += 1
        yield [clean(row[name], tally) for name in columns]


def _cell(value: Any, options: Options, tally: Tally) -> Any:
    if value is None or isinstance(value, int | float):
        return value
    text = as_text(value)
    if options.neutralise_formulas and text.startswith(_FORMULA_STARTS):
        tally.neutralised += 1
        return f"'{text}"
    return text
