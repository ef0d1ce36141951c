"""Cells of a table as text that can be sent, searched and sorted."""

from __future__ import annotations

import json
import re
from typing import Any

from synthnb.frames import plain

CELL = 240
"""Characters of a cell in the grid; what is longer is read in the opened row."""
_SURROGATE = re.compile("[\ud800-\udfff]")


def cell(value: Any) -> str | None:
    """Return a value as a short line of text, ``None`` where it is missing."""
    # Of a megabyte only the beginning is looked at.
    text = value[: 4 * CELL + 1] if isinstance(value, str) else whole(value)
    if not text:
        return None
    shown = " ".join(text.split())
    return safe(shown if len(shown) <= CELL else f"{shown[: CELL - 1]}…")


def whole(value: Any) -> str | None:
    """Return a value as text, ``None`` where it is missing."""
    if isinstance(value, str):
        return str(value) or None
    value = plain(value)
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


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
