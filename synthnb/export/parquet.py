"""Parquet: all columns with their types, as pandas and ``datasets`` read them."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from synthnb.errors import ExportError
from synthnb.export.base import Options, Tally, clean
from synthnb.frames import typed

if TYPE_CHECKING:
    import pandas as pd


def write(df: pd.DataFrame, file: IO[bytes], options: Options, tally: Tally) -> None:
    """Write all columns (or those chosen) of all rows.

    Raises:
        ExportError: a column that mixes kinds of values (text and numbers, say).
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    chosen = df if options.columns is None else df[list(options.columns)]
    table = chosen.reset_index(drop=True)
    table.attrs = {}  # pandas would write them into the file's metadata
    table.columns = [clean(str(name), tally) for name in table.columns]
    for name in table.columns:
        if table[name].dtype == object or str(table[name].dtype) in {"string", "str"}:
            table[name] = _clean_column(table[name], tally)
    try:
        arrow = pa.Table.from_pandas(table, preserve_index=False)
    except (pa.ArrowException, TypeError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise ExportError(
            f"parquet needs one type for each column: {reason}",
            hint="Make the column one type: df[name] = df[name].astype('string').",
        ) from error
    pq.write_table(arrow, file, compression="zstd")
    tally.rows = len(table)


def _clean_column(column: pd.Series[Any], tally: Tally) -> Any:
    """Clean text; dates, decimals and arrays of an object column stay what they are."""
    import pandas as pd

    text = (str, list, dict)
    cells = [clean(c, tally) if isinstance(c, text) else c for c in column]
    if column.dtype != object:
        return typed(cells, "string")
    return pd.Series(cells, dtype=object)
