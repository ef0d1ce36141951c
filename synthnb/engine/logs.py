"""A run in the log: names, ids, counts and times; no content and no key, at any level.

``logging.getLogger("synthnb")`` is silent until a program gives it a handler. INFO tells
a run's life, WARNING what wants a look (the first row of each kind that fails, waits),
DEBUG each attempt. A server's own words are left out: they may quote the prompt.
"""

from __future__ import annotations

import logging
import re
import time
from collections import Counter
from collections.abc import Callable

from synthnb.engine.events import (
    Answered,
    Event,
    Failed,
    Held,
    Noted,
    Retried,
    StateChanged,
)
from synthnb.engine.progress import State
from synthnb.errors import ProviderError
from synthnb.records import Status

_QUIET_SECONDS = 30.0
"""Waits of the pool that follow each other are told this far apart."""
_LONGEST = 80
_LEVELS = {State.STALLED: logging.WARNING, State.ERROR: logging.ERROR}
_UNSAFE = re.compile(r"[^\x21-\x7e]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")

_log = logging.getLogger("synthnb.run")
logging.getLogger("synthnb").addHandler(logging.NullHandler())


def wants_every_answer() -> bool:
    """Whether somebody reads the log so closely that each answer is told."""
    return _log.isEnabledFor(logging.DEBUG)


class RunLog:
    """Listens to one run and writes it down."""

    def __init__(
        self, name: str, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Take the run's name, which stands in each line."""
        self._name = name
        self._clock = clock
        self._bad: Counter[str] = Counter()
        self._told_held: float | None = None
        self._more_held = 0

    def __call__(self, event: Event) -> None:
        """Write an event down, if it is one for the log."""
        if isinstance(event, Answered):
            self._answered(event)
        elif isinstance(event, Retried):
            if _log.isEnabledFor(logging.DEBUG):
                _log.debug(
                    "run %s: row %s is tried again in %.1f s after %s",
                    self._name, _line(event.row_id), event.seconds, _kind(event.error),
                )  # fmt: skip
        elif isinstance(event, Failed):
            self._count(event.error.status, event.row_id, _kind(event.error))
        elif isinstance(event, Held):
            self._held(event)
        elif isinstance(event, Noted):
            _log.warning("run %s: %s", self._name, _line(event.text, longest=None))
        elif isinstance(event, StateChanged):
            self._state(event)

    def _answered(self, event: Answered) -> None:
        if _log.isEnabledFor(logging.DEBUG):
            _log.debug(
                "run %s: row %s was answered: %s in %.2f s, attempt %d, request %s",
                self._name, _line(event.row_id), event.parsed.status, event.seconds,
                event.attempt, _id(event.request_id),
            )  # fmt: skip
        if event.parsed.status is not Status.OK:
            self._count(event.parsed.status, event.row_id, "its answer")

    def _count(self, status: Status, row_id: str, kind: str) -> None:
        self._bad[status] += 1
        if self._bad[status] == 1:
            _log.warning(
                "run %s: row %s is %s (%s); more of this kind are only counted",
                self._name, _line(row_id), status, kind,
            )  # fmt: skip

    def _held(self, event: Held) -> None:
        # Each request that a limit refuses holds the pool anew: one line tells of many.
        now = self._clock()
        if self._told_held is not None and now - self._told_held < _QUIET_SECONDS:
            self._more_held += 1
            return
        more = f" (and {self._more_held} times before)" if self._more_held else ""
        self._told_held, self._more_held = now, 0
        _log.warning(
            "run %s: all wait %.1f s after %s%s",
            self._name, event.seconds, _kind(event.error), more,
        )  # fmt: skip

    def _state(self, event: StateChanged) -> None:
        level = _LEVELS.get(event.state, logging.INFO)
        more = ""
        if isinstance(event.error, ProviderError):
            more = f" after {_kind(event.error)}"
        elif event.error is not None:
            more = f" after {type(event.error).__name__}"
        if event.state.is_final and self._bad:
            level = max(level, logging.WARNING)
            bad = ", ".join(f"{n} {status}" for status, n in self._bad.items())
            more += f"; not ok: {bad}"
        _log.log(level, "run %s is %s%s", self._name, event.state, more)


def _kind(error: ProviderError) -> str:
    status = f" {error.http_status}" if error.http_status else ""
    return f"{type(error).__name__}{status}"


def _line(text: str, longest: int | None = _LONGEST) -> str:
    """Keep a text that others chose on its line: a line break would forge the next."""
    return _CONTROL.sub(" ", text)[:longest]


def _id(request_id: str | None) -> str:
    """Return a server's id, if it is one and no text."""
    if not request_id:
        return "without an id"
    if len(request_id) > _LONGEST or _UNSAFE.search(request_id):
        return "with an id that is none"
    return request_id
