"""A person's decisions: an append-only log, replayed over the records.

Nothing is edited in place. What a person sees is the records with the log replayed over
them; the model's own words stay in the ledger, and undo is one more entry of the log.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from synthnb.frames import require, rows_of, typed
from synthnb.records import Decision

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class DecisionState:
    """What the log says about one record, in the end."""

    decision: str
    """``accept`` or ``reject``. Whoever edits a record wants it: an edit accepts."""
    decided_by: str
    decided_at: str
    edited: Mapping[str, Any] = field(default_factory=dict)
    """Field → its new value; later edits of a field win."""


def replay(decisions: Iterable[Decision]) -> dict[str, DecisionState]:
    """Return record_id → state after all decisions, oldest first.

    An ``undo`` takes back the record's last decision that still stands; as many may
    follow one another as there are decisions, and one more does nothing.
    """
    standing: dict[str, list[Decision]] = {}
    for decision in decisions:
        log = standing.setdefault(decision.record_id, [])
        if decision.action != "undo":
            log.append(decision)
        elif log:
            log.pop()
    return {record: _state(log) for record, log in standing.items() if log}


def apply_decisions(df: pd.DataFrame, decisions: Iterable[Decision]) -> pd.DataFrame:
    """Return ``df`` with the columns decision, decided_by, decided_at and edited.

    Edited fields show their new values. Decisions on records that ``df`` does not hold
    are left alone: it may be a part of the run.

    Raises:
        FrameError: ``record_id`` or an edited field is not a column.
    """
    require(df, ["record_id"], "apply_decisions")
    ids = [row["record_id"] for row in rows_of(df[["record_id"]])]
    replayed = replay(decisions)
    states = [replayed.get(record) for record in ids]
    shown = df.copy()
    edits = dict.fromkeys(n for state in states if state for n in state.edited)
    require(df, edits, "apply_decisions")
    for name in edits:
        old = [row[name] for row in rows_of(df[[name]])]
        new = [
            s.edited.get(name, o) if s else o for s, o in zip(states, old, strict=True)
        ]
        shown[name] = typed(new, str(df[name].dtype))
    for name in ("decision", "decided_by", "decided_at", "edited"):
        values = [None if s is None else _shown(s, name) for s in states]
        shown[name] = typed(values, _DTYPES.get(name, "string"))
    return shown


_DTYPES = {"decided_at": "datetime64[ns, UTC]"}


def _shown(state: DecisionState, name: str) -> Any:
    return (list(state.edited) or None) if name == "edited" else getattr(state, name)


def _state(log: list[Decision]) -> DecisionState:
    last = log[-1]
    edited: dict[str, Any] = {}
    for decision in log:
        edited |= decision.edited
    action = "accept" if last.action == "edit" else last.action
    return DecisionState(action, last.decided_by, last.decided_at, edited)
