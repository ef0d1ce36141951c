"""The columns of any frame, read for figures: whatever stands in them, nothing raises.

A frame may come from a run, from a file, or from a person's own work: a status may be a
number, a rating a text, an id a list. What cannot be read as a figure counts as missing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from synthnb.frames import plain

if TYPE_CHECKING:
    import pandas as pd

_TRUE = ("true", "yes", "1", "1.0")
_LISTED = 50
_SURROGATE = re.compile("[\ud800-\udfff]")


class Columns:
    """A frame's columns by their names as text; of two with one name the first counts."""

    def __init__(self, df: pd.DataFrame) -> None:
        """Look at ``df``; nothing is copied."""
        self.rows = len(df)
        self.asked: dict[str, bool] = {}
        """Every column that was looked for → whether it is there."""
        self._df = df
        self._places: dict[str, int] = {}
        self._texts: dict[str, pd.Series[Any]] = {}
        self.repeated: list[str] = []
        for place, name in enumerate(_sendable(str(name)) for name in df.columns):
            if name in self._places:
                self.repeated.append(name)
            self._places.setdefault(name, place)

    @property
    def names(self) -> list[str]:
        """The columns' names, each once."""
        return list(self._places)

    def get(self, name: str) -> pd.Series[Any] | None:
        """Return a column with a fresh index, or ``None`` where there is none."""
        there = self.asked[name] = name in self._places
        if not there:
            return None
        return self._df.iloc[:, self._places[name]].reset_index(drop=True)

    def texts(self, name: str) -> pd.Series[Any] | None:
        """Return a column as strings, NA where a value is missing or empty."""
        column = self.get(name)
        if column is not None and name not in self._texts:
            self._texts[name] = as_text(column)
        return self._texts.get(name)

    def numbers(self, name: str) -> pd.Series[Any] | None:
        """Return a column as floats, NaN where a value is no finite number."""
        column = self.get(name)
        return None if column is None else as_numbers(column)

    def truths(self, name: str) -> pd.Series[Any] | None:
        """Return a column as booleans; a missing value is ``False``."""
        column = self.get(name)
        return None if column is None else as_truths(column)


def as_text(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column as Arrow strings, NA where a value is missing or empty.

    No string holds a lone surrogate: Arrow and JSON could not hold it.
    """
    import numpy as np
    import pandas as pd

    if column.dtype.kind in "iufb":
        # Numbers as ids: many rows, far fewer values, and each is turned into text once.
        codes, values = pd.factorize(column)
        names = [*map(_text, values.tolist()), None]  # the code of a missing one is -1
        cells: Any = np.array(names, dtype=object)[codes]
    elif isinstance(column.dtype, pd.StringDtype):
        cells = column.array
    else:
        cells = column.astype(object).where(column.notna(), None).to_numpy(dtype=object)
        if pd.api.types.infer_dtype(cells, skipna=True) != "string":
            listed = [None if cell is None else _text(cell) for cell in cells]
            cells = np.array(listed, dtype=object)
    texts = pd.Series(_arrow(cells))
    return texts.mask((texts == "").fillna(value=False))


def _arrow(cells: Any) -> Any:
    import numpy as np
    import pandas as pd

    try:
        return pd.array(cells, dtype="string[pyarrow]")
    except UnicodeEncodeError:
        listed = [_sendable(cell) if isinstance(cell, str) else None for cell in cells]
        return pd.array(np.array(listed, dtype=object), dtype="string[pyarrow]")


def _sendable(text: str) -> str:
    return _SURROGATE.sub(lambda found: f"U+{ord(found[0]):04X}", text)


def as_numbers(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column as floats, NaN where a value is no finite number."""
    import pandas as pd

    if column.dtype == object:
        # Lists, mappings and huge integers raise in pandas also where errors become NaN.
        column = column.map(_number).astype("float64")
    if column.dtype.kind in "mMc" or isinstance(column.dtype, pd.CategoricalDtype):
        column = as_text(column)
    found = pd.to_numeric(column, errors="coerce").astype("float64")
    return found.where(found.abs() != float("inf"))


def _number(cell: Any) -> float | None:
    if not isinstance(cell, int | float | str):
        return None
    try:
        return float(cell)
    except (ValueError, OverflowError):
        return None


def as_truths(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column as booleans; missing, "no", "false" and 0 are ``False``."""
    import pandas as pd

    if pd.api.types.is_bool_dtype(column):
        return column.fillna(value=False).astype(bool)
    if pd.api.types.is_numeric_dtype(column):
        return column.fillna(0) != 0
    return as_text(column).fillna("").str.casefold().isin(_TRUE)


def tally(cells: pd.Series[Any], *, listed: int = _LISTED) -> dict[str, Any]:
    """Count values: the commonest first, of those that are as common the first met.

    Returns:
        ``values`` (``[value, rows]`` pairs, at most ``listed``), ``others`` and
        ``other_rows`` for the rest, and ``missing``.
    """
    counted = cells.dropna().value_counts(sort=False)
    pairs = sorted(counted.items(), key=lambda pair: -pair[1])
    rest = pairs[listed:]
    return {
        "values": [[str(value), int(n)] for value, n in pairs[:listed]],
        "others": len(rest),
        "other_rows": int(sum(n for _, n in rest)),
        "missing": int(cells.isna().sum()),
    }


def _text(cell: Any) -> str:
    if isinstance(cell, str):
        return str(cell)
    if isinstance(cell, float) and cell.is_integer():
        # An id column with a missing value has become floats: "7.0" is the chunk "7".
        return str(int(cell))
    return str(plain(cell))
