"""Raw text, for language modelling: one column, row after row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, TYPE_CHECKING

from synthnb.export.base import Options, Tally, as_text, clean, write_json
from synthnb.frames import rows_of

if TYPE_CHECKING:
    import pandas as pd


def write(df: pd.DataFrame, file: IO[bytes], options: Options, tally: Tally) -> None:
    """Write texts with a blank line between; ``{"text"}`` a line in a .jsonl file."""
    texts = _texts(df, options, tally)
    if options.lines:
        write_json(({"text": text} for text in texts), file, lines=True)
        return
    for number, text in enumerate(texts):
        file.write(b"\n\n" if number else b"")
        file.write(text.encode())
    if tally.rows:
        file.write(b"\n")


def _texts(df: pd.DataFrame, options: Options, tally: Tally) -> Iterator[str]:
    for row in rows_of(df):
        value = row[options.response]
        if value is None:
            tally.skipped += 1
            continue
        tally.rows += 1
        yield as_text(clean(value, tally))
