"""The plain calls: decide, undo, and look at what was decided, without any widget."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from synthnb.curation.decided_frame import (
    apply_decisions,
    decisions_frame,
    doubts,
    strange_decisions,
)
from synthnb.errors import ConfigError, FrameError
from synthnb.reviewing.gesture import Action, Records, gesture
from synthnb.reviewing.live import LiveLog, live_log
from synthnb.reviewing.where import log_folder, told_folder
from synthnb.reviewing.who import decider

if TYPE_CHECKING:
    import pandas as pd


def decide(
    df: pd.DataFrame,
    record_id: Any,
    action: Action,
    *,
    edited: Mapping[str, Any] | None = None,
    tags: Iterable[str] | str | None = None,
    stars: int | None = None,
    note: str | None = None,
    by: str | None = None,
    name: str | None = None,
    folder: str | Path | None = None,
) -> pd.DataFrame:
    """Decide on a record; the decision is on disk when this returns.

    Example::

        df = sn.decide(df, df.record_id[0], "accept")
        df = sn.decide(df, df.record_id[1], "edit", edited={"answer": "2,850 km"})
        df = sn.undo(df)

    Args:
        df: records. A frame without ``record_id`` gets ids from its rows' content.
        record_id: the record, or a list of them for one step that ``undo`` takes back
            as a whole.
        action: ``accept``, ``reject``, ``edit`` (which accepts) or ``annotate``.
        edited: column → new value.
        tags: texts; they replace the record's tags.
        stars: 1 to 5; 0 takes them away.
        note: a text; an empty one takes the note away.
        by: who decides; default ``SYNTHNB_USER``, else the system's user.
        name: the run's name, where its log lies; default: the run that ``df`` is from.
        folder: where the log lies, in place of ``name``.

    Returns:
        ``df`` with all decisions of the log: ``decision``, ``decided_by``,
        ``decided_at``, ``edited``, ``decision_tags``, ``decision_stars``,
        ``decision_note``, and the edited fields.

    Raises:
        FrameError: no such record or column; or the frame holds decisions and has lost
            the way to their log.
        ConfigError: arguments that do not go together.
        StoreError: the decision could not be saved.
    """
    who = decider(by)
    records, live = _opened(df, "decide", name, folder)
    with live.lock:
        live.sync()
        told = gesture(
            records,
            live.book,
            record_id,
            action,
            edited=edited,
            tags=tags,
            stars=stars,
            note=note,
        )
        live.append(told, by=who)
        return decided(records, live)


def undo(
    df: pd.DataFrame,
    *,
    by: str | None = None,
    name: str | None = None,
    folder: str | Path | None = None,
) -> pd.DataFrame:
    """Take back the last step of a person that still stands; as often as there are any.

    Returns:
        ``df`` with the decisions that stand then.

    Raises:
        ConfigError: nothing of theirs is left to take back.
        StoreError: it could not be saved.
    """
    who = decider(by)
    records, live = _opened(df, "undo", name, folder)
    with live.lock:
        live.sync()
        take_back(live, who)
        return decided(records, live)


def with_decisions(
    df: pd.DataFrame, *, name: str | None = None, folder: str | Path | None = None
) -> pd.DataFrame:
    """Return ``df`` with all decisions of its log, as ``decide`` does.

    Raises:
        StoreError: the log cannot be read.
    """
    records, live = _opened(df, "with_decisions", name, folder)
    with live.lock:
        live.sync()
        return decided(records, live)


def decisions(
    df: pd.DataFrame, *, name: str | None = None, folder: str | Path | None = None
) -> pd.DataFrame:
    """Return the whole log of decisions, oldest first: who, when, what.

    Returns:
        A row for each record of each step: ``step``, ``record_id``, ``action``, ``by``,
        ``at``, ``what`` (JSON) and ``standing``: whether it counts now.

    Raises:
        StoreError: the log cannot be read.
    """
    _, live = _opened(df, "decisions", name, folder)
    with live.lock:
        live.sync()
        return decisions_frame(live.book)


def decided(records: Records, live: LiveLog) -> pd.DataFrame:
    """Return the frame with the live log over it, which remembers where that lies.

    Warns where the log may be another frame's.
    """
    for doubt in doubts(records.df, live.book):
        warnings.warn(f"{doubt} ({live.path})", stacklevel=3)
    shown = apply_decisions(records.df, live.book)
    shown.attrs["run_folder"] = str(live.log.folder)
    return shown


def take_back(live: LiveLog, by: str) -> None:
    """Take back the last standing step of ``by``.

    Raises:
        ConfigError: there is none.
    """
    if live.undo(by=by) is None:
        raise nothing_left(by)


def nothing_left(by: str) -> ConfigError:
    """Return the error of an undo that has nothing to take back."""
    return ConfigError(
        f"no decision of {by} is left to take back",
        hint="Each person takes back their own; name another one with by=…",
    )


def _opened(
    df: pd.DataFrame, step: str, name: str | None, folder: str | Path | None
) -> tuple[Records, LiveLog]:
    records = Records(df, step)
    where = log_folder(records.df, records.keys, name=name, folder=folder)
    live = live_log(where)
    if told_folder(records.df, name=name, folder=folder) is None:
        _check_guess(records, live)
    return records, live


def _check_guess(records: Records, live: LiveLog) -> None:
    """Refuse to guess where decisions lie that the frame holds and our log does not.

    A frame that was merged or read from a CSV file has lost the way to its log; with an
    empty one laid over it, its decisions would be gone.
    """
    with live.lock:
        live.sync()
        strange = strange_decisions(records.df, live.book)
    if strange:
        raise FrameError(
            f"{strange:,} rows hold decisions, and the frame no longer says in which log",
            hint="Name the run that they were made in, name=… or folder=…; or to begin "
            "anew: df.drop(columns=['decision', 'decided_by', 'decided_at', 'edited'])",
        )
