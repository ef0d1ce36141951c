"""A run's failed rows, grouped by kind, each with one example and the next step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from synthnb.records import Status

_NEXT_STEP = {
    Status.TRUNCATED: "Raise max_tokens in the recipe, or ask for fewer items a call.",
    Status.NO_JSON: "The model wrote prose: read run.answers(row_id), then shorten the "
    "prompt or use a larger model.",
    Status.SCHEMA: "Read run.answers(row_id): the answer has the wrong shape or too few "
    "items.",
    Status.REFUSED: "The server or the model refused this request; its message says why.",
    Status.CONTEXT: "Use smaller chunks (chunk_tokens=…) or a smaller max_tokens.",
    Status.RATE_LIMITED: "Lower Limits(max_concurrency=…), then run the same cell again.",
    Status.AUTH: "Give a valid key, then run the same cell again.",
    Status.SERVER: "Look at the server's log, then run the same cell again.",
    Status.TIMEOUT: "Raise Limits(total_timeout=…) or lower max_concurrency, then run "
    "the same cell again.",
    Status.CANCELLED: "Run the same cell again: what was answered is not bought twice.",
}


def next_step(status: Status) -> str:
    """Return what a person can do about a status."""
    return _NEXT_STEP.get(status, "")


@dataclass(frozen=True, slots=True)
class Trouble:
    """Failed rows of one status."""

    status: Status
    count: int
    detail: str
    """What the first of them said."""
    row_id: str
    """The first of them; ``run.answers(row_id)`` shows what the model wrote."""
    next_step: str


class Troubles(tuple[Trouble, ...]):
    """What ``run.errors()`` returns: a tuple that prints as a short report."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Return one paragraph a kind."""
        if not self:
            return "no failed rows"
        return "\n".join(
            f"{t.count:,} {t.status}: {t.detail or 'no detail'} (e.g. row {t.row_id})\n"
            f"  → {t.next_step}"
            for t in self
        )


class Tally:
    """Counts failed rows as they come, without keeping them: one example a status."""

    def __init__(self) -> None:
        """Start with none."""
        self._counts: dict[Status, int] = {}
        self._first: dict[Status, tuple[str, str]] = {}

    def add(self, status: Status, number: int, row_id: str, detail: str) -> None:
        """Count rows of one status; the first one's words stay as the example."""
        # The example first: another thread may read what is counted at any moment.
        self._first.setdefault(status, (row_id, detail))
        self._counts[status] = self._counts.get(status, 0) + number

    def troubles(self) -> Troubles:
        """Return what was counted, the most frequent kind first."""
        ordered = sorted(self._counts.items(), key=lambda item: -item[1])
        return Troubles(
            Trouble(status, number, detail, row_id, _NEXT_STEP[status])
            for status, number in ordered
            for row_id, detail in [self._first[status]]
        )


def group(records: Iterable[Mapping[str, Any]]) -> Troubles:
    """Group the records that are not ok, the most frequent kind first."""
    tally = Tally()
    for record in records:
        status = Status(record["status"])
        if status is not Status.OK:
            detail = str(record.get("detail") or "")
            tally.add(status, 1, str(record["row_id"]), detail)
    return tally.troubles()
