"""A person's decisions: an append-only log of steps, replayed over the records.

Nothing is edited in place. What a person sees is the records with the log replayed over
them; the model's own words stay in the ledger, and an undo is one more step of the log.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from synthnb.frames import plain
from synthnb.records import Decision, Step


@dataclass(frozen=True, slots=True)
class DecisionState:
    """What the log says about one record, in the end."""

    decision: str | None = None
    """``accept`` or ``reject``. Whoever edits a record wants it: an edit accepts."""
    decided_by: str | None = None
    decided_at: str | None = None
    edited: Mapping[str, Any] = field(default_factory=dict)
    """Field → its new value; later edits of a field win."""
    tags: tuple[str, ...] = ()
    stars: int = 0
    """1 to 5; 0 is none."""
    note: str = ""
    seen: Mapping[str, str] = field(default_factory=dict)
    """Field → mark of the text that was decided on."""


class DecisionBook:
    """The log as it stands, brought up to date step by step.

    Later decisions win, whoever made them; an undone step counts as if it had never
    been made. So undoing one's own decision brings back what a colleague said before.
    """

    def __init__(self, steps: Iterable[Step] = ()) -> None:
        """Replay ``steps``, oldest first."""
        self.steps: list[Step] = []
        self._by_number: dict[int, Step] = {}
        self._undone: set[int] = set()
        self._standing: dict[str, list[tuple[Step, Decision]]] = {}
        self._of_person: dict[str, list[Step]] = {}
        self._edits: dict[str, list[Decision]] = {}
        self._known: set[str] = set()
        self.feed(steps)

    @property
    def last(self) -> int:
        """The number of the newest step; 0 where there is none."""
        return self.steps[-1].number if self.steps else 0

    def feed(self, steps: Iterable[Step]) -> set[str]:
        """Take the steps that came after the last ones.

        Returns:
            The keys of the records that they are about.
        """
        touched: set[str] = set()
        for step in steps:
            self.steps.append(step)
            self._by_number[step.number] = step
            if step.undoes is None:
                self._stand(step)
                touched.update(told.record_id for told in step.decisions)
            else:
                touched.update(self._take_back(step.undoes))
        return touched

    def _stand(self, step: Step) -> None:
        self._of_person.setdefault(step.decided_by, []).append(step)
        for told in step.decisions:
            self._known.add(told.record_id)
            self._standing.setdefault(told.record_id, []).append((step, told))
            if told.edited:
                self._edits.setdefault(told.record_id, []).append(told)

    def _take_back(self, number: int) -> Iterator[str]:
        step = self._by_number.get(number)
        if step is None or step.undoes is not None or number in self._undone:
            return
        self._undone.add(number)
        self._of_person[step.decided_by].remove(step)
        for told in step.decisions:
            log = self._standing[told.record_id]
            log[:] = [entry for entry in log if entry[0] is not step]
            if not log:
                del self._standing[told.record_id]
            yield told.record_id

    def step(self, number: int) -> Step:
        """Return a step by its number."""
        return self._by_number[number]

    def is_standing(self, step: Step) -> bool:
        """Whether the step counts: it was not taken back and is no undo itself."""
        return step.undoes is None and step.number not in self._undone

    def last_standing(self, by: str) -> Step | None:
        """Return the step that an undo of this person would take back."""
        steps = self._of_person.get(by)
        return steps[-1] if steps else None

    def records(self) -> Iterable[str]:
        """Return the keys of the records about which something stands."""
        return self._standing.keys()

    def knows(self, key: str) -> bool:
        """Whether anything was ever said about a record, undone steps included."""
        return key in self._known

    def edited_records(self) -> Iterable[str]:
        """Return the keys of the records that were ever edited, undone edits included."""
        return self._edits.keys()

    def fields_edited(self, key: str) -> Iterable[str]:
        """Return the fields of a record that were ever edited."""
        return dict.fromkeys(
            n for t in self._edits.get(key, ()) for n in t.edited or ()
        )

    def state(self, key: str) -> DecisionState | None:
        """Return what stands about a record; ``None`` where nothing does."""
        log = self._standing.get(key)
        return _state(log) if log else None

    def has_seen(self, key: str, name: str, present: Any) -> bool:
        """Whether an edited field's value is one that an edit found, or made."""
        edits = [
            told for told in self._edits.get(key, ()) if name in (told.edited or ())
        ]
        values = [t.edited[name] for t in edits if t.edited is not None]
        values += [t.was[name] for t in edits if t.was is not None and name in t.was]
        return not edits or plain(present) in values

    def original(self, key: str, name: str, present: Any) -> Any:
        """Return what a field held before anybody edited it.

        Args:
            key: the record's key.
            name: the field.
            present: what a frame shows there now: the original, or one of the edits,
                where the frame came out of an earlier review.
        """
        if key not in self._edits:
            return present
        edits = [told for told in self._edits[key] if name in (told.edited or ())]
        shown = plain(present)
        for told in edits:
            if told.edited is not None and told.edited[name] == shown:
                return (edits[0].was or {}).get(name, present)
        return present


_PLAIN = (None,) * 5
_SEEN = Decision._fields.index("seen")


def replay(steps: Iterable[Step]) -> dict[str, DecisionState]:
    """Return the state of each record about which something stands after ``steps``."""
    book = DecisionBook(steps)
    states = ((key, book.state(key)) for key in book.records())
    return {key: state for key, state in states if state is not None}


def _state(log: list[tuple[Step, Decision]]) -> DecisionState:
    seen: Mapping[str, str] = {}
    step, told = log[0]
    if len(log) == 1 and told[2:_SEEN] == _PLAIN and told.action != "annotate":
        # Nearly every record of a large log: said once, and nothing beside it.
        seen = told.seen or seen
        return DecisionState(told.action, step.decided_by, step.decided_at, seen=seen)
    edited: dict[str, Any] = {}
    tags: tuple[str, ...] = ()
    decision = by = at = None
    stars, note = 0, ""
    for step, told in log:
        if told.action != "annotate":
            decision = "accept" if told.action == "edit" else told.action
            by, at = step.decided_by, step.decided_at
            seen = told.seen or {}
        edited |= told.edited or {}
        tags = tags if told.tags is None else told.tags
        stars = stars if told.stars is None else told.stars
        note = note if told.note is None else told.note
    return DecisionState(decision, by, at, edited, tags, stars, note, seen)
