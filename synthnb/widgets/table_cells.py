"""Cells of a table as text that can be sent, searched and sorted."""

from __future__ import annotations

import json
import re
from typing import Any

from synthnb.frames import plain

CELL = 240
"""Characters of a cell in the grid; what is longer is read in the opened row."""
_EXACT = 2.0**53
"""Below it a float holds every whole number."""
_FEW = 1000.0
"""From here up six figures would leave less than three decimals."""
_SURROGATE = re.compile("[\ud800-\udfff]")


def cell(value: Any) -> str | None:
    """Return a value as a short line of text, ``None`` where it is missing."""
    # Of a megabyte only the beginning is looked at.
    beginning = value[: 4 * CELL + 1] if isinstance(value, str) else value
    text = _text(beginning, rounded=True)
    if not text:
        return None
    shown = " ".join(text.split())
    return safe(shown if len(shown) <= CELL else f"{shown[: CELL - 1]}…")


def whole(value: Any) -> str | None:
    """Return a value as text, ``None`` where it is missing."""
    return _text(value, rounded=False)


def _text(value: Any, *, rounded: bool) -> str | None:
    if isinstance(value, str):
        return str(value) or None
    value = plain(value)
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return _number(value, rounded=rounded)
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def _number(value: float, *, rounded: bool) -> str:
    """Return a float as people write it.

    An id column with a missing value has become floats, and an amount has its cents:
    none of their figures may be lost to an exponent.
    """
    if abs(value) < _EXACT and value.is_integer():
        return str(int(value))
    if not rounded:
        return repr(value)
    if _FEW <= abs(value) < _EXACT:
        return f"{value:.3f}".rstrip("0").rstrip(".")
    return f"{value:.6g}"


def safe(text: str) -> str:
    """Return ``text`` as UTF-8 can hold it: a lone surrogate as its code."""
    if text.isascii():
        return text
    return _SURROGATE.sub(lambda found: f"U+{ord(found[0]):04X}", text)


def searched(value: Any) -> str:
    """Return what a search looks at: the whole text, without case."""
    if isinstance(value, str):
        return value.casefold()
    return (whole(value) or "").casefold()


def sort_key(value: Any) -> str | None:
    """Return what a text is sorted by: its beginning without case; missing = ``None``."""
    if isinstance(value, str):
        return value[:CELL].casefold() or None
    text = whole(value)
    return None if text is None else text[:CELL].casefold()
