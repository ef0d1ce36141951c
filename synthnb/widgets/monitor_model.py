"""What a person must know of a run, as plain values: the monitor's view model."""

from __future__ import annotations

import statistics
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from synthnb.engine.events import Answered, Event, Held, StateChanged
from synthnb.engine.progress import State
from synthnb.engine.run import Run
from synthnb.errors import SynthnbError
from synthnb.records import Status
from synthnb.widgets.markup import clip, visible
from synthnb.widgets.monitor_series import Pace, Series
from synthnb.widgets.status_kinds import kind_of

Snapshot = dict[str, Any]

CLOCKS = frozenset({"seconds", "last"})
"""Keys that change by themselves; a front end counts them on."""

_STALLED_SECONDS = 20.0
_FIRST_STALLED_SECONDS = 60.0
"""Before the first answer nobody knows what is usual: a model may be loading."""
_UNUSUAL = 5
"""Times the usual quiet between answers."""
_ASLEEP_SECONDS = 2.0
_PEEK_FIELDS = 2
_PEEK_LENGTH = 200
_DETAIL_LENGTH = 300
_RECENT = 64
_ETA_ROWS = 3
_ETA_SECONDS = 2.0

_WORDS = {Status.NO_JSON: "no JSON", Status.RATE_LIMITED: "rate limited"}


class MonitorModel:
    """Listens to a run and says how it is, from any thread.

    ``observe`` is called a few times a second while the run works, on whatever thread;
    an event costs less than a microsecond.
    """

    def __init__(
        self, run: Run, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Listen to ``run``; what it counted before is known all the same."""
        self._run = run
        self._clock = clock
        progress = run.progress
        start = progress.started
        # A run that is shown late has curves from here on, one that ended has none.
        early = clock() - start < _ASLEEP_SECONDS and not run.state.is_final
        watched_from = start if early else clock()
        self._series = Series(watched_from)
        self._rows = Pace(start, seconds=60, least=20)
        self._tokens = Pace(start, seconds=10, least=200)
        self._seen = _Seen(start)
        self._counted = progress.answers if watched_from > start else 0
        self._folder = _folder(run.folder)
        self._awake = start
        self._sending = start
        self._item: Mapping[str, Any] | None = None
        self._gaps: deque[float] = deque(maxlen=_RECENT)
        self._answered: float | None = None
        self._held: Held | None = None
        self._held_until = 0.0
        self._lock = threading.Lock()
        self._leave = run.subscribe(self._hear)
        self.observe()

    def close(self) -> None:
        """Listen no more."""
        self._leave()

    # on the run's loop ------------------------------------------------------------------

    def _hear(self, event: Event) -> None:
        if isinstance(event, Answered):
            if event.parsed.items:
                self._item = event.parsed.items[0]
        elif isinstance(event, Held):
            self._held, self._held_until = event, self._clock() + event.seconds
        elif isinstance(event, StateChanged):
            self._held_until = 0.0 if event.state.is_final else self._held_until
            if event.state is State.RUNNING:
                self._go_on()

    def _go_on(self) -> None:
        """A pause is over: it counts neither as slowness nor as a stall."""
        now = self._clock()
        self._sending = now
        with self._lock:
            self._answered = now
            self._rows.restart(now, self._seen.bought)
            self._tokens.restart(now, self._run.progress.completion_tokens)

    # what is seen -----------------------------------------------------------------------

    def observe(self) -> None:
        """Take the counters as they are now; the curves are made of these moments."""
        progress = self._run.progress
        now = self._clock() if progress.ended is None else progress.ended
        with self._lock:
            seen = self._seen
            if self._is_asleep(now):
                self._awake = now
            answers = progress.answers
            self._series.add(now, answers - self._counted, progress.in_flight)
            self._counted = answers
            seen.take(now, progress.done, progress.answers, progress.resumed)
            self._rows.add(now, seen.bought)
            self._tokens.add(now, progress.completion_tokens)
            self._note_gap(progress.last_answer)

    def _note_gap(self, last: float | None) -> None:
        """Note how long it was quiet. Answers between two looks are one burst."""
        if last is None or last == self._answered:
            return
        if self._answered is not None and last > self._answered:
            self._gaps.append(last - self._answered)
        self._answered = last

    def snapshot(self) -> Snapshot:
        """Return all that a view shows, as JSON-able values; a few kilobytes."""
        run, progress = self._run, self._run.progress
        state = run.state
        now = self._clock() if progress.ended is None else progress.ended
        with self._lock:
            stalled = self._is_stalled(now)
            last = None if progress.last_answer is None else now - progress.last_answer
            return {
                "name": _plain(run.name),
                "recipe": _plain(run.recipe.step),
                "model": _plain(run.model or ""),
                "state": str(state),
                "final": state.is_final,
                "seconds": round(now - progress.started, 1),
                "eta": None if stalled else self._eta(now, state),
                "done": progress.done,
                "wanted": progress.wanted,
                "statuses": _statuses(progress.by_status.copy()),
                "speed": _rounded(self._tokens.rate(now)),
                "in_flight": progress.in_flight,
                "limit": progress.limit,
                "requests": progress.requests,
                "retries": progress.retries,
                "resumed": progress.resumed,
                "tokens": progress.prompt_tokens + progress.completion_tokens,
                "written": progress.completion_tokens,
                "unknown_usage": progress.unknown_usage,
                "local": run.is_local,
                "last": None if last is None else round(max(0.0, last), 1),
                "asleep": not state.is_final and self._is_asleep(now),
                "stalled": stalled,
                "waiting": self._waiting(now),
                "peek": self._peek(),
                "series": self._series.points(ended=state.is_final),
                "troubles": [
                    {
                        "name": _word(t.status),
                        "kind": kind_of(t.status),
                        "count": t.count,
                        "detail": _plain(t.detail),
                        "row_id": _plain(t.row_id),
                        "next_step": t.next_step,
                    }
                    for t in progress.failed.troubles()
                ],
                "note": "" if state is State.ERROR else _plain(progress.note),
                "error": _error(run.error),
                "folder": self._folder,
            }

    def _eta(self, now: float, state: State) -> int | None:
        progress = self._run.progress
        known = self._rows.counted >= _ETA_ROWS and now - self._sending > _ETA_SECONDS
        if progress.wanted is None or state is not State.RUNNING or not known:
            return None
        rest = progress.wanted - progress.done
        left = self._rows.left(now, rest) if rest > 0 else None
        return None if left is None else _calm(left)

    def _is_asleep(self, now: float) -> bool:
        """The loop stands still, because a cell computes: so does the run."""
        return now - self._seen.time > _ASLEEP_SECONDS

    def _is_stalled(self, now: float) -> bool:
        """Requests are out and no answer comes for far longer than is usual here."""
        progress = self._run.progress
        if not progress.in_flight or self._is_asleep(now):
            return False
        if self._gaps:
            usual = statistics.median(self._gaps)
            allowed = max(_STALLED_SECONDS, _UNUSUAL * usual)
        elif progress.answers:
            allowed = _STALLED_SECONDS
        else:
            allowed = _FIRST_STALLED_SECONDS
        since = max(progress.last_answer or 0.0, self._awake, self._sending)
        return now - since > allowed

    def _waiting(self, now: float) -> dict[str, Any] | None:
        if self._held is None or now >= self._held_until or self._run.state.is_final:
            return None
        return {
            "seconds": _calm(self._held_until - now),
            "why": _plain(self._held.error.message),
        }

    def _peek(self) -> list[list[str]]:
        item = self._item or {}
        return [
            [name, _one_line(item.get(name))]
            for name in self._run.recipe.fields[:_PEEK_FIELDS]
        ]


class _Seen:
    """The counters of the last look, and how many rows were paid for in this call."""

    def __init__(self, time: float) -> None:
        self.time = time
        self.answers = 0
        self.bought = 0.0
        self._done = 0
        self._resumed = 0

    def take(self, time: float, done: int, answers: int, resumed: int) -> None:
        """Rows out of the ledger come at once and say nothing about the pace."""
        new, recalled = answers - self.answers, resumed - self._resumed
        if new:
            self.bought += (done - self._done) * new / (new + recalled)
        elif not recalled:
            self.bought += done - self._done
        self.time, self._done = time, done
        self.answers, self._resumed = answers, resumed


def _statuses(counts: Mapping[str, int]) -> list[dict[str, Any]]:
    """Return the counts by status in the order of ``Status``: ok first."""
    return [
        {"name": _word(status), "count": counts[status], "kind": kind_of(status)}
        for status in Status
        if counts.get(status)
    ]


def _word(status: Status) -> str:
    return _WORDS.get(status, status.value)


def _error(error: BaseException | None) -> dict[str, str] | None:
    if error is None:
        return None
    hint = "Run the same cell again: it goes on from here."
    if isinstance(error, SynthnbError):
        return {
            "message": _plain(error.message, 600),
            "hint": _plain(error.hint or hint, 600),
        }
    return {"message": _plain(f"{type(error).__name__}: {error}", 600), "hint": hint}


def _folder(folder: Path) -> str:
    """Return the folder as seen from here: a saved notebook goes to other people."""
    for base, prefix in ((Path.cwd(), ""), (Path.home(), "~/")):
        if folder.is_relative_to(base):
            return prefix + folder.relative_to(base).as_posix()
    return folder.name


def _one_line(value: object) -> str:
    text = "" if value is None else str(value)
    return _plain(" ".join(text[: 4 * _PEEK_LENGTH].split()), _PEEK_LENGTH)


def _plain(text: str, most: int = _DETAIL_LENGTH) -> str:
    """Return foreign text cut, and with nothing in it that a message cannot carry."""
    return visible(clip(text, most))


def _calm(seconds: float) -> int:
    """Round to what an estimate is worth, so that the shown time does not flicker."""
    grain = 1 if seconds < 10 else 5 if seconds < 120 else 30 if seconds < 1200 else 60  # noqa: PLR2004
    return max(1, round(seconds / grain) * grain)


def _rounded(value: float) -> float:
    return round(value) if value >= 10 else round(value, 1)  # noqa: PLR2004
