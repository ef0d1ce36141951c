"""Tables of rows that the commands read: .parquet, .jsonl and .csv."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from synthnb.errors import DocumentError

if TYPE_CHECKING:
    import pandas as pd

_BLANK = b" \t\r\n\xef\xbb\xbf"
_SHOWN = 5
"""Lines that are named one by one."""
_LARGEST = 2**63  # what a column of whole numbers holds
_TEXT = ("record_id", "row_id", "chunk_id", "duplicate_of")
"""Ids are hexadecimal: in a .csv file some look like numbers and must not become one."""


def load_table(path: Path) -> pd.DataFrame:
    """Read rows from a .parquet, .jsonl or .csv file.

    Raises:
        DocumentError: there is no such file, or it is no table.
    """
    import pandas as pd

    readers: dict[str, Any] = {
        ".parquet": pd.read_parquet,
        ".jsonl": _read_jsonl,
        ".csv": _read_csv,
    }
    reader = readers.get(path.suffix.lower())
    if reader is None:
        msg = f"{path} is no table that can be read"
        raise DocumentError(msg, hint=f"Give a file that ends in {', '.join(readers)}.")
    if not path.is_file():
        msg = f"there is no file {path}"
        raise DocumentError(
            msg, hint="Check the name; `synthnb read … --out` makes one."
        )
    try:
        frame: pd.DataFrame = reader(path)
    except UnicodeDecodeError as error:
        msg = f"{path} cannot be read: it is not UTF-8"
        raise DocumentError(
            msg, hint="Save it as UTF-8 (Excel: CSV UTF-8), or convert it to .jsonl."
        ) from error
    except (ValueError, OSError) as error:
        msg = f"{path} cannot be read: {error}"
        raise DocumentError(
            msg, hint="Mend it or make it again; .parquet, .jsonl and .csv are read."
        ) from error
    return frame


def _read_jsonl(path: Path) -> pd.DataFrame:
    """Read JSON lines as they are; what is no row is left out and told.

    A file that a full disk or a kill has torn gives the rows that are whole. pandas makes a
    time of what stands in a column named "date", and 1.0 of a 1 beside a null.
    """
    import pandas as pd

    rows: list[dict[str, Any]] = []
    bad: dict[int, str] = {}
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip(_BLANK):
                continue
            try:
                rows.append(_row(line))
            except ValueError as error:
                bad[number] = f"line {number} is {error}"
    if bad and not rows:
        raise ValueError(next(iter(bad.values())))
    if bad:
        warnings.warn(_left_out(path, bad, len(rows)), stacklevel=2)
    frame = pd.DataFrame(rows, dtype=object)
    for name in frame.columns:
        frame[name] = _as_typed(frame[name])
    return frame


def _row(line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ValueError("not UTF-8") from error
    except (ValueError, RecursionError) as error:
        msg = f"no JSON: {error}"
        raise ValueError(msg) from error
    if not isinstance(row, dict):
        raise ValueError('no JSON object, such as {"topic": "…"}')  # noqa: TRY004 - a bad file, not a bad argument
    return row


def _left_out(path: Path, bad: dict[int, str], good: int) -> str:
    told = "; ".join(list(bad.values())[:_SHOWN])
    more = f"; and {len(bad) - _SHOWN:,} more" if len(bad) > _SHOWN else ""
    lines = "1 line" if len(bad) == 1 else f"{len(bad):,} lines"
    return f"{path}: {lines} left out, {good:,} kept: {told}{more}"


def _as_typed(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column of one JSON type as the column of pandas that holds just that."""
    kinds = {type(value) for value in column if value is not None and value == value}  # noqa: PLR0124 - NaN
    if kinds == {bool}:
        return column.astype("boolean")
    if kinds == {int} and all(abs(v) < _LARGEST for v in column.dropna()):
        return column.astype("Int64")
    if kinds and kinds <= {int, float}:
        return column.astype("float64")
    return column


def _read_csv(path: Path) -> pd.DataFrame:
    """Read a .csv file so that a prompt shows what it holds.

    pandas makes 501 of a postcode 00501, 1.0 of a 1 beside an empty cell, and nothing
    of the words NA and null.
    """
    import pandas as pd

    frame = pd.read_csv(path, dtype=str, keep_default_na=False, na_values=[""])
    for name in frame.columns:
        if name not in _TEXT:
            frame[name] = _as_numbers(frame[name])
    return frame


def _as_numbers(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column as numbers where each of its texts is just how one is written."""
    values = column.dropna()
    if not len(values):
        return column
    if values.isin(["True", "False"]).all():
        return column.map({"True": True, "False": False}).astype("boolean")
    if all(_is_number(value, int) for value in values):
        return column.astype("Int64")
    if all(_is_number(value, int) or _is_number(value, float) for value in values):
        return column.astype("float64")
    return column


def _is_number(text: str, kind: type[int | float]) -> bool:
    try:
        number = kind(text)
    except ValueError:
        return False
    return str(number) == text and abs(number) < _LARGEST
