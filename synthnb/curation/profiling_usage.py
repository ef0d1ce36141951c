"""What the rows cost, in tokens: each call counted once, estimates apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from synthnb.curation.profiling_columns import Columns
from synthnb.curation.profiling_lengths import distribution

if TYPE_CHECKING:
    import pandas as pd

_COUNTS = ("prompt_tokens", "completion_tokens")
_SLOT = ("step", "row_id", "sample_index")


def usage(columns: Columns, kept: int) -> dict[str, Any] | None:
    """Return the tokens of the calls behind the rows; ``None`` without token counts.

    One answer may give several rows, and each of them bears the whole call's counts; so
    rows of one slot with the same counts are one call. Calls that gave no row at all
    (retries) are not in a frame: ``run.usage`` has them.

    Returns:
        ``calls``, ``by_row`` (no slot is named: each row was taken for a call),
        ``prompt`` and ``completion`` (sums, estimates included), ``estimated``
        (``calls, prompt, completion`` of those whose counts are estimates), ``unknown``
        (calls without counts), ``per_kept_row``, and ``answers``: how the completion
        tokens of a call are spread.
    """
    calls = _calls(columns)
    if calls is None:
        return None
    frame, by_row = calls
    known = frame[frame[list(_COUNTS)].notna().any(axis=1)]
    guessed = known[known["estimated"]]
    total = {name: _sum(known, f"{name}_tokens") for name in ("prompt", "completion")}
    return {
        "calls": len(known),
        "by_row": by_row,
        **total,
        "estimated": {
            "calls": len(guessed),
            "prompt": _sum(guessed, "prompt_tokens"),
            "completion": _sum(guessed, "completion_tokens"),
        },
        "unknown": len(frame) - len(known),
        "per_kept_row": round(sum(total.values()) / kept, 1) if kept else None,
        "answers": distribution(known["completion_tokens"]),
    }


def _calls(columns: Columns) -> tuple[pd.DataFrame, bool] | None:
    import pandas as pd

    counts = {name: columns.numbers(name) for name in _COUNTS}
    estimated = columns.truths("tokens_estimated")
    if all(found is None for found in counts.values()):
        return None
    frame = pd.DataFrame(index=pd.RangeIndex(columns.rows))
    for name, found in counts.items():
        frame[name] = float("nan") if found is None else found
    frame["estimated"] = False if estimated is None else estimated
    row_ids = columns.texts("row_id")
    if row_ids is None or row_ids.isna().any():
        return frame, True
    for name in _SLOT:
        found = columns.texts(name)
        frame[name] = 0 if found is None else pd.factorize(found)[0]
    return frame.drop_duplicates(), False


def _sum(frame: pd.DataFrame, name: str) -> int:
    return int(frame[name].sum())
