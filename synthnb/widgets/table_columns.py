"""The columns of a table: what kind each is, how wide, and which are shown at first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from synthnb.frames import require
from synthnb.records import RECORD_COLUMNS
from synthnb.widgets.table_cells import cell, safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

_SAMPLE = 200
_SHOWN = 12
_NARROW, _WIDE = 5, 32
_NAME = 28
_LABEL = 200
# Ids, offsets and what says how rather than what: there on demand.
_ASIDE = RECORD_COLUMNS - {"status"} | {
    "chunk_id",
    "start",
    "end",
    "evidence",
    "evidence_start",
    "evidence_end",
    "decided_by",
    "decided_at",
    "edited",
}
_FIRST = ("question", "answer", "status", "rating", "decision", "source", "page")


@dataclass(slots=True)
class TableColumn:
    """One column of the grid."""

    place: int
    name: str
    label: str
    """The name, short and safe to send."""
    kind: str
    """``number``, ``truth``, ``time`` or ``text``."""
    width: int
    """Characters that most of its values need."""

    def to_json(self) -> dict[str, Any]:
        """Return what a page is told of the column."""
        return {"label": self.label, "kind": self.kind, "width": self.width}


def described(df: pd.DataFrame) -> list[TableColumn]:
    """Return a frame's columns, in its order."""
    sample = df.iloc[:: max(1, len(df) // _SAMPLE)].head(_SAMPLE)
    names = [str(name) for name in df.columns]
    return [
        TableColumn(
            place=place,
            name=name,
            label=safe(name[:_LABEL]),
            kind=_kind(df.iloc[:, place]),
            width=_width(name, sample.iloc[:, place]),
        )
        for place, name in enumerate(names)
    ]


def chosen_places(df: pd.DataFrame, wanted: Sequence[str] | None) -> list[int]:
    """Return the places of the columns that are shown at first, in the order shown.

    Args:
        df: the frame.
        wanted: their names; default: what is worth reading, the ids and measurements of
            a record left out, at most a dozen; of a frame that has only such, these.

    Raises:
        FrameError: a wanted column is not there.
    """
    names = [str(name) for name in df.columns]
    if wanted is not None:
        listed = [wanted] if isinstance(wanted, str) else list(map(str, wanted))
        require(df, listed, "table")
        return [names.index(name) for name in dict.fromkeys(listed)]
    good = [
        place
        for place, name in enumerate(names)
        if name not in _ASIDE and df.iloc[:, place].notna().any()
    ]
    rank = {name: place for place, name in enumerate(_FIRST)}
    good.sort(key=lambda place: rank.get(names[place], len(rank)))
    return good[:_SHOWN] or list(range(len(names)))[:_SHOWN]


_INFERRED = {
    "integer": "number",
    "floating": "number",
    "mixed-integer-float": "number",
    "boolean": "truth",
    "datetime": "time",
    "date": "time",
}


def _kind(column: pd.Series[Any]) -> str:
    import pandas as pd

    if pd.api.types.is_bool_dtype(column):
        return "truth"
    if pd.api.types.is_datetime64_any_dtype(column):
        return "time"
    if pd.api.types.is_numeric_dtype(column) and column.dtype.kind != "c":
        return "number"
    if column.dtype == object:
        found = pd.api.types.infer_dtype(column, skipna=True)
        return _INFERRED.get(found, "text")
    return "text"


def _width(name: str, sample: pd.Series[Any]) -> int:
    """Return a width that nine of ten values fit into, within reason."""
    cells = (cell(value) for value in sample.tolist())
    lengths = sorted(len(text) for text in cells if text is not None)
    typical = lengths[int(0.9 * (len(lengths) - 1))] if lengths else 0
    return max(_NARROW, min(typical, _WIDE), min(len(name) + 3, _NAME))
