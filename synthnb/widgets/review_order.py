"""The view of a review: which rows are shown in which order, and where one is in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from synthnb.curation.agreement import UNDECIDED
from synthnb.errors import ConfigError
from synthnb.widgets.review_filter import Filter, select
from synthnb.widgets.review_rows import Rows

if TYPE_CHECKING:
    import numpy as np


class Order:
    """The rows that pass a filter, sorted, as they were when the filter was last set.

    A decision does not take its row out: nothing jumps while a person works.

    Attributes:
        filter: what is shown.
        places: the rows' numbers in the frame, in the view's order.
        version: grows each time the filter is looked at.
    """

    def __init__(self, rows: Rows) -> None:
        """Begin with all rows as they came."""
        self._rows = rows
        self.version = 0
        self.filter = Filter()
        self._look()

    def change(self, values: Mapping[str, Any]) -> None:
        """Change some of what is shown, and look again which rows that are.

        Raises:
            ConfigError: an unknown name or a value that it cannot have.
        """
        self.filter = self.filter.changed(values)
        self._look()

    def _look(self) -> None:
        import numpy as np

        self.places: np.ndarray[Any, Any] = select(self._rows, self.filter)
        self._indices = np.full(self._rows.n, -1, dtype=np.int64)
        self._indices[self.places] = np.arange(len(self.places))
        self.version += 1

    def __len__(self) -> int:
        return len(self.places)

    def index(self, place: int) -> int | None:
        """Return where a row of the frame is in the view; ``None`` if it is not."""
        index = int(self._indices[place])
        return index if index >= 0 else None

    def at(self, i: int) -> int:
        """Return which row of the frame is shown at ``i``.

        Raises:
            ConfigError: the view has no such place.
        """
        if not 0 <= i < len(self):
            raise ConfigError(
                f"there is no row {i + 1:,} in this view, which has {len(self):,}",
                hint="Clear the filters to see all rows.",
            )
        return int(self.places[i])

    def next(self, start: int | None = None, *, back: bool = False) -> int | None:
        """Return the next undecided place after ``start``, round the end if need be.

        Args:
            start: where to begin; default: before the first place.
            back: whether to look before ``start`` instead.
        """
        import numpy as np

        todo = np.flatnonzero(self._rows.decision[self.places] == UNDECIDED)
        if not len(todo):
            return None
        if back:
            start = len(self) if start is None else start
            return int(todo[np.searchsorted(todo, start) - 1])
        start = -1 if start is None else start
        return int(todo[np.searchsorted(todo, start, side="right") % len(todo)])

    def selected(self, current: int | None) -> int | None:
        """Return where to stand: at the row looked at last, else where to go on."""
        if current is not None and (at := self.index(current)) is not None:
            return at
        if (at := self.next()) is not None:
            return at
        return 0 if len(self) else None
