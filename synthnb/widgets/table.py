"""``table(df)``: a fast read-only grid of a frame, however long it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from synthnb.errors import ConfigError
from synthnb.frames import require
from synthnb.widgets.markup import to_html
from synthnb.widgets.table_model import TableModel
from synthnb.widgets.table_static import static_block, static_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from synthnb.widgets.table_view import TableView

_LEAST, _MOST = 120, 4000


class Table:
    """A frame as it was when the table was made, with what a person chose of it.

    In a notebook it shows itself; pages of rows are fetched from the kernel when they are
    seen, and nothing of the data is saved but the first rows.
    """

    def __init__(self, model: TableModel, height: int = 400) -> None:
        """Take a model; ``table`` makes it."""
        self._model = model
        self._height = height
        self._view: TableView | None = None

    def frame(self) -> pd.DataFrame:
        """Return the rows and columns now shown: found, sorted, chosen."""
        return self._model.frame()

    def __repr__(self) -> str:
        return static_text(self._model)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        from synthnb.widgets.table_view import TableView

        if self._view is None:
            self._view = TableView(self._model, self._height)
        return {
            "text/plain": repr(self),
            "text/html": to_html(static_block(self._model)),
            "application/vnd.jupyter.widget-view+json": {
                "version_major": 2,
                "version_minor": 0,
                "model_id": self._view.model_id,
            },
        }


def table(
    df: pd.DataFrame, *, columns: Sequence[str] | None = None, height: int = 400
) -> Table:
    """Show a frame as a grid that sorts, searches and opens long texts; it edits nothing.

    Args:
        df: any frame, of any length.
        columns: what is shown at first, in this order; the others are there in the
            table's list of columns. Default: what is worth reading, the ids and
            measurements of a record left out.
        height: of the grid, in pixels.

    Raises:
        FrameError: ``df`` is no DataFrame, or a column is not there.
        ConfigError: a height that no grid has.
    """
    require(df, (), "table")
    if not _LEAST <= height <= _MOST:
        msg = f"height is {height!r}"
        raise ConfigError(msg, hint=f"Give pixels, from {_LEAST} to {_MOST:,}.")
    return Table(TableModel(df, columns), int(height))
