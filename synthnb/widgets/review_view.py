"""The page's half of a review: each operation is the model's method of that name."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from synthnb.errors import ConfigError
from synthnb.widgets.channel import Message, View
from synthnb.widgets.review_model import ReviewModel


class ReviewView(View, module="review"):
    """Shows a review model; every page that shows it hears of each change."""

    def __init__(self, model: ReviewModel) -> None:
        """Show ``model``."""
        super().__init__()
        self._model = model
        model.changed = _announcer(weakref.ref(self))

    def on_open(self, _message: Message) -> Message:
        """Begin."""
        return self._model.open()

    def on_rows(self, message: Message) -> Message:
        """Hand over a page of the list."""
        return self._model.rows(message.get("start", 0), message.get("end", 0))

    def on_record(self, message: Message) -> Message:
        """Hand over one record."""
        looked_at = message.get("at")
        return self._model.record(message.get("i"), message.get("id"), looked_at)

    def on_decide(self, message: Message) -> Message:
        """Accept or reject."""
        action = str(message.get("action"))
        return self._model.decide(message.get("id"), action, message.get("from"))

    def on_edit(self, message: Message) -> Message:
        """Save an edit."""
        values = message.get("values")
        if not isinstance(values, dict):
            raise ConfigError("an edit needs the new values")
        return self._model.edit(message.get("id"), values, message.get("from"))

    def on_annotate(self, message: Message) -> Message:
        """Set tags, stars or a note."""
        said = {n: message[n] for n in ("tags", "stars", "note") if n in message}
        return self._model.annotate(message.get("id"), **said)

    def on_undo(self, _message: Message) -> Message:
        """Take back the last step."""
        return self._model.undo()

    def on_next(self, message: Message) -> Message:
        """Find the next undecided row."""
        back = message.get("back") is True
        return self._model.next(message.get("from"), back=back)

    def on_filter(self, message: Message) -> Message:
        """Change what is shown."""
        known = self._model.order.filter.to_json()
        return self._model.set_filter({n: message[n] for n in known if n in message})

    def on_judge(self, message: Message) -> Message:
        """Compare the judge with the person."""
        return self._model.judge(message.get("threshold"))

    def on_bulk(self, message: Message) -> Message:
        """Accept all from a threshold up, reject all below."""
        return self._model.bulk(message.get("threshold"))

    def on_sync(self, _message: Message) -> Message:
        """Take up what others wrote."""
        return self._model.sync()


def _announcer(view: weakref.ref[ReviewView]) -> Callable[[dict[str, Any]], None]:
    """Return what tells the pages of a change, and keeps no view alive."""

    def announce(content: dict[str, Any]) -> None:
        target = view()
        if target is not None:
            target.push("changed", **content)

    return announce
