"""Which columns of a frame are what a person reviews."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from synthnb.frames import COLUMNS, require

if TYPE_CHECKING:
    import pandas as pd

_FIRST = (
    "messages",
    "instruction",
    "prompt",
    "question",
    "answer",
    "completion",
    "output",
)
_CONTRACT = frozenset(column.name for column in COLUMNS)
_INPUTS = frozenset({"text", "tokens"})
_MADE_LATER = re.compile(r"input_.*|checks_.*|rating_.*|evidence_located")


def field_columns(df: pd.DataFrame, fields: Iterable[str] | None = None) -> list[str]:
    """Return the columns that were written to be trained on.

    Args:
        df: records, with string column names.
        fields: the columns that the person names.

    Returns:
        Those named, else those that the run named in ``attrs["fields"]``, else the
        recipe's by their place in the column contract (before ``status``), else every
        column that is no part of the contract and no input. Well-known ones first.

    Raises:
        FrameError: a named column is not there.
    """
    if fields is not None:
        named = [fields] if isinstance(fields, str) else list(fields)
        require(df, named, "review")
        return list(dict.fromkeys(named))
    there = [str(name) for name in df.columns]
    # A recipe may write columns of the contract too, such as the evidence's place.
    told = [n for n in df.attrs.get("fields") or () if n not in _CONTRACT]
    found = [n for n in told if n in there] or _by_place(there) or _others(there)
    if not found:
        found = ["text"] if "text" in there else [n for n in there if n != "record_id"]
    # A stable sort: fields that are not well known stay in the frame's order.
    return sorted(found, key=lambda n: _FIRST.index(n) if n in _FIRST else len(_FIRST))


def _by_place(there: list[str]) -> list[str]:
    """Return a run's fields: they stand before ``status``, its inputs behind."""
    if "status" not in there or "step" not in there:
        return []
    return [n for n in there[: there.index("status")] if n not in _CONTRACT]


def _others(there: list[str]) -> list[str]:
    return [
        name
        for name in there
        if name not in _CONTRACT
        and name not in _INPUTS
        and not _MADE_LATER.fullmatch(name)
    ]
