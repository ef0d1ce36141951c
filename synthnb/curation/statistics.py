"""Counts of a frame, as plain values for a summary."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from synthnb.frames import rows_of

if TYPE_CHECKING:
    import pandas as pd

_COUNTED = {"by_status": "status", "by_rating": "rating", "by_decision": "decision"}


def counts(df: pd.DataFrame) -> dict[str, Any]:
    """Return how many rows there are of each kind.

    Returns:
        ``rows``; where the frame has the column ``by_status``, ``by_rating``,
        ``by_decision`` (value → rows, commonest first; a missing value is ``""``),
        ``by_check`` (name → rows that failed it, passed ones left out), ``checked``,
        ``passed``, ``duplicates``. All of it survives JSON.
    """
    rows = list(rows_of(df))
    found: dict[str, Any] = {"rows": len(rows)}
    for name, column in _COUNTED.items():
        if column in df.columns:
            found[name] = _tally("" if r[column] is None else r[column] for r in rows)
    if "checks_ok" in df.columns:
        found["checked"] = sum(row["checks_ok"] is not None for row in rows)
        found["passed"] = sum(row["checks_ok"] is True for row in rows)
        failed = (str(row.get("checks_failed") or "").split(", ") for row in rows)
        found["by_check"] = _tally(name for names in failed for name in names if name)
    if "duplicate_of" in df.columns:
        found["duplicates"] = sum(row["duplicate_of"] is not None for row in rows)
    return found


def _tally(values: Any) -> dict[str, int]:
    shown = (f"{v:g}" if isinstance(v, float) else str(v) for v in values)
    return dict(Counter(shown).most_common())
