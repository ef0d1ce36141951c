"""How many requests at once a server takes, found while the run works.

No server says it beforehand. It is learned from what every server gives away: a refusal
(429, 503), answers a second that no longer grow, gauges where there are some.

The *ramp* adds one for each answer, which doubles the limit in each round trip as TCP's
slow start does (RFC 5681, 3.1). Its end is the first sign: after refusals the limit is
what was accepted, for the refused ones are no longer in flight; where answers a second
stay flat while the limit doubles, the server has a queue, and the limit is near where
they stopped growing. *Holding* keeps that. From time to time a *trial* takes another
limit and compares, as BBR's probing of bandwidth does (Cardwell et al., "BBR:
Congestion-Based Congestion Control", 2016): one that succeeds starts a ramp, one that
fails doubles the wait before the next.

Against plain AIMD (halve on a refusal, add one a round) this keeps the server full: there
is no saw tooth, as what was accepted is known and need not be searched for again.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable
from enum import Enum

from synthnb.engine.signs import Moment, Refusals, Speed
from synthnb.engine.tuning import (
    ALONE,
    CLEAR,
    DOWN,
    FEW,
    FLAT,
    FULL_CACHE,
    GAIN,
    GROWTH,
    KEPT,
    LEAST_ANSWERS,
    MOST_ROUNDS,
    NEARLY_FULL_CACHE,
    PRICE,
    ROUNDS,
    SHORT,
    SLOWER,
    START,
    TOLERATED,
    TRIAL_ANSWERS,
    UP,
    USED,
)

_HISTORY = 2000


class _Phase(Enum):
    RAMP = "ramp"
    HOLD = "hold"
    TRIAL = "trial"


class AdaptiveLimit:
    """The limit for one endpoint. Pure logic: told what happens, asked for ``limit``.

    Attributes:
        limit: requests that may be in flight now.
        settled: the limit that was found; ``None`` while it is not known.
        in_flight: requests that were sent and have not ended.
        answers: how many were answered.
        refusals: how many were refused for now.
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
            start: where an earlier run settled; kept, and tried from there.
            adaptive: ``False`` keeps the limit at ``maximum``.
            clock: seconds, rising.
        """
        self.maximum = maximum
        self.adaptive = adaptive
        self.limit = max(1, min(maximum, start or START)) if adaptive else maximum
        self.settled: int | None = None
        self.in_flight = 0
        self.answers = 0
        self.refusals = 0
        self._phase = _Phase.RAMP
        self._recent = Refusals()
        self._usual = self._before = 0.0
        self._price = self._tries = 0
        self._resume_at = 0
        self._burst_left = self._former = 0
        self._is_own_burst = True
        self._least = 1
        self._shrunk_at = 0
        self._is_in_doubt = False
        self._has_failed = False
        self._best_round, self._slow_rounds = 0.0, 0
        self._calm, self._calm_until = ROUNDS, 0
        self._has_queue = False
        self._goes_down = False
        self._step = 1
        self._target = self.limit
        self._left = 0
        self._wait = 0
        self._not_before = -math.inf
        self._is_pressed = False
        self.history: deque[Moment] = deque(maxlen=_HISTORY)
        self.use_clock(clock)
        if start and adaptive:
            # No ramp, but trials: it is what was accepted.
            self._settle(self.limit)

    def use_clock(self, clock: Callable[[], float]) -> None:
        """Take the time from ``clock`` (seconds, rising); before the first request."""
        self._clock = clock
        self._speed, self._round = Speed(clock), Speed(clock)
        self._window_limit = self.limit
        self._last: float | None = None
        self.history.clear()
        self._note()

    # what happens ----------------------------------------------------------------------

    def sent(self) -> None:
        """A request leaves."""
        self.in_flight += 1
        if self._recent.alone:
            self._tries += 1

    def dropped(self) -> None:
        """A request ended in a way that says nothing about the load."""
        self.in_flight -= 1

    def answered(self) -> None:
        """A request was answered."""
        is_used = USED * self.limit <= self.in_flight <= self.limit
        self.in_flight -= 1
        self.answers += 1
        self._tries = 0
        if not self.adaptive:
            self._recent.alone = 0
            return
        self._recent.answered()
        self._speed.answered()
        self._round.answered()
        if self.answers == 1:
            # Until now nothing could come: that time is the server's latency.
            self._speed.restart()
        # A limit that is not used up teaches nothing, the rows have run out; nor do more
        # than the limit: they are from before it fell.
        if not is_used:
            self._speed.restart()
            self._round.restart()
            return
        if self._phase is _Phase.RAMP:
            self._climb()
            return
        self._left -= 1
        self._burst_left -= 1
        if self._burst_left == 0:
            # What comes from now on was sent with the limit as it is.
            self._wait = ROUNDS * self.limit
            self._former = 0
            self._hold()
        if self._phase is _Phase.TRIAL:
            self._go_on_trying()
        elif self._left <= 0:
            self._look_around()
        elif self._round.answers >= max(self.limit, 2 * LEAST_ANSWERS):
            self._compare_rounds()

    def refused(self, retry_after: float | None = None) -> bool:
        """A request was refused for now; return whether the server refuses everything.

        Then the whole pool should wait for what the server asked.

        Args:
            retry_after: seconds that the server asked for. Trials that may cost a
                request so much are made less often.
        """
        self.in_flight -= 1
        self.refusals += 1
        alone = self._recent.refused()
        # Not a burst that was sent before the first of them came: nothing is under way
        # any more, or what was sent since then is refused as well.
        refuses_all = alone > ALONE and (
            self.in_flight == 0 or self._tries > ALONE + 2 * self.limit
        )
        if self.adaptive:
            if retry_after:
                soon = self._clock() + ROUNDS * retry_after
                self._not_before = max(self._not_before, soon)
            if refuses_all:
                self._begin_again()
            else:
                self._step_back()
        return refuses_all

    def failed(self) -> None:
        """A request timed out, or this process has no socket left: as a refusal."""
        self.in_flight -= 1
        if self.adaptive:
            self._recent.failed()
            # All of them may end at once, and that says not that none is possible.
            self._step_back(least=self.limit // 2)

    def gauges(self, *, waiting: float, cache: float) -> None:
        """Heed the server's own figures.

        Args:
            waiting: requests in its queue.
            cache: share of its cache that is used, 0 to 1.
        """
        if not self.adaptive:
            return
        was_pressed, queues = self._is_pressed, waiting > TOLERATED * self.in_flight
        self._is_pressed = queues or cache > NEARLY_FULL_CACHE
        if self._phase is not _Phase.HOLD and queues:
            accepted = max(self.in_flight - int(waiting), FEW)
            self._settle(min(self.limit, accepted))
        elif self.in_flight > self.limit or not was_pressed:
            # What is too much ends by and by; and one look alone may be chance.
            return
        elif cache > FULL_CACHE and self.answers >= self._shrunk_at + self.limit // 2:
            self._shrunk_at = self.answers
            self._settle(int(self.limit * FULL_CACHE))
        elif queues and self.limit > FEW:
            # By halves, for others may wait there too.
            less = self.limit - math.ceil(waiting / 2)
            self._settle(max(less, self.limit // 2, FEW))

    # the ramp --------------------------------------------------------------------------

    def _climb(self) -> None:
        if self._resume_at:
            self.limit, self._resume_at = max(self.limit, self._resume_at), 0
            self._ramp()
        elif self.limit < self.maximum and not (self._is_pressed or self._is_in_doubt):
            self.limit += 1
        enough = self._speed.answers >= max(LEAST_ANSWERS, self._window_limit)
        factor = self.limit / self._window_limit
        if not enough or (factor < 2 and self.limit < self.maximum):  # noqa: PLR2004
            return
        speed, before = self._speed.rate(), self._last
        is_flat = before is not None and speed < before * factor ** math.log2(GROWTH)
        if is_flat and factor >= UP:
            self._doubt()
            return
        self._last = max(speed, before or 0.0)
        self._is_in_doubt = False
        self._window_limit = self.limit
        if self.limit >= self.maximum:
            self._settle(self.maximum)
        else:
            self._speed.restart()
            self._note()

    def _doubt(self) -> None:
        """No faster: grow no further until a second look says the same."""
        if not self._is_in_doubt:
            self._is_in_doubt = True
            self._speed.restart()
            return
        self._has_queue = True
        # Answers tell of the limit of one round trip ago, so of half the present one.
        self._settle(int(FLAT * self._window_limit))

    def _ramp(self, speed: float | None = None) -> None:
        self._phase = _Phase.RAMP
        self._is_in_doubt = False
        self._recent.clear()
        self._speed.restart()
        self._window_limit = self.limit
        self._last = speed
        self._note()

    def _begin_again(self) -> None:
        """All was refused: one tries, and when it is answered the ramp begins anew."""
        former = max(self._former, self.limit)
        self._resume_at = max(self._resume_at, min(former, START))
        self.limit, self.settled = 1, None
        self._ramp()

    # holding ---------------------------------------------------------------------------

    def _settle(self, limit: int) -> None:
        self.limit = self.settled = max(1, min(limit, self.maximum))
        self._step = max(1, self.limit // 16)
        self._wait = ROUNDS * self.limit
        self._goes_down = False
        self._calm, self._calm_until = ROUNDS, 0
        self._last, self._before = None, 0.0
        self._hold()

    def _hold(self) -> None:
        self._phase = _Phase.HOLD
        self._resume_at = 0
        self._left = max(self._wait, LEAST_ANSWERS)
        self._recent.clear()
        self._speed.restart()
        self._round.restart()
        self._best_round, self._slow_rounds = (self._last or 0.0) / 1.2, 0
        self._note()

    def _compare_rounds(self) -> None:
        """Has the server changed? Where it became slower, less load may be as fast."""
        assert self.settled is not None
        speed, last = self._round.restart(), self._best_round
        self._best_round = max(last, speed)
        # Twice running: one round of a heavy tail of latencies may be anything.
        self._slow_rounds = self._slow_rounds + 1 if speed * SLOWER < last else 0
        if self._slow_rounds > 1 and self.answers >= self._calm_until:
            self._last = speed
            least = min(self.settled, SHORT)
            self._try(max(int(self.settled * speed / last), least))
        elif self._last and speed > CLEAR * self._last and self._may_grow():
            self._last = speed
            self._try_more()

    def _look_around(self) -> None:
        """A time of holding is over: its speed is known, and another limit may be tried."""
        assert self.settled is not None
        self._last, share = self._speed.rate(), self._recent.share
        if share > PRICE and share > 2 * self._usual and self._has_failed:
            self._before = share
            self._try(self.settled - max(1, self.settled // 16))
            return
        self._usual = share if share > 2 * self._usual else (self._usual + share) / 2
        if self._has_queue and (self._goes_down or self.limit >= self.maximum):
            self._try(max(int(DOWN * self.settled), min(self.settled, SHORT)))
        elif self._may_grow():
            self._try_more()
        else:
            self._left = self.limit

    def _try_more(self) -> None:
        assert self.settled is not None
        step = int(self.settled * (UP - 1)) if self._has_queue else self._step
        self._try(self.settled + max(1, step))

    def _may_grow(self) -> bool:
        return (
            self.limit < self.maximum
            and not self._is_pressed
            and self._price <= (PRICE + self._usual) * self.answers
            and self._clock() >= self._not_before
        )

    # trials ----------------------------------------------------------------------------

    def _try(self, limit: int) -> None:
        limit = max(1, min(limit, self.maximum))
        if limit == self.settled:
            self._usual, self._before = max(self._usual, self._before), 0.0
            self._goes_down = False
            self._hold()
            return
        self._phase = _Phase.TRIAL
        self._recent.clear()
        self.limit = self._target = limit
        # The first round only brings the server into the new state.
        self._left = limit + self._measured()
        self._note()

    def _measured(self) -> int:
        """Return how many answers a trial compares."""
        assert self.settled is not None
        if self._before:
            return max(self._target, min(TRIAL_ANSWERS, int(3 / self._before)))
        if self._has_queue or self._target < self.settled:
            return max(self._target, TRIAL_ANSWERS)
        return self._target

    def _go_on_trying(self) -> None:
        assert self.settled is not None
        if self.limit < self._target:
            self.limit += 1
        measured = self._measured()
        if self._left == measured:
            self._speed.restart()
        speed, before = self._speed.rate(), self._last or 0.0
        is_up = self._target > self.settled
        enough = self._left <= measured - max(self._target, LEAST_ANSWERS)
        factor = speed / before if before else 1.0
        is_clear = enough and (
            factor > CLEAR and self._has_queue if is_up else factor < 1 / CLEAR
        )
        if self._left > 0 and not is_clear:
            return
        if self._before:
            self._end_search()
        elif not is_up and factor >= KEPT:
            self._accept()
            self._hold()
        elif not is_up or (self._has_queue and factor < GAIN):
            self._end_trial()
        else:
            # Capacity may have risen by much.
            self._usual = max(self._usual, self._recent.share)
            self._accept()
            self._ramp(speed if self._has_queue else None)

    def _end_search(self) -> None:
        """Less load was tried because of refusals: were they about the load?"""
        share, before, self._before = self._recent.share, self._before, 0.0
        if 3 * share < before:
            self._accept()
            self._hold()
        else:
            self._usual = max(share, before)
            self._end_trial()
            self._left = 1

    def _accept(self) -> None:
        self.settled = self.limit
        self._wait = ROUNDS * self.limit
        self._has_failed = False

    def _end_trial(self) -> None:
        """The step was wrong: go back, and wait twice as long."""
        assert self.settled is not None
        if self._target < self.settled >= self.maximum:
            # Less is slower: at the maximum there is no queue.
            self._has_queue = False
        self._goes_down = self._has_queue and not self._goes_down
        if self._target < self.settled:
            self._calm *= 2
            self._calm_until = self.answers + self._calm * self.settled
        self.limit = self.settled
        self._step = max(1, self._step // 4)
        self._wait = min(2 * self._wait, MOST_ROUNDS * self.limit)
        self._hold()

    # refusals --------------------------------------------------------------------------

    def _step_back(self, least: int = 1) -> None:
        """Send only as answers come in, where refusals are more than the usual."""
        if self._phase is _Phase.HOLD or self._goes_lower:
            self._lower(least)
            return
        if not self._recent.are_more_than(self._usual):
            return
        self._price += 1
        if self._phase is _Phase.TRIAL:
            self._has_queue = False
            self._has_failed = True
            self._end_trial()
        else:
            self._has_queue = False
            self._settle_on(max(self.in_flight, least))
            self._least = least

    @property
    def _goes_lower(self) -> bool:
        """Whether a trial of less load is under way."""
        return self._phase is _Phase.TRIAL and self._target < (self.settled or 0)

    def _lower(self, least: int) -> None:
        """Heed refusals at a limit that was accepted: does the server take less now?"""
        if self.in_flight >= self.limit:
            return
        # A burst was sent before the limit fell: all of it is one sign. What is still in
        # flight is what the server takes; never less than half at a time.
        if self._burst_left > 0:
            self._price += self._is_own_burst
            self.limit = self.settled = max(self._least, self.in_flight)
        elif self._recent.are_a_sign(self._usual):
            self._settle_on(max(self.in_flight, self.limit // 2))
            self._is_own_burst = False
            self._least = max(1, least)

    def _settle_on(self, accepted: int) -> None:
        self._former = self.limit
        self._settle(accepted)
        self._burst_left = self.limit
        self._is_own_burst = True

    def _note(self) -> None:
        moment = Moment(self._clock(), self.limit, self.in_flight, self.answers)
        self.history.append(moment)
