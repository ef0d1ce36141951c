"""Judge against human: what a person's own decisions say about a rating threshold.

A person's accept is the truth, a rating of at least the threshold is the judge's accept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from synthnb.curation.profiling_columns import as_numbers
from synthnb.frames import require

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

ACCEPT, REJECT, UNDECIDED = 1, 2, 0
"""A decision as a number, for columns of 100,000 of them."""

_MOST_BARS = 20
_NICE = (1.0, 2.0, 2.5, 5.0)
_SCALES = ((0.0, 1.0), (1.0, 5.0), (1.0, 10.0), (0.0, 10.0), (0.0, 100.0))


@dataclass(frozen=True, slots=True)
class Agreement:
    """How a judge's ratings and a person's decisions go together at one threshold.

    It rests on the rows that have a rating and were accepted or rejected as they are. A
    row that the person edited is counted apart: what they accepted is their own text, the
    judge rated another.
    """

    threshold: float
    tp: int
    """Both accept."""
    fp: int
    """The judge accepts, the person rejects."""
    fn: int
    """The judge rejects, the person accepts."""
    tn: int
    """Both reject."""
    edited: int = 0
    """Rated rows left out because the person changed them."""
    undecided: int = 0
    """Rated rows that nobody decided."""
    unrated: int = 0
    """Rows without a rating."""

    @property
    def decided(self) -> int:
        """The number of rows that the figures rest on."""
        return self.tp + self.fp + self.fn + self.tn

    @property
    def agreement(self) -> float | None:
        """The share of the rows on which both say the same."""
        return _share(self.tp + self.tn, self.decided)

    @property
    def precision(self) -> float | None:
        """Of the rows that the judge accepts, the share that the person accepts."""
        return _share(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> float | None:
        """Of the rows that the person accepts, the share that the judge accepts."""
        return _share(self.tp, self.tp + self.fn)

    @property
    def kappa(self) -> float | None:
        """Agreement beyond chance: 1 is perfect, 0 is what chance would give.

        Cohen's kappa (J. Cohen, "A coefficient of agreement for nominal scales",
        Educational and Psychological Measurement 20, 1960). ``None`` where chance alone
        would agree on everything: both sides gave one and the same answer only.
        """
        n = self.decided
        by_chance = (self.tp + self.fp) * (self.tp + self.fn)
        by_chance += (self.fn + self.tn) * (self.fp + self.tn)
        if by_chance == n * n:
            return None
        return ((self.tp + self.tn) * n - by_chance) / (n * n - by_chance)

    def __repr__(self) -> str:
        """Return the figures, and the number of rows that they rest on, as one line."""
        if not self.decided:
            return f"rating ≥ {self.threshold:g}: no rated row is decided yet"
        kappa = "undefined" if self.kappa is None else f"{self.kappa:.2f}"
        parts = [f"agrees {self.agreement:.0%}", f"kappa {kappa}"]
        for name in ("precision", "recall"):
            share = getattr(self, name)
            parts.append(f"{name} {'-' if share is None else f'{share:.0%}'}")
        parts.append(f"{self.decided:,} decided")
        return f"rating ≥ {self.threshold:g}: {', '.join(parts)}"


class Bar(NamedTuple):
    """One bar of the histogram; ``low == high`` where it is one whole rating."""

    low: float
    high: float
    """Not included, but for the last bar."""
    n: int
    accepted: int
    rejected: int


def agreement(df: pd.DataFrame, threshold: float | None = None) -> Agreement:
    """Compare a frame's ratings with its decisions.

    Args:
        df: records with ``rating`` and ``decision``, e.g. from ``review(df).frame()``.
        threshold: the least rating that the judge accepts; default: the one with the
            best kappa.

    Raises:
        FrameError: a column is not there.
    """
    import numpy as np

    require(df, ["rating", "decision"], "agreement")
    ratings = numbers(df["rating"])
    words = df["decision"].tolist()
    code = {"accept": ACCEPT, "reject": REJECT}
    decisions = np.array([code.get(str(w), UNDECIDED) for w in words], dtype=np.int8)
    edited = np.zeros(len(df), dtype=bool)
    if "edited" in df.columns:
        edited = df["edited"].notna().to_numpy(dtype=bool)
    if threshold is None:
        threshold = best_threshold(ratings, decisions, edited)
    if threshold is None:
        rated = ratings[~np.isnan(ratings)]
        threshold = float(np.median(rated)) if len(rated) else 0.0
    return compare(ratings, decisions, edited, threshold)


def numbers(column: pd.Series[Any]) -> np.ndarray[Any, Any]:
    """Return a column as floats; what is no finite number is missing."""
    return as_numbers(column).to_numpy(dtype="float64")


def compare(
    ratings: np.ndarray[Any, Any],
    decisions: np.ndarray[Any, Any],
    edited: np.ndarray[Any, Any],
    threshold: float,
) -> Agreement:
    """Count the four cases at a threshold.

    Args:
        ratings: floats, NaN where there is none.
        decisions: ``ACCEPT``, ``REJECT`` or ``UNDECIDED`` for each row.
        edited: whether the person changed the row.
        threshold: the least rating that the judge accepts.
    """
    import numpy as np

    rated = ~np.isnan(ratings)
    counted = rated & (decisions != UNDECIDED) & ~edited
    high, good = ratings >= threshold, decisions == ACCEPT
    return Agreement(
        threshold,
        tp=int((counted & high & good).sum()),
        fp=int((counted & high & ~good).sum()),
        fn=int((counted & ~high & good).sum()),
        tn=int((counted & ~high & ~good).sum()),
        edited=int((rated & (decisions != UNDECIDED) & edited).sum()),
        undecided=int((rated & (decisions == UNDECIDED)).sum()),
        unrated=int((~rated).sum()),
    )


def best_threshold(
    ratings: np.ndarray[Any, Any],
    decisions: np.ndarray[Any, Any],
    edited: np.ndarray[Any, Any],
) -> float | None:
    """Return the rating with the best kappa as threshold.

    Only ratings that a decided row has are tried; of two equally good ones the higher
    is taken. ``None`` where no threshold does better than chance.
    """
    import numpy as np

    counted = ~np.isnan(ratings) & (decisions != UNDECIDED) & ~edited
    values, where = np.unique(ratings[counted], return_inverse=True)
    good = decisions[counted] == ACCEPT
    accepts = np.bincount(where, weights=good, minlength=len(values))
    rejects = np.bincount(where, weights=~good, minlength=len(values))
    # From each value up: what the judge would accept there.
    tp, fp = accepts[::-1].cumsum()[::-1], rejects[::-1].cumsum()[::-1]
    best, highest = None, 0.0
    for value, hits, misses in zip(values, tp, fp, strict=True):
        lost, refused = accepts.sum() - hits, rejects.sum() - misses
        counts = map(int, (hits, misses, lost, refused))
        kappa = Agreement(float(value), *counts).kappa
        if kappa is not None and kappa > 0 and kappa >= highest:
            best, highest = float(value), kappa
    return best


def scale_of(ratings: np.ndarray[Any, Any]) -> tuple[float, float] | None:
    """Return the scale that ratings seem to be on: a usual one that holds them all."""
    import numpy as np

    rated = ratings[~np.isnan(ratings)]
    if not len(rated):
        return None
    low, high = float(rated.min()), float(rated.max())
    for least, most in _SCALES:
        if least <= low and high <= most:
            return least, most
    return float(np.floor(low)), float(np.ceil(high))


def histogram(
    ratings: np.ndarray[Any, Any],
    decisions: np.ndarray[Any, Any],
    scale: Sequence[float] | None = None,
) -> list[Bar]:
    """Return at most 20 bars over the scale: one a value where ratings are whole.

    Args:
        ratings: floats, NaN where there is none.
        decisions: ``ACCEPT``, ``REJECT`` or ``UNDECIDED`` for each row.
        scale: lowest and highest rating; default: as the ratings seem to be.
    """
    import numpy as np

    rated = ~np.isnan(ratings)
    values, said = ratings[rated], decisions[rated]
    found = scale_of(ratings)
    if found is None:
        return []
    low, high = scale or found
    low, high = min(low, float(values.min())), max(high, float(values.max()))
    whole = bool((values == np.floor(values)).all()) and high - low < _MOST_BARS
    width = 1.0 if whole else _width(high - low)
    # A rating that is right on an edge but for a rounding error belongs above it.
    places = np.floor((values - low) / width + 1e-9).astype(np.int64)
    count = (
        round(high - low) + 1 if whole else int(np.ceil((high - low) / width - 1e-9))
    )
    places = np.minimum(places, count - 1)
    columns = [
        np.bincount(places[chosen], minlength=count).tolist()
        for chosen in (said >= UNDECIDED, said == ACCEPT, said == REJECT)
    ]
    edges = [round(low + i * width, 9) for i in range(count + 1)]
    ends = edges[:-1] if whole else edges[1:]
    return [Bar(*row) for row in zip(edges[:-1], ends, *columns, strict=True)]


def _width(span: float) -> float:
    """Return the least nice width that gives at most ``_MOST_BARS`` bars."""
    import math

    if span <= 0:
        return 1.0
    least = span / _MOST_BARS
    power = 10.0 ** math.floor(math.log10(least))
    steps = (nice * power * more for more in (1, 10) for nice in _NICE)
    return next(step for step in steps if span / step <= _MOST_BARS + 1e-9)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
