"""A run in the log: names, ids, counts and times; no content and no key, at any level.

``logging.getLogger("synthnb")`` is silent until a program gives it a handler. INFO tells
a run's life, WARNING what wants a look (the first row of each kind that fails, waits),
DEBUG each attempt. A server's own words are left out: they may quote the prompt.
"""

from __future__ import annotations

import logging
from collections import Counter

from synthnb.engine.events import (
    Answered,
    Event,
    Failed,
    Held,
    Noted,
    Retried,
    StateChanged,
)
from synthnb.errors import ProviderError
from synthnb.records import Status

_log = logging.getLogger("synthnb.run")
logging.getLogger("synthnb").addHandler(logging.NullHandler())


def wants_every_answer() -> bool:
    """Whether somebody reads the log so closely that each answer is told."""
    return _log.isEnabledFor(logging.DEBUG)


class RunLog:
    """Listens to one run and writes it down."""

    def __init__(self, name: str) -> None:
        """Take the run's name, which stands in each line."""
        self._name = name
        self._bad: Counter[str] = Counter()

    def __call__(self, event: Event) -> None:
        """Write an event down, if it is one for the log."""
        if isinstance(event, Answered):
            self._answered(event)
        elif isinstance(event, Retried):
            _log.debug(
                "run %s: row %s is tried again in %.1f s after %s",
                self._name, event.row_id, event.seconds, _kind(event.error),
            )  # fmt: skip
        elif isinstance(event, Failed):
            self._count(event.error.status, event.row_id, _kind(event.error))
        elif isinstance(event, Held):
            _log.warning(
                "run %s: all wait %.1f s after %s",
                self._name, event.seconds, _kind(event.error),
            )  # fmt: skip
        elif isinstance(event, Noted):
            _log.warning("run %s: %s", self._name, event.text)
        elif isinstance(event, StateChanged):
            self._state(event)

    def _answered(self, event: Answered) -> None:
        _log.debug(
            "run %s: row %s was answered: %s in %.2f s, attempt %d, request %s",
            self._name, event.row_id, event.parsed.status, event.seconds,
            event.attempt, event.request_id or "without an id",
        )  # fmt: skip
        if event.parsed.status is not Status.OK:
            self._count(event.parsed.status, event.row_id, "its answer")

    def _count(self, status: Status, row_id: str, kind: str) -> None:
        self._bad[status] += 1
        if self._bad[status] == 1:
            _log.warning(
                "run %s: row %s is %s (%s); more of this kind are only counted",
                self._name, row_id, status, kind,
            )  # fmt: skip

    def _state(self, event: StateChanged) -> None:
        level = logging.INFO
        bad = ""
        if event.state.is_final and self._bad:
            level = logging.WARNING
            bad = ", ".join(f"{n} {status}" for status, n in self._bad.items())
            bad = f"; not ok: {bad}"
        _log.log(level, "run %s is %s%s", self._name, event.state, bad)


def _kind(error: ProviderError) -> str:
    status = f" {error.http_status}" if error.http_status else ""
    return f"{type(error).__name__}{status}"
