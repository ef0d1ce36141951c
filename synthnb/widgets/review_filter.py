"""Which rows a review shows, and in which order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from synthnb.curation.agreement import ACCEPT, REJECT, UNDECIDED
from synthnb.errors import ConfigError
from synthnb.widgets.review_rows import Rows

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

DECISIONS = ("", "undecided", "accept", "reject", "edited", "noted")
DUPLICATES = ("", "only", "none")
SORTS = {
    "order": "as they came",
    "rating": "rating",
    "length": "length",
    "source": "source",
    "decided": "time of decision",
}
_TEXTS = ("status", "source", "chunk", "text")
_NAMED = {"status": "status", "source": "source", "chunk": "chunk_id"}


@dataclass(frozen=True, slots=True)
class Filter:
    """What is shown; an empty word means all.

    Attributes:
        decision: one of ``DECISIONS``; ``noted`` has tags, stars or a note.
        status: a status.
        rating: least and greatest rating, either of which may be ``None``.
        duplicates: one of ``DUPLICATES``.
        source: a document.
        chunk: a chunk.
        text: words, all of which stand in the fields, tags or note, in any case.
        sort: one of ``SORTS``. Rows that lack what they are sorted by come last.
        descending: whether the sort is turned around.
    """

    decision: str = ""
    status: str = ""
    rating: tuple[float | None, float | None] = (None, None)
    duplicates: str = ""
    source: str = ""
    chunk: str = ""
    text: str = ""
    sort: str = "order"
    descending: bool = False

    def changed(self, values: Mapping[str, Any]) -> Filter:
        """Return this filter with some values new.

        Raises:
            ConfigError: an unknown name, or a value that it cannot have.
        """
        unknown = sorted(set(values) - set(self.to_json()))
        if unknown:
            raise ConfigError(
                f"a review has no filter {unknown[0]!r}",
                hint=f"It has {', '.join(self.to_json())}.",
            )
        return replace(self, **{name: _checked(name, v) for name, v in values.items()})

    def to_json(self) -> dict[str, Any]:
        """Return the values as a message holds them."""
        return {**asdict(self), "rating": list(self.rating)}


def select(rows: Rows, wanted: Filter) -> Array:
    """Return the numbers of the rows that pass, in order."""
    import numpy as np

    passing = _by_decision(rows, wanted.decision)
    for name, column in _NAMED.items():
        if value := getattr(wanted, name):
            passing &= _is_named(rows, column, value)
    low, high = wanted.rating
    if low is not None:
        passing &= rows.rating >= low
    if high is not None:
        passing &= rows.rating <= high
    if wanted.duplicates:
        passing &= rows.duplicate == (wanted.duplicates == "only")
    places = np.flatnonzero(passing)
    if words := wanted.text.casefold().split():
        places = _with_words(rows, places, words)
    return _sorted(rows, places, wanted.sort, descending=wanted.descending)


def _by_decision(rows: Rows, decision: str) -> Array:
    import numpy as np

    if decision == "edited":
        return rows.edited.copy()
    if decision == "noted":
        return rows.noted.copy()
    code = {"undecided": UNDECIDED, "accept": ACCEPT, "reject": REJECT}.get(decision)
    return np.ones(rows.n, dtype=bool) if code is None else rows.decision == code


def _is_named(rows: Rows, column: str, value: str) -> Array:
    import numpy as np

    codes, names = rows.names(column)
    return np.isin(codes, [i for i, name in enumerate(names) if name == value])


def _with_words(rows: Rows, places: Array, words: list[str]) -> Array:
    import numpy as np

    haystack = rows.haystack
    noted = places[rows.noted[places]].tolist()
    found = places.tolist()
    for word in words:
        found = [place for place in found if word in haystack[place]]

    def has(place: int) -> bool:
        state = rows.state(place)
        text = "\n".join([haystack[place], *state.tags, state.note]).casefold()
        return all(word in text for word in words)

    # Tags and notes change while a person works; few rows have any.
    more = set(filter(has, noted)).difference(found)
    return np.array(sorted([*found, *more]) if more else found, dtype=places.dtype)


def _sorted(rows: Rows, places: Array, sort: str, *, descending: bool) -> Array:
    import numpy as np

    if sort == "order":
        return places[::-1] if descending else places
    key, missing = _sort_key(rows, sort)
    key, missing = key[places], missing[places]
    there = places[~missing]
    order = np.argsort(key[~missing], kind="stable")
    if descending:
        # Turned around, equal ones would be too: they stay in the frame's order.
        order = (len(there) - 1 - np.argsort(key[~missing][::-1], kind="stable"))[::-1]
    return np.concatenate([there[order], places[missing]])


def _sort_key(rows: Rows, sort: str) -> tuple[Array, Array]:
    import numpy as np

    if sort == "rating":
        return rows.rating, np.isnan(rows.rating)
    if sort == "length":
        return rows.length, np.zeros(rows.n, dtype=bool)
    if sort == "decided":
        return rows.decided_at, rows.decided_at == ""
    codes, names = rows.names("source")
    rank = np.empty(len(names), dtype=np.int64)
    rank[sorted(range(len(names)), key=names.__getitem__)] = range(len(names))
    return (rank[codes] if len(names) else codes), codes < 0


def _checked(name: str, value: Any) -> Any:
    if name == "rating":
        return _range(value)
    if name == "descending":
        return bool(value)
    value = "" if value is None else value
    if not isinstance(value, str):
        raise ConfigError(f"the filter {name} is a text, not {value!r}")
    allowed = {"decision": DECISIONS, "duplicates": DUPLICATES, "sort": tuple(SORTS)}
    if name in allowed and value not in allowed[name]:
        words = ", ".join(repr(word) for word in allowed[name])
        raise ConfigError(f"{name} cannot be {value!r}", hint=f"It is one of {words}.")
    return value


def _range(value: Any) -> tuple[float | None, float | None]:
    if value is None:
        return None, None
    try:
        low, high = (None if end is None else float(end) for end in value)
    except (TypeError, ValueError):
        raise ConfigError(
            f"the filter rating is two numbers, not {value!r}",
            hint="rating=(6, None) shows ratings from 6 up.",
        ) from None
    return low, high
