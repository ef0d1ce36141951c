"""How many requests at once a server takes, found while the run works.

No server says it beforehand. It is learned from what every server gives away: a refusal
(429, 503), answers a second that no longer grow, gauges where there are some.

Three phases. The *ramp* adds one for each answer, which doubles the limit in each round
trip as TCP's slow start does (RFC 5681, 3.1). Its end is the first sign: after refusals
the limit is what was accepted, for the refused ones are no longer in flight; where
answers a second stay flat while the limit doubles, it is where they stopped growing.
*Holding* keeps that. From time to time a *probe* goes a step further for one round; one
that succeeds doubles the step, one that fails doubles the wait before the next.

Against plain AIMD (halve on refusal, add one a round) this keeps the server full: there
is no saw tooth, as what was accepted is known and need not be searched for again.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

_START = 16
_GROWTH = 1.2
"""Answers a second must grow by this while the limit doubles; less is a queue."""
_LEAST_ANSWERS = 24
"""So many answers a comparison of speeds needs."""
_ROUNDS = 4
_MOST_ROUNDS = 16
"""Rounds (as many answers as the limit) that are waited before a probe."""
_BAD_SHARE = 0.05
"""Share of refusals at a settled limit from which on it is lowered: a few at random are
not about the load."""
_FULL_CACHE = 0.9
_HISTORY = 2000


class Moment(NamedTuple):
    """How it stood when the limit changed."""

    time: float
    limit: int
    in_flight: int
    answers: int


class _Phase(Enum):
    RAMP = "ramp"
    HOLD = "hold"
    PROBE = "probe"


class AdaptiveLimit:
    """The limit for one endpoint. Pure logic: told what happens, asked for ``limit``.

    Attributes:
        limit: requests that may be in flight now.
        settled: the limit that was found; ``None`` while the ramp goes on.
        in_flight: requests that were sent and have not ended.
        history: the last changes, oldest first.
    """

    def __init__(
        self,
        maximum: int,
        *,
        start: int | None = None,
        adaptive: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start low.

        Args:
            maximum: never exceeded.
            start: where to begin, e.g. where an earlier run settled.
            adaptive: ``False`` keeps the limit at ``maximum``.
            clock: seconds, rising.
        """
        self.maximum = maximum
        self.adaptive = adaptive
        self._clock = clock
        self.limit = min(maximum, start or _START) if adaptive else maximum
        self.settled: int | None = None
        self.in_flight = 0
        self.answers = 0
        self.refusals = 0
        self._phase = _Phase.RAMP
        self._since_answer = 0
        self._window_from = clock()
        self._window_answers = 0
        self._window_limit = self.limit
        self._speed = 0.0
        self._is_queue = False
        self._step = 1
        self._wait = self._left = _ROUNDS * self.limit
        self._recent: deque[bool] = deque(maxlen=64)
        self._busy = False
        self.history: deque[Moment] = deque(maxlen=_HISTORY)
        self._note()

    # what happens ----------------------------------------------------------------------

    def sent(self) -> None:
        """A request leaves."""
        self.in_flight += 1
        if self.in_flight >= self.limit:
            self._busy = True

    def dropped(self) -> None:
        """A request ended in a way that says nothing about the load."""
        self.in_flight -= 1

    def answered(self) -> None:
        """A request was answered."""
        self.in_flight -= 1
        self.answers += 1
        self._since_answer = 0
        if not self.adaptive:
            return
        self._recent.append(True)
        self._window_answers += 1
        if self.answers == 1:
            # Until now nothing could come: that time is the server's latency.
            self._window_from, self._window_answers = self._clock(), 0
        # A limit that is not used up teaches nothing: the rows have run out.
        if not self._busy:
            return
        if self._phase is _Phase.RAMP:
            self._climb()
        elif self._phase is _Phase.PROBE:
            self._judge_probe()
        else:
            self._left -= 1
            if self._left <= 0 and self.limit < self.maximum:
                self._begin_probe()

    def refused(self) -> bool:
        """A request was refused for now; return whether the server refuses everything.

        Then the whole pool should wait for what the server asked.
        """
        self.in_flight -= 1
        self.refusals += 1
        self._since_answer += 1
        refuses_all = self._since_answer > max(3, self.limit)
        if self.adaptive:
            self._recent.append(False)
            self._step_back()
        return refuses_all

    def failed(self) -> None:
        """A request timed out, or this process has no socket left: as a refusal."""
        self.in_flight -= 1
        if self.adaptive:
            self._recent.append(False)
            self._step_back()

    def gauges(self, *, waiting: float, cache: float) -> None:
        """Heed the server's own figures.

        Args:
            waiting: requests in its queue.
            cache: share of its cache that is used, 0 to 1.
        """
        if not self.adaptive:
            return
        if cache > _FULL_CACHE:
            self._settle(max(1, int(self.limit * 0.9)))
        elif waiting > 0 and self._phase is not _Phase.HOLD:
            accepted = self.in_flight - int(waiting)
            self._settle(max(1, min(self.limit, accepted)))
        elif waiting > 0:
            self._left = max(self._left, self.limit)

    # the ramp --------------------------------------------------------------------------

    def _climb(self) -> None:
        if self.limit < self.maximum:
            self.limit += 1
        enough = self._window_answers >= max(_LEAST_ANSWERS, self._window_limit)
        if self.limit < min(2 * self._window_limit, self.maximum) or not enough:
            return
        speed = self._end_window()
        if self._speed and speed < _GROWTH * self._speed:
            self._is_queue = True
            self._settle(max(1, self._window_limit // 2))
        elif self.limit >= self.maximum:
            self._settle(self.maximum)
        self._speed = max(speed, self._speed)
        self._note()

    def _end_window(self) -> float:
        now = self._clock()
        elapsed = max(now - self._window_from, 1e-9)
        speed = self._window_answers / elapsed
        self._window_from, self._window_answers = now, 0
        self._window_limit = self.limit
        return speed

    # holding and probing ---------------------------------------------------------------

    def _settle(self, limit: int) -> None:
        self.limit = self.settled = min(limit, self.maximum)
        self._phase = _Phase.HOLD
        self._step = max(1, self.limit // 16)
        self._wait = _ROUNDS * self.limit
        self._hold()

    def _hold(self) -> None:
        self._left = self._wait
        self._recent.clear()
        self._end_window()
        self._note()

    def _begin_probe(self) -> None:
        assert self.settled is not None
        speed = self._end_window()
        if self._is_queue:
            self._speed = speed
        step = max(1, self.settled // 2) if self._is_queue else self._step
        self.limit = min(self.maximum, self.settled + step)
        self._phase = _Phase.PROBE
        # The first round only fills the server up.
        self._left = 2 * self.limit
        self._note()

    def _judge_probe(self) -> None:
        self._left -= 1
        if self._left == self.limit:
            self._end_window()
        if self._left > 0:
            return
        if self._is_queue and self._end_window() < _GROWTH * self._speed:
            self._end_probe()
            return
        self.settled = self.limit
        self._step = min(2 * self._step, max(1, self.limit))
        self._phase = _Phase.HOLD
        # A success is followed up at once: capacity may have risen by much.
        self._wait = _ROUNDS * self.limit
        self._hold()
        self._left = 1

    def _end_probe(self) -> None:
        """The step was too far: go back, and wait twice as long."""
        assert self.settled is not None
        self.limit = self.settled
        self._phase = _Phase.HOLD
        self._step = max(1, self._step // 4)
        self._wait = min(2 * self._wait, _MOST_ROUNDS * self.limit)
        self._hold()

    def _step_back(self) -> None:
        if self._phase is _Phase.PROBE:
            self._end_probe()
        elif self._phase is _Phase.RAMP:
            self._is_queue = False
            self._settle(max(1, self.in_flight))
        elif self.in_flight < self.limit:
            bad = self._recent.count(False)
            if bad >= 2 and bad > _BAD_SHARE * len(self._recent):  # noqa: PLR2004
                self._lower()

    def _lower(self) -> None:
        """Refusals at a limit that was accepted: the server takes less than it did."""
        # What is still in flight is what it takes now; never less than half at a time.
        lower = max(1, self.in_flight, self.limit // 2)
        if lower < self.limit:
            self.limit = self.settled = lower
            self._wait = self._left = _ROUNDS * self.limit
            self._step = 1
            self._note()

    def _note(self) -> None:
        moment = Moment(self._clock(), self.limit, self.in_flight, self.answers)
        self.history.append(moment)
