"""Distributions of numbers: a few figures and a histogram with edges a person can read."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

_BINS = 16
_SINGLE = 11
"""With so few different whole numbers each has a bar of its own (ratings 0 to 10)."""


def distribution(numbers: pd.Series[Any]) -> dict[str, Any]:
    """Return how numbers are spread.

    Returns:
        ``n``, ``missing``; with any number ``min``, ``median``, ``mean``, ``p90``,
        ``max``, and ``bins``: ``{lo, hi, n}``, each from ``lo`` up to but not including
        ``hi``; a bin of one whole number has both the same.
    """
    there = numbers.dropna()
    found: dict[str, Any] = {
        "n": len(there),
        "missing": int(numbers.isna().sum()),
        "bins": [],
    }
    if there.empty:
        return found
    low, half, high, top = there.quantile([0, 0.5, 0.9, 1]).tolist()
    found |= {"min": _plain(low), "median": _plain(half), "mean": _plain(there.mean())}
    found |= {"p90": _plain(high), "max": _plain(top)}
    found["bins"] = _singles(there, low, top) or _bins(there, low, top)
    return found


def _singles(there: pd.Series[Any], low: float, top: float) -> list[dict[str, Any]]:
    """Return a bin for each whole number, empty ones between them included."""
    if top - low >= _SINGLE or not (there % 1 == 0).all():
        return []
    counted = there.value_counts()
    return [
        {"lo": value, "hi": value, "n": int(counted.get(value, 0))}
        for value in range(int(low), int(top) + 1)
    ]


def _bins(there: pd.Series[Any], low: float, top: float) -> list[dict[str, Any]]:
    import numpy as np

    width = _round_width((top - low) / _BINS)
    first = math.floor(low / width)
    count = int(math.floor(top / width) - first) + 1
    edges = [_plain((first + i) * width) for i in range(count + 1)]
    places = np.clip((there / width).apply(math.floor) - first, 0, count - 1)
    counted = np.bincount(places.astype("int64"), minlength=count)
    return [
        {"lo": lo, "hi": hi, "n": int(n)}
        for lo, hi, n in zip(edges, edges[1:], counted, strict=False)
    ]


def _round_width(width: float) -> float:
    """Return the next of 1, 2, 5 times a power of ten."""
    if width <= 0:
        return 1.0
    power: float = 10.0 ** math.floor(math.log10(width))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= width * 0.999)


def _plain(value: float) -> int | float:
    value = float(value)
    if value.is_integer() and abs(value) < 2**53:
        return int(value)
    return float(f"{value:.6g}")
