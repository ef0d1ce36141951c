"""How often an id was met, at eight bytes an id."""

from __future__ import annotations

from array import array
from bisect import bisect_left

_PARTS = 4096
_MASK = (1 << 64) - 1


class Occurrences:
    """Counts ids; a million rows of an iterator must not cost a hundred megabytes.

    Keeps a 64-bit hash of each id in one of many short sorted arrays. Two ids with the
    same hash (one in some ten million runs of a million rows) would be taken for the
    same: the second one's slot then has a number behind its id, which harms nothing.
    """

    def __init__(self) -> None:
        """Begin with no id."""
        self._parts: list[array[int] | None] = [None] * _PARTS
        self._repeated: dict[int, int] = {}

    def count(self, key: str) -> int:
        """Return how often ``key`` was met before, and remember this time."""
        value = hash(key) & _MASK
        part = self._parts[value % _PARTS]
        if part is None:
            part = self._parts[value % _PARTS] = array("Q")
        place = bisect_left(part, value)
        if place < len(part) and part[place] == value:
            before = self._repeated.get(value, 1)
            self._repeated[value] = before + 1
            return before
        part.insert(place, value)
        return 0
