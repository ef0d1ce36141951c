"""From what a person says to decisions that the log can hold; wrong words are refused."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from synthnb.curation.decided_frame import DECIDED_COLUMNS, make_room
from synthnb.curation.decisions import DecisionBook
from synthnb.curation.identity import (
    record_key,
    record_keys,
    text_mark,
    with_record_ids,
)
from synthnb.errors import ConfigError, FrameError
from synthnb.frames import plain, require, typed
from synthnb.records import Decision
from synthnb.reviewing.fields import field_columns

if TYPE_CHECKING:
    import pandas as pd

Action: TypeAlias = Literal["accept", "reject", "edit", "annotate"]

MOST_STARS = 5
_SEEN_FIELDS = 4
_FIXED = frozenset({"record_id", "row_id", "step", "sample_index", *DECIDED_COLUMNS})


class Records:
    """A frame as decisions see it: each row under its key.

    Attributes:
        df: the frame, with string column names and a ``record_id`` in each row.
        keys: the rows' keys in order.
        places: key → row number.
    """

    def __init__(self, df: pd.DataFrame, step: str) -> None:
        """Check the frame; ``step`` is what the person called.

        Raises:
            FrameError: two columns of one name, a ``record_id`` that is missing or
                stands twice.
        """
        self.df = make_room(with_record_ids(df, step))
        self.keys = record_keys(self.df, step)
        self.places = {key: place for place, key in enumerate(self.keys)}
        # What is decided on, whatever part of it is shown: so that a decision is known
        # for what it was when a run is made anew and writes other texts under its ids.
        names = field_columns(self.df)[:_SEEN_FIELDS]
        # As lists: one cell of a column of texts costs pandas microseconds.
        self._seen = {name: self.df[name].tolist() for name in names}

    def key(self, record_id: Any) -> str:
        """Return the key of a ``record_id``.

        Raises:
            FrameError: no row has it.
        """
        key = record_key(record_id)
        if key is not None and key in self.places:
            return key
        close = difflib.get_close_matches(str(key), self.keys[:10_000], 1)
        hint = f"Did you mean {close[0]!r}? " if close else ""
        raise FrameError(
            f"no row has the record_id {record_id!r}",
            hint=f"{hint}The ids stand in the column record_id.",
        )

    def seen(self, book: DecisionBook, key: str) -> dict[str, str]:
        """Return field → mark of what the model wrote there."""
        place = self.places[key]
        return {
            name: text_mark(book.original(key, name, cells[place]))
            for name, cells in self._seen.items()
        }

    def present(self, key: str, name: str) -> Any:
        """Return what the frame shows in a field."""
        return plain(self.df[name].array[self.places[key]])


def gesture(
    records: Records,
    book: DecisionBook,
    record_ids: Any,
    action: str,
    *,
    edited: Mapping[str, Any] | None = None,
    tags: Iterable[str] | str | None = None,
    stars: int | None = None,
    note: str | None = None,
) -> list[Decision]:
    """Return the decisions of one step.

    Fields that hold the new value already are left out; an edit of nothing accepts.

    Raises:
        FrameError: no such record or field, or a value that the field cannot hold.
        ConfigError: an unknown action, or arguments that do not go together.
    """
    _check_action(action, edited)
    said = (_tags(tags), _stars(stars), _note(note))
    if action == "annotate" and said == (None, None, None):
        raise ConfigError("nothing to annotate with", hint="Give tags, stars or note.")
    keys = [records.key(one) for one in _listed(record_ids)]
    if not keys:
        raise ConfigError("no record was named", hint="Give a record_id, or several.")
    decisions = []
    for key in dict.fromkeys(keys):
        was, new = _changes(records, book, key, edited or {})
        kind: Any = "edit" if new else "accept" if action == "edit" else action
        seen = None if kind == "annotate" else records.seen(book, key)
        decisions.append(Decision(key, kind, new or None, was or None, *said, seen))
    return decisions


def shown(records: Records, book: DecisionBook, key: str, name: str) -> Any:
    """Return what a field holds with all edits that stand."""
    state = book.state(key)
    if state is not None and name in state.edited:
        return state.edited[name]
    return plain(book.original(key, name, records.present(key, name)))


def _changes(
    records: Records, book: DecisionBook, key: str, edited: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    was: dict[str, Any] = {}
    new: dict[str, Any] = {}
    require(records.df, edited, "an edit")
    for name, value in edited.items():
        if name in _FIXED:
            raise FrameError(
                f"the column {name!r} cannot be edited",
                hint="It says which record this is, or what was decided about it.",
            )
        before = shown(records, book, key, name)
        fitted = _fitted(records.df[name], value)
        if fitted != before or type(fitted) is not type(before):
            was[name], new[name] = before, fitted
    return was, new


def _fitted(column: pd.Series[Any], value: Any) -> Any:
    """Return a value as the column holds it."""
    import pandas as pd

    value = plain(value)
    if value is None or str(column.dtype) in {"object", "category"}:
        return value
    held: pd.Series[Any] = pd.Series(typed([value], str(column.dtype)))
    # To pandas every text is true.
    is_odd = column.dtype.kind == "b" and not isinstance(value, bool)
    if held.dtype != column.dtype or is_odd:
        raise FrameError(
            f"{value!r} does not fit the column {column.name!r}, which holds "
            f"{column.dtype}",
            hint="Give a value of that type, or change the column's type first.",
        )
    return plain(held.array[0])


def _check_action(action: str, edited: Mapping[str, Any] | None) -> None:
    if action not in get_args(Action):
        hint = "Actions are accept, reject, edit and annotate."
        if action == "undo":
            hint = "Take back the last decision with sn.undo(df)."
        raise ConfigError(f"{action!r} is no action", hint=hint)
    if action == "edit" and not edited:
        raise ConfigError(
            "an edit needs the new values", hint="edited={'answer': '2,850 km'}"
        )
    if edited and action in {"reject", "annotate"}:
        raise ConfigError(
            f"{action} does not go with edited values",
            hint="An edit accepts: leave them out, or make it an edit.",
        )


def _listed(record_ids: Any) -> list[Any]:
    if isinstance(record_ids, str | bytes) or not hasattr(record_ids, "__iter__"):
        return [record_ids]
    return list(record_ids)


def _tags(tags: Iterable[str] | str | None) -> tuple[str, ...] | None:
    if tags is None:
        return None
    listed = [tags] if isinstance(tags, str) else list(tags)
    if not all(isinstance(tag, str) for tag in listed):
        raise ConfigError("tags are texts", hint="tags=['geography', 'short']")
    # The column joins tags by commas, so a comma parts them here as well.
    cut = (" ".join(part.split()) for tag in listed for part in tag.split(","))
    return tuple(dict.fromkeys(filter(None, cut)))


def _stars(stars: int | None) -> int | None:
    if stars is None:
        return None
    if isinstance(stars, bool) or stars not in range(MOST_STARS + 1):
        raise ConfigError(f"stars is {stars!r}", hint="Give 1 to 5; 0 takes them away.")
    return int(stars)


def _note(note: str | None) -> str | None:
    if note is None:
        return None
    if not isinstance(note, str):
        raise ConfigError("a note is a text", hint="note='check the year'")
    return note.strip()
