"""JSON lines: one object a row, its keys the columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

from synthnb.export.base import PROVENANCE, Options, Tally, clean, write_json
from synthnb.frames import rows_of

if TYPE_CHECKING:
    import pandas as pd


def write(df: pd.DataFrame, file: IO[bytes], options: Options, tally: Tally) -> None:
    """Write the chosen columns; without a choice the prompt and the response.

    A row that lacks its prompt or its response is left out and counted; where the
    columns are chosen every row is written, ``null`` where a value is missing.
    """
    write_json(_objects(df, options, tally), file, lines=True)


def _objects(
    df: pd.DataFrame, options: Options, tally: Tally
) -> Iterator[dict[str, Any]]:
    columns = _columns(df, options)
    needed = () if options.columns else (options.prompt, options.response)
    for row in rows_of(df):
        if any(row[name] is None for name in needed):
            tally.skipped += 1
            continue
        tally.rows += 1
        yield {clean(name, tally): clean(row[name], tally) for name in columns}


def _columns(df: pd.DataFrame, options: Options) -> list[str]:
    columns = list(options.columns or (options.prompt, options.response))
    if options.include_reasoning:
        columns.append("reasoning")
    if options.include_provenance:
        columns += [name for name in PROVENANCE if name in df.columns]
    return list(dict.fromkeys(columns))
