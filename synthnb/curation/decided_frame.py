"""Decisions laid over a frame of records, and the log of them as a frame."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from synthnb.curation.decisions import DecisionBook, DecisionState
from synthnb.curation.identity import record_keys, text_mark
from synthnb.frames import COLUMNS, input_names, plain, require, typed
from synthnb.records import Decision, Step

if TYPE_CHECKING:
    import pandas as pd

DECIDED_COLUMNS = (
    "decision",
    "decided_by",
    "decided_at",
    "edited",
    "decision_tags",
    "decision_stars",
    "decision_note",
)
_SIGNS = frozenset({"decision", "decided_by", "decided_at", "edited"})
_DTYPES = {column.name: column.dtype for column in COLUMNS}


def apply_decisions(
    df: pd.DataFrame, steps: DecisionBook | Iterable[Step]
) -> pd.DataFrame:
    """Return ``df`` with a person's decisions, edits, tags, stars and notes in it.

    Edited fields show their new values, those of an edit that was undone their old ones
    again. Decisions on records that ``df`` does not hold are left alone: it may be a
    part of the run. A column of the frame's own that is called ``decision`` or the like,
    and comes from no review, is kept as ``input_decision``.

    Raises:
        FrameError: ``record_id`` or an edited field is not a column, or a ``record_id``
            is missing or stands twice.
    """
    book = steps if isinstance(steps, DecisionBook) else DecisionBook(steps)
    keys = record_keys(df, "apply_decisions")
    states = [book.state(key) for key in keys]
    shown = make_room(df)
    if shown is df:
        shown = df.copy()
    changed = _apply_edits(shown, book, keys)
    cells: dict[str, list[Any]] = {name: [None] * len(keys) for name in DECIDED_COLUMNS}
    for place, state in enumerate(states):
        if state is not None:
            _fill(cells, place, state, changed.get(place))
    for name in DECIDED_COLUMNS:
        shown[name] = typed(cells[name], _DTYPES[name])
    return shown


def make_room(df: pd.DataFrame) -> pd.DataFrame:
    """Return ``df`` with its own columns out of the way of those that decisions fill.

    A frame that decisions were laid over before has nothing of its own there.
    """
    names = [str(name) for name in df.columns]
    if set(names) >= _SIGNS or not set(names) & set(DECIDED_COLUMNS):
        return df
    others = [name for name in names if name not in DECIDED_COLUMNS]
    moved = input_names([*others, *(n for n in names if n in DECIDED_COLUMNS)], others)
    taken = {name: moved[name] for name in names if name in DECIDED_COLUMNS}
    return df.rename(columns=taken)


def decisions_frame(book: DecisionBook) -> pd.DataFrame:
    """Return the whole log, one row for each record of each step, oldest first.

    Returns:
        ``step``, ``record_id``, ``action``, ``by``, ``at`` (UTC), ``what`` (JSON: fields
        as ``edited`` and as they ``was``, ``tags``, ``stars``, ``note``, or the step
        that an undo ``undoes``) and ``standing``, whether it counts now. An undo never
        does by itself.
    """
    import pandas as pd

    rows = list(_log_rows(book))
    types = {
        "step": "Int64",
        "record_id": "string",
        "action": "string",
        "by": "string",
        "at": "datetime64[ns, UTC]",
        "what": "string",
        "standing": "boolean",
    }
    columns = {
        name: typed([row[place] for row in rows], dtype)
        for place, (name, dtype) in enumerate(types.items())
    }
    return pd.DataFrame(columns)


def strange_decisions(df: pd.DataFrame, book: DecisionBook) -> int:
    """Return how many rows show a decision that this log knows nothing of.

    Such a frame was reviewed elsewhere, under another name or on another machine.
    """
    if not set(map(str, df.columns)) >= _SIGNS:
        return 0
    decided = df["decision"].notna().tolist()
    keys = record_keys(df, "review")
    return sum(
        told and not book.knows(key) for told, key in zip(decided, keys, strict=True)
    )


def strange_texts(df: pd.DataFrame, book: DecisionBook) -> int:
    """Return of how many rows the decisions that stand were made on another text.

    A run that was made anew, with other prompts, gives its records the same ids.
    """
    keys = record_keys(df, "review")
    places = {key: place for place, key in enumerate(keys)}
    found = 0
    columns: dict[str, list[Any]] = {}
    for key in book.records():
        state, place = book.state(key), places.get(key)
        if state is None or place is None:
            continue
        for name in (*state.edited, *state.seen):
            # As a list: one cell of a column of texts costs pandas microseconds.
            if name not in columns and name in df.columns:
                columns[name] = df[name].tolist()
        found += any(
            _is_strange(book, state, key, name, columns[name][place])
            for name in (*state.seen, *state.edited)
            if name in columns
        )
    return found


def _is_strange(
    book: DecisionBook, state: DecisionState, key: str, name: str, value: Any
) -> bool:
    if name in state.edited and not book.has_seen(key, name, value):
        return True
    mark = state.seen.get(name)
    return mark is not None and mark != text_mark(book.original(key, name, value))


def doubts(df: pd.DataFrame, book: DecisionBook) -> list[str]:
    """Return in words why this log may not be the one of this frame."""
    found = []
    if strange := strange_decisions(df, book):
        found.append(
            f"{strange:,} rows of this frame hold decisions that are not in this log. "
            "Name the run that they were made in: review(df, name=…) or folder=…"
        )
    if others := strange_texts(df, book):
        found.append(
            f"{others:,} rows of this frame hold another text than the one that was "
            "decided on. The old decisions and edits count for it all the same: look "
            "again, or begin a new log with folder=…"
        )
    return found


def _fill(
    cells: Mapping[str, list[Any]],
    place: int,
    state: DecisionState,
    changed: list[str] | None,
) -> None:
    cells["decision"][place] = state.decision
    cells["decided_by"][place] = state.decided_by
    cells["decided_at"][place] = state.decided_at
    cells["edited"][place] = changed
    cells["decision_tags"][place] = list(state.tags) or None
    cells["decision_stars"][place] = state.stars or None
    cells["decision_note"][place] = state.note or None


def _apply_edits(
    shown: pd.DataFrame, book: DecisionBook, keys: list[str]
) -> dict[int, list[str]]:
    """Put edits in and take undone ones out; return row → fields that differ."""
    places = {key: place for place, key in enumerate(keys)}
    news: dict[str, dict[int, Any]] = {}
    changed: dict[int, list[str]] = {}
    for key in book.edited_records():
        if key not in places:
            continue
        place = places[key]
        state = book.state(key)
        edited = state.edited if state else {}
        require(shown, edited, "apply_decisions")
        for name in dict.fromkeys([*edited, *book.fields_edited(key)]):
            if name not in shown.columns:
                continue
            present = plain(shown[name].array[place])
            original = plain(book.original(key, name, present))
            new = edited.get(name, original)
            if new != present:
                news.setdefault(name, {})[place] = new
            if new != original:
                changed.setdefault(place, []).append(name)
    for name, values in news.items():
        shown[name] = _replaced(shown[name], values)
    return changed


def _replaced(column: pd.Series[Any], values: Mapping[int, Any]) -> Any:
    """Return a column with some cells new; its type stays where they fit it."""
    import numpy as np
    import pandas as pd

    if column.dtype == object:
        cells = column.to_numpy(copy=True)
        for place, value in values.items():
            cells[place] = value
        return cells
    fitting: pd.Series[Any] = pd.Series(typed(values.values(), str(column.dtype)))
    missing = [value is None for value in values.values()]
    # numpy would take a missing value among booleans for False.
    if fitting.dtype == column.dtype and fitting.isna().tolist() == missing:
        whole: Any = column.array.copy()
        whole[np.array(list(values))] = fitting.array
        return whole
    listed = column.tolist()
    for place, value in values.items():
        listed[place] = value
    return typed(listed)


def _log_rows(book: DecisionBook) -> Iterator[tuple[Any, ...]]:
    for step in book.steps:
        head, tail = (step.decided_by, step.decided_at), book.is_standing(step)
        if step.undoes is not None:
            undone = book.step(step.undoes).decisions
            record = undone[0].record_id if len(undone) == 1 else None
            what = json.dumps({"undoes": step.undoes})
            yield (step.number, record, "undo", *head, what, tail)
        for told in step.decisions:
            yield (step.number, told.record_id, told.action, *head, _what(told), tail)


def _what(told: Decision) -> str | None:
    said = {n: v for n, v in told._asdict().items() if v is not None}
    del said["record_id"], said["action"]
    return json.dumps(said, ensure_ascii=False) if said else None
