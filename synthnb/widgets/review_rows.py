"""The rows of a review: a snapshot of the frame, with what was decided beside it.

Everything that is asked of all rows at once is a numpy array; a single row is put
together when somebody looks at it.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from synthnb.curation.agreement import ACCEPT, REJECT, UNDECIDED, numbers
from synthnb.curation.decisions import DecisionBook, DecisionState
from synthnb.frames import plain
from synthnb.reviewing.gesture import Records, shown
from synthnb.widgets.review_text import mended, text_of, title_of

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

_CODES = {"accept": ACCEPT, "reject": REJECT}
_WORDS = {code: word for word, code in _CODES.items()}
_NOTHING = DecisionState()


class Rows:
    """All rows of a frame under review, in the frame's order.

    Attributes:
        records: the frame.
        fields: the columns under review.
        decision: ``ACCEPT``, ``REJECT`` or ``UNDECIDED`` for each row.
        edited: whether a field of it was changed.
        noted: whether it has tags, stars or a note.
        decided_at: when it was decided on, as text; empty where it was not.
    """

    def __init__(self, records: Records, book: DecisionBook, fields: list[str]) -> None:
        """Take a frame and what stands about it."""
        import numpy as np

        self.records, self.fields, self._book = records, fields, book
        n = self.n = len(records.keys)
        self.decision: Array = np.zeros(n, dtype=np.int8)
        self.edited: Array = np.zeros(n, dtype=bool)
        self.noted: Array = np.zeros(n, dtype=bool)
        self.decided_at: Array = np.zeros(n, dtype="U32")
        self._arrays: dict[str, Any] = {}
        self._names: dict[str, tuple[Array, list[str]]] = {}
        self._haystack: list[str] | None = None
        self.update(book.records())

    def update(self, keys: Iterable[str]) -> list[int]:
        """Take what the book now says about some records; return their rows here."""
        found = [(p, key) for key in keys if (p := self._place(key)) is not None]
        places = [place for place, _ in found]
        if not places:
            return places
        states = [self._book.state(key) or _NOTHING for _, key in found]
        was_edited = self.edited[places]
        self.decision[places] = [
            _CODES.get(s.decision or "", UNDECIDED) for s in states
        ]
        self.edited[places] = [
            bool(state.edited) and self._differs(place, state)
            for place, state in zip(places, states, strict=True)
        ]
        self.noted[places] = [bool(s.tags or s.stars or s.note) for s in states]
        self.decided_at[places] = [s.decided_at or "" for s in states]
        if self._haystack is not None:
            for place, was in zip(places, was_edited.tolist(), strict=True):
                if was or self.edited[place]:
                    self._haystack[place] = self._searched(place)
        return places

    def _differs(self, place: int, state: DecisionState) -> bool:
        """Whether an edit changed a field, and no later one changed it back."""
        return any(
            value != self.original(place, name) for name, value in state.edited.items()
        )

    def _place(self, key: str) -> int | None:
        return self.records.places.get(key)

    # columns -----------------------------------------------------------------------------

    def has(self, name: str) -> bool:
        """Whether the frame has a column."""
        return name in self.records.df.columns

    def cell(self, place: int, name: str) -> Any:
        """Return a plain value; ``None`` where it, or the column, is missing."""
        array = self._arrays.get(name)
        if array is None:
            if not self.has(name):
                return None
            array = self._arrays[name] = self.records.df[name].array
        return plain(array[place])

    @cached_property
    def rating(self) -> Array:
        """The ratings as floats, NaN where there is none."""
        import numpy as np

        if not self.has("rating"):
            return np.full(self.n, np.nan)
        return numbers(self.records.df["rating"])

    @cached_property
    def duplicate(self) -> Array:
        """Whether each row repeats another."""
        import numpy as np

        if not self.has("duplicate_of"):
            return np.zeros(self.n, dtype=bool)
        return self.records.df["duplicate_of"].notna().to_numpy(dtype=bool)

    def names(self, column: str) -> tuple[Array, list[str]]:
        """Return a column of names as numbers into the list of names; -1 is missing."""
        if column not in self._names:
            self._names[column] = self._factorized(column)
        return self._names[column]

    def _factorized(self, column: str) -> tuple[Array, list[str]]:
        import numpy as np

        numbers_of: dict[str, int] = {}
        codes = np.full(self.n, -1, dtype=np.int64)
        for place, name in enumerate(self._texts(column) if self.has(column) else ()):
            if name:
                codes[place] = numbers_of.setdefault(name, len(numbers_of))
        return codes, [mended(name) for name in numbers_of]

    @cached_property
    def length(self) -> Array:
        """The characters of each row's fields, as they were before any edit."""
        import numpy as np

        total = np.zeros(self.n, dtype=np.int64)
        for name in self.fields:
            total += np.fromiter(map(len, self._texts(name)), np.int64, self.n)
        return total

    @property
    def haystack(self) -> list[str]:
        """What free text is searched in: a row's fields and id, without case."""
        if self._haystack is None:
            columns = map(self._texts, self.fields)
            parts = zip(self.records.keys, *columns, strict=True)
            self._haystack = ["\n".join(part).casefold() for part in parts]
            for key in self._book.edited_records():
                if (place := self._place(key)) is not None:
                    self._haystack[place] = self._searched(place)
        return self._haystack

    def _searched(self, place: int) -> str:
        texts = (text_of(self.shown(place, name)) for name in self.fields)
        return "\n".join([self.records.keys[place], *texts]).casefold()

    def _texts(self, name: str) -> list[str]:
        cells = self.records.df[name].tolist()
        return [c if type(c) is str else text_of(plain(c)) for c in cells]

    # one row -----------------------------------------------------------------------------

    def key(self, place: int) -> str:
        """Return a row's key."""
        return self.records.keys[place]

    def state(self, place: int) -> DecisionState:
        """Return what stands about a row."""
        return self._book.state(self.key(place)) or _NOTHING

    def shown(self, place: int, name: str) -> Any:
        """Return what a field holds, with the edits that stand."""
        return shown(self.records, self._book, self.key(place), name)

    def original(self, place: int, name: str) -> Any:
        """Return what a field held before any edit."""
        present = self.cell(place, name)
        return plain(self._book.original(self.key(place), name, present))

    def title(self, place: int) -> str:
        """Return the row's first text as one line."""
        for name in self.fields:
            if line := title_of(self.shown(place, name)):
                return line
        told = self.cell(place, "detail") or self.cell(place, "status")
        return title_of(told) or f"record {self.key(place)}"

    def word(self, place: int) -> str | None:
        """Return ``accept``, ``reject`` or ``None``."""
        return _WORDS.get(int(self.decision[place]))

    def row(self, place: int, i: int | None) -> dict[str, Any]:
        """Return what the list shows of a row; ``i`` is its place in the view."""
        import math

        rating = float(self.rating[place])
        status = self.cell(place, "status")
        return {
            "i": i,
            "id": self.key(place),
            "title": self.title(place),
            "rating": None if math.isnan(rating) else rating,
            "decision": self.word(place),
            "edited": bool(self.edited[place]),
            "duplicate": bool(self.duplicate[place]),
            "status": None if status is None else mended(str(status)),
            "stars": self.state(place).stars if self.noted[place] else 0,
        }
