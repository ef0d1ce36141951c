"""The judge beside the person: histogram, agreement at a threshold, what it would do."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from synthnb.curation.agreement import (
    UNDECIDED,
    best_threshold,
    compare,
    histogram,
    scale_of,
)
from synthnb.widgets.review_rows import Rows

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]


def scale(rows: Rows) -> list[float] | None:
    """Return lowest and highest rating; ``None`` where nothing is rated."""
    found = scale_of(rows.rating)
    if found is None:
        return None
    told = rows.records.df.attrs.get("rating_scale")
    if isinstance(told, list | tuple) and len(told) == 2:  # noqa: PLR2004 - a pair
        low, high = told
        if all(isinstance(end, int | float) for end in told) and low < high:
            return [float(low), float(high)]
    return list(found)


def first_threshold(rows: Rows) -> float | None:
    """Return where to begin: the best kappa's, else the middle of the scale."""
    limits = scale(rows)
    if limits is None:
        return None
    best = best_threshold(rows.rating, rows.decision, rows.edited)
    if best is not None:
        return best
    middle = (limits[0] + limits[1]) / 2
    return float(math.ceil(middle)) if limits[1] - limits[0] > 1 else middle


def judge(rows: Rows, view: Array, threshold: float) -> dict[str, Any]:
    """Return what is shown about a threshold.

    The histogram and the agreement are about all rows, ``above`` and ``below`` count
    the undecided ones of the view: those that accepting and rejecting by the threshold
    would decide.
    """
    found = compare(rows.rating, rows.decision, rows.edited, threshold)
    above, below = split(rows, view, threshold)
    return {
        "threshold": threshold,
        "bars": [
            {"lo": b.low, "hi": b.high, "n": b.n, "accepted": b.accepted}
            | {"rejected": b.rejected}
            for b in histogram(rows.rating, rows.decision, scale(rows))
        ],
        "rated": rows.n - found.unrated,
        "unrated": found.unrated,
        "decided": found.decided,
        "edited": found.edited,
        "agreement": found.agreement,
        "kappa": found.kappa,
        "precision": found.precision,
        "recall": found.recall,
        "confusion": {n: getattr(found, n) for n in ("tp", "fp", "fn", "tn")},
        "above": len(above),
        "below": len(below),
        "best": best_threshold(rows.rating, rows.decision, rows.edited),
    }


def split(rows: Rows, view: Array, threshold: float) -> tuple[Array, Array]:
    """Return the view's undecided rows at or above the threshold, and those below."""
    open_ones = view[rows.decision[view] == UNDECIDED]
    ratings = rows.rating[open_ones]
    # An unrated row is neither above nor below.
    return open_ones[ratings >= threshold], open_ones[ratings < threshold]
