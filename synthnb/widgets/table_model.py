"""What a table shows of a frame: columns, order, search, and cells made safe to send.

Plain Python: the view above it only carries messages. A cell crosses as a short text;
the whole of it is sent for the one row that a person opens.
"""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

from synthnb.curation.profiling_columns import as_numbers
from synthnb.errors import ConfigError
from synthnb.frames import plain
from synthnb.widgets.table_cells import cell, safe, searched, sort_key, whole
from synthnb.widgets.table_columns import TableColumn, chosen_places, described

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import pandas as pd

WHOLE = 20_000
"""Characters of a value in the opened row."""
_PAGE = 500


class TableModel:
    """A frame under a choice of columns, an order and a search.

    ``version`` grows whenever the rows or their order change: what a page fetched before
    is then of no use. Questions may come from several threads.
    """

    def __init__(self, df: pd.DataFrame, columns: Sequence[str] | None = None) -> None:
        """Take a frame as it is now.

        Raises:
            FrameError: a wanted column is not there.
        """
        import numpy as np
        import pandas as pd

        # From pandas 3 on a shallow copy is safe and free: later changes do not reach it.
        self._df = df.copy(deep=int(pd.__version__.split(".")[0]) < 3)  # noqa: PLR2004
        self.columns: list[TableColumn] = described(self._df)
        self.chosen = chosen_places(self._df, columns)
        """The places of the shown columns, in the order shown."""
        self.total = len(df)
        self.version = 0
        self.text = ""
        self.sort: int | None = None
        self.descending = False
        self._all = np.arange(self.total)
        self._order = self._found = self._all
        self._lock = threading.RLock()

    # what is shown ----------------------------------------------------------------------

    @property
    def matching(self) -> int:
        """How many rows the search leaves."""
        return len(self._found)

    def state(self) -> dict[str, Any]:
        """Return all that a page needs to draw the grid, but for its rows."""
        with self._lock:
            return {
                "version": self.version,
                "total": self.total,
                "matching": self.matching,
                "columns": [column.to_json() for column in self.columns],
                "chosen": self.chosen,
                "sort": self.sort,
                "descending": self.descending,
                "text": safe(self.text),
                "searched": len(self._texts()),
            }

    def rows(self, start: int, end: int) -> list[list[str | None]]:
        """Return the shown cells of some rows; ``None`` where a value is missing."""
        with self._lock:
            start = max(start, 0)
            places = self._found[start : min(end, start + _PAGE)]
            block = self._df.iloc[places]
            cells = [
                [cell(v) for v in block.iloc[:, at].tolist()] for at in self.chosen
            ]
            return [list(row) for row in zip(*cells, strict=True)] or [[]] * len(places)

    def row(self, index: int) -> dict[str, Any]:
        """Return one row whole: the shown columns, then all others.

        Raises:
            ConfigError: there is no such row in what is shown.
        """
        with self._lock:
            place = self._place(index)
            fields = []
            order = dict.fromkeys([*self.chosen, *range(len(self.columns))])
            for column in (self.columns[at] for at in order):
                text = whole(self._df.iloc[place, column.place])
                cut = max(0, len(text or "") - WHOLE)
                shown = None if text is None else safe(text[:WHOLE])
                field = {"name": column.label, "kind": column.kind, "text": shown}
                fields.append({**field, "cut": cut})
            return {"i": index, "row": place, "fields": fields}

    def as_json(self, index: int) -> str:
        """Return one row as JSON, nothing cut.

        Raises:
            ConfigError: there is no such row in what is shown.
        """
        with self._lock:
            place = self._place(index)
            values = {
                c.name: plain(self._df.iloc[place, c.place]) for c in self.columns
            }
        return safe(json.dumps(values, ensure_ascii=False, indent=2, default=str))

    def frame(self) -> pd.DataFrame:
        """Return the rows and columns now shown, in the order shown."""
        with self._lock:
            return self._df.iloc[self._found, self.chosen]

    # what a person does -----------------------------------------------------------------

    def sort_by(self, place: int | None, *, descending: bool = False) -> None:
        """Sort by a column; ``None`` = the frame's own order. Missing values come last.

        Raises:
            ConfigError: there is no such column.
        """
        with self._lock:
            self._order = (
                self._all if place is None else self._sorted(place, descending)
            )
            self.sort, self.descending = place, descending and place is not None
            self._filter()

    def search(self, text: str) -> None:
        """Leave only the rows where a shown text column holds ``text``, in any case."""
        with self._lock:
            self.text = text
            self._filter()

    def choose(self, places: Sequence[int]) -> None:
        """Show these columns in this order; a search is then made in them.

        Raises:
            ConfigError: none is left.
        """
        with self._lock:
            wanted = [at for at in dict.fromkeys(places) if 0 <= at < len(self.columns)]
            if not wanted:
                raise ConfigError("no column is left", hint="Keep at least one.")
            self.chosen = wanted
            self._filter()

    def _texts(self) -> list[int]:
        """Return the columns that are searched: of the shown ones those with text."""
        return [at for at in self.chosen if self.columns[at].kind == "text"]

    def _filter(self) -> None:
        self.version += 1
        self._found = self._order
        if not self.text:
            return
        keep = self._matches(self.text.casefold())
        self._found = self._order[keep[self._order]]

    def _matches(self, needle: str) -> np.ndarray[Any, Any]:
        import numpy as np

        found = np.zeros(self.total, dtype=bool)
        for at in self._texts():
            texts = self._df.iloc[:, at].tolist()
            hits = (needle in searched(text) for text in texts)
            found |= np.fromiter(hits, dtype=bool, count=self.total)
        return found

    def _sorted(self, place: int, descending: bool) -> np.ndarray[Any, Any]:
        if not 0 <= place < len(self.columns):
            raise ConfigError(
                f"there is no column {place}", hint="Open the table again."
            )
        column = self._df.iloc[:, place].reset_index(drop=True)
        if _is_ordered(column):
            # As they are: as floats, whole numbers from 2**53 up would be equal.
            keys = column
        elif self.columns[place].kind in {"number", "truth"}:
            keys = as_numbers(column)
        else:
            return _by_text(column.tolist(), descending)
        ordered = keys.sort_values(
            ascending=not descending, kind="stable", na_position="last"
        )
        return ordered.index.to_numpy()

    def _place(self, index: int) -> int:
        if not 0 <= index < self.matching:
            raise ConfigError(
                f"there is no row {index + 1:,} in the table as it is now"
            )
        return int(self._found[index])


def _is_ordered(column: pd.Series[Any]) -> bool:
    """Whether pandas itself knows the order of a column's values."""
    import pandas as pd

    types = pd.api.types
    return (
        types.is_datetime64_any_dtype(column)
        or types.is_timedelta64_dtype(column)
        or (types.is_numeric_dtype(column) and column.dtype.kind in "iuf")
    )


def _by_text(values: list[Any], descending: bool) -> np.ndarray[Any, Any]:
    """Sort by text; Python's own sort is twice as fast on strings as pandas'."""
    import numpy as np

    keys = [sort_key(value) for value in values]
    there = [place for place, key in enumerate(keys) if key is not None]
    gone = [place for place, key in enumerate(keys) if key is None]
    there.sort(key=keys.__getitem__, reverse=descending)  # type: ignore[arg-type]
    return np.array(there + gone, dtype=np.intp)
