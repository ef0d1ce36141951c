"""Which model answers: a server may come back with another one in the middle of a run."""

from __future__ import annotations

import re

_DATE = re.compile(r"[-_@:](20\d\d-?\d\d-?\d\d|\d{4}|\d\d-\d\d)$")
_ALIAS = re.compile(r"[-_:](?:latest|preview)$")
_MOST = 8


class ServedModels:
    """The models that answers named. The first one counts, whatever was asked for.

    An alias and the dated snapshot that it stands for are one model, and so are a path
    and its last part. Two snapshots are two models.

    Attributes:
        names: as answers named them, each model once, in their order; at most eight.
    """

    __slots__ = ("_known", "_last", "names")

    def __init__(self) -> None:
        """Start without any."""
        self.names: tuple[str, ...] = ()
        self._last: str | None = None
        self._known: dict[str, bool] = {}

    def is_other(self, name: str | None) -> bool:
        """Look at an answer's model; tell whether it is another one than at first."""
        if name is None or name == self._last:
            return False
        other = self._known.get(name)
        if other is None:
            other = self._meet(name)
        if not other:
            self._last = name
        return other

    def _meet(self, name: str) -> bool:
        if not self.names:
            self.names = (name,)
        other = not _is_same(self.names[0], name)
        is_new = not any(_is_same(one, name) for one in self.names)
        if is_new and len(self.names) < _MOST:
            self.names = (*self.names, name)
        if len(self._known) < _MOST * _MOST:
            self._known[name] = other
        return other


def _is_same(one: str, other: str) -> bool:
    (plain, date), (other_plain, other_date) = _parts(one), _parts(other)
    return plain == other_plain and (date == other_date or not (date and other_date))


def _parts(name: str) -> tuple[str, str]:
    """Return a name without folder and case, and its date; either may be empty."""
    last = name.rstrip("/").rpartition("/")[2].lower().removesuffix(".gguf")
    last = _ALIAS.sub("", last)
    found = _DATE.search(last)
    if found is None or not found.start():
        return last, ""
    return last[: found.start()], found[1].replace("-", "")
