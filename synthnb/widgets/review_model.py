"""The review desk without a page: what is shown, and what is said about it.

Every operation of the page is a method here that returns plain values, so that the desk
is tried without a kernel, and used without a page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from synthnb.errors import ConfigError
from synthnb.records import Decision
from synthnb.reviewing.calls import nothing_left
from synthnb.reviewing.gesture import gesture
from synthnb.widgets.review_judge import split
from synthnb.widgets.review_reading import Answer, ReviewReading, place_or_none
from synthnb.widgets.review_text import FIELD, mended, same_text, text_of, value_of
from synthnb.widgets.review_words import step_words


class ReviewModel(ReviewReading):
    """Adds to what is shown what a person says: accept, reject, edit, annotate, undo.

    Each of these is on disk when its method returns; where it could not be saved, it
    raises and nothing has changed.
    """

    def decide(self, record_id: Any, action: str, start: int | None = None) -> Answer:
        """Accept or reject a record; on disk when this returns.

        Raises:
            ConfigError: another action.
            FrameError: no such record.
            StoreError: it could not be saved, and nothing has changed.
        """
        if action not in {"accept", "reject"}:
            raise ConfigError(
                f"{action!r} is no decision", hint="It is accept or reject."
            )
        return self._say(record_id, action, start=start)

    def edit(
        self, record_id: Any, values: Mapping[str, str], start: int | None = None
    ) -> Answer:
        """Give fields new texts, which accepts the record.

        Raises:
            ConfigError: a text that the field cannot hold, or of a field too long to be
                shown whole.
            FrameError: no such record or field.
            StoreError: it could not be saved, and nothing has changed.
        """
        with self.live.lock:
            self._try_sync()
            place = self._place(record_id)
            named = {mended(name): name for name in self._rows.fields}
            edited = {}
            for name, text in values.items():
                field = named.get(name, name)
                if self._is_new(place, field, text):
                    edited[field] = self._value(place, field, text)
            return self._say(
                record_id, "edit" if edited else "accept", start, edited=edited
            )

    def annotate(
        self,
        record_id: Any,
        *,
        tags: Iterable[str] | None = None,
        stars: int | None = None,
        note: str | None = None,
    ) -> Answer:
        """Set a record's tags, stars or note.

        Raises:
            ConfigError: a wrong value, or none.
            FrameError: no such record.
            StoreError: it could not be saved, and nothing has changed.
        """
        answer = self._say(record_id, "annotate", tags=tags, stars=stars, note=note)
        del answer["next"]
        return answer

    def bulk(self, threshold: Any) -> Answer:
        """Accept the view's undecided rows from ``threshold`` up and reject those below.

        One step: one undo takes it back.

        Raises:
            ConfigError: there are none.
            StoreError: it could not be saved, and nothing has changed.
        """
        with self.live.lock:
            self.live.sync()
            parts = split(self._rows, self.order.places, self._threshold(threshold))
            above, below = (part.tolist() for part in parts)
            told = [self._plain(place, "accept") for place in above]
            told += [self._plain(place, "reject") for place in below]
            if not told:
                raise ConfigError(
                    "no row of this view is rated and undecided",
                    hint="Clear the filters, or take back decisions.",
                )
            self.live.append(told, by=self.by)
            return {
                "state": self.state(),
                "many": len(told),
                "accepted": len(above),
                "rejected": len(below),
            }

    def _plain(self, place: int, action: Literal["accept", "reject"]) -> Decision:
        key = self._rows.key(place)
        seen = self._rows.records.seen(self.live.book, key)
        return Decision(key, action, seen=seen)

    def undo(self) -> Answer:
        """Take back the last step of this person that stands.

        Raises:
            ConfigError: nothing of theirs is left.
            StoreError: it could not be saved, and nothing has changed.
        """
        with self.live.lock:
            self.live.sync()
            step = self.live.undo(by=self.by)
            if step is None:
                raise nothing_left(self.by)
            keys = [told.record_id for told in step.decisions]
            place = next((p for k in keys if (p := self._known(k)) is not None), None)
            return {
                "state": self.state(),
                "what": step_words(step, self._rows),
                "i": None if place is None else self.order.index(place),
                "id": None if place is None else self._rows.key(place),
                "many": len(keys),
            }

    def _say(
        self,
        record_id: Any,
        action: str,
        start: int | None = None,
        **said: Any,
    ) -> Answer:
        with self.live.lock:
            self.live.sync()
            told = gesture(self.records, self.live.book, record_id, action, **said)
            self.live.append(told, by=self.by)
            place = self._place(record_id)
            at = self.order.index(place)
            return {
                "state": self.state(),
                "row": self._rows.row(place, at),
                "next": self.order.next(at if start is None else place_or_none(start)),
            }

    def _is_new(self, place: int, name: str, text: Any) -> bool:
        """Whether a text is not what the page showed.

        Raises:
            ConfigError: it is no text, or the page did not show the whole.
        """
        if not isinstance(text, str):
            raise ConfigError(f"the new text of {name} is {type(text).__name__}")
        if name not in self._rows.fields:
            self._value(place, name, text)
        whole = text_of(self._rows.shown(place, name))
        if same_text(text, whole[:FIELD]):
            return False
        if len(whole) > FIELD:
            raise ConfigError(
                f"{name} is too long to be edited here ({len(whole):,} characters)",
                hint="Edit it in a cell: sn.decide(df, record_id, 'edit', edited={…})",
            )
        return True

    def _value(self, place: int, name: str, text: str) -> Any:
        if name not in self._rows.fields:
            raise ConfigError(
                f"this review has no field {name!r}",
                hint=f"Its fields are {', '.join(self._rows.fields)}.",
            )
        dtype = str(self.records.df[name].dtype)
        return value_of(name, text, self._rows.shown(place, name), dtype)
