"""What a step of a review is called: "accept of “What is the length…”"."""

from __future__ import annotations

from collections import Counter

from synthnb.records import Step
from synthnb.widgets.review_rows import Rows

_TITLE = 60


def step_words(step: Step, rows: Rows) -> str:
    """Return a step in words."""
    if len(step.decisions) == 1:
        (told,) = step.decisions
        place = rows.records.places.get(told.record_id)
        if place is None:
            return f"{_noun(told.action)} of a row that is not in this frame"
        title = rows.title(place)
        title = title if len(title) <= _TITLE else f"{title[: _TITLE - 1]}…"
        return f"{_noun(told.action)} of “{title}”"
    counts = Counter(told.action for told in step.decisions)
    parts = [f"{_noun(action)} of {n:,}" for action, n in counts.items()]
    return f"{', '.join(parts)} rows"


def _noun(action: str) -> str:
    return "note" if action == "annotate" else action
