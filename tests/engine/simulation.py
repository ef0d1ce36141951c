"""Servers in virtual time: what a limit does to a run of some thousand requests.

A discrete-event simulation: nothing sleeps, so a run of an hour takes some milliseconds,
and the same seed gives the same run.
"""

from __future__ import annotations

import heapq
import itertools
import math
import random
from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

from synthnb.engine.adaptive import AdaptiveLimit


@dataclass
class Server:
    """How a server takes load.

    Attributes:
        form: what happens above ``limit``: ``"refuse"``, ``"queue"`` (the rest wait, so
            throughput stays flat while latency grows), ``"batch"`` (continuous batching:
            all answers advance at one pace, which falls as the batch fills; the rest
            wait), or ``"rate"`` (``limit`` requests in each ``per`` seconds, then
            everything is refused).
        limit: requests at once, or a function of the time.
        latency: seconds of the mean answer of a server at rest.
        spread: sigma of the log-normal answers. 0.3 is mild; with 0.6 one in a hundred
            takes 3.4 times the mean, with 1.0 six times.
        growth: batch: a full one is so much slower, ``1 + growth`` times.
        refusal: seconds until a refusal arrives.
        errors: share of refusals that have nothing to do with the load.
        gauges: whether the control sees the server's own figures, once a second.
    """

    form: str
    limit: object = 64
    latency: float = 0.2
    spread: float = 0.3
    growth: float = 1.0
    refusal: float = 0.002
    retry_after: float | None = None
    errors: float = 0.0
    per: float = 10.0
    gauges: bool = False
    seed: int = 1

    def capacity(self, now):
        return self.limit(now) if callable(self.limit) else self.limit


class Outcome(NamedTuple):
    seconds: float
    refused: int
    sent: int
    most: int
    latency: float
    """Seconds of the mean answer, the server's queue included."""


class _Run:
    """One run: events in order of time, the server's state, the pool's."""

    def __init__(self, server, control, n, backoff):
        self.server, self.control, self.n, self.backoff = server, control, n, backoff
        self.rng = random.Random(server.seed)
        self.now = 0.0
        self.events, self.count = [], itertools.count()
        self.ready, self.done, self.refused, self.sent, self.most = n, 0, 0, 0, 0
        self.waited = 0.0
        self.queue, self.busy, self.timer = deque(), 0, 0
        self.ends, self.work, self.work_at = [], 0.0, 0.0
        self.held, self.window, self.taken = 0.0, -math.inf, 0

    def push(self, seconds, what, *about):
        entry = (self.now + seconds, next(self.count), what, about)
        heapq.heappush(self.events, entry)

    # the pool --------------------------------------------------------------------------

    def fill(self):
        control = self.control
        while (
            self.ready and control.in_flight < control.limit and self.now >= self.held
        ):
            self.ready -= 1
            self.sent += 1
            control.sent()
            self.most = max(self.most, control.in_flight)
            self.arrive()

    def on_answer(self, sent_at):
        self.busy -= 1
        self.done += 1
        self.waited += self.now - sent_at
        self.control.answered()
        self.admit()

    def on_refuse(self):
        self.refused += 1
        refuses_all = self.control.refused()
        wait = self.server.retry_after or 0.0
        wait += (0.1 * wait or self.backoff) * self.rng.random()
        if refuses_all:
            self.held = max(self.held, self.now + wait)
        self.push(wait, self.on_again)

    def on_again(self):
        self.ready += 1

    def on_look(self):
        cache = 0.8 * self.busy / max(1, self.server.capacity(self.now))
        self.control.gauges(waiting=len(self.queue), cache=cache)
        self.push(1.0, self.on_look)

    # the server ------------------------------------------------------------------------

    def arrive(self):
        if self.is_refused():
            self.push(self.server.refusal, self.on_refuse)
        else:
            self.queue.append(self.now)
            self.admit()

    def is_refused(self):
        server = self.server
        if server.errors and self.rng.random() < server.errors:
            return True
        if server.form == "rate":
            if self.now >= self.window + server.per:
                self.window, self.taken = self.now, 0
            self.taken += 1
            return self.taken > server.capacity(self.now)
        return server.form == "refuse" and self.busy >= server.capacity(self.now)

    def admit(self):
        room = (
            math.inf if self.server.form == "rate" else self.server.capacity(self.now)
        )
        while self.queue and self.busy < room:
            self.start(self.queue.popleft())

    def start(self, sent_at):
        # Log-normal with the given mean, so a few answers take several times the usual.
        server = self.server
        drawn = self.rng.lognormvariate(-(server.spread**2) / 2, server.spread)
        seconds = server.latency * drawn
        if server.form == "batch":
            self.advance()
            self.busy += 1
            heapq.heappush(self.ends, (self.work + seconds, sent_at))
            self.next_end()
        else:
            self.busy += 1
            self.push(seconds, self.on_answer, sent_at)

    def slowness(self):
        full = max(2, self.server.capacity(self.now)) - 1
        return 1 + self.server.growth * max(0, self.busy - 1) / full

    def advance(self):
        # Generalised processor sharing: ends are known in work, only the pace changes.
        self.work += (self.now - self.work_at) / self.slowness()
        self.work_at = self.now

    def next_end(self):
        self.timer += 1
        if self.ends:
            left = max(0.0, self.ends[0][0] - self.work) * self.slowness()
            self.push(left, self.on_end, self.timer)

    def on_end(self, timer):
        if timer != self.timer:
            return
        self.advance()
        _, sent_at = heapq.heappop(self.ends)
        self.on_answer(sent_at)
        self.advance()
        self.next_end()


def run(server, control, n, *, backoff=0.5, until=36000.0):
    """Send ``n`` requests under ``control``; refused ones come again after a while."""
    it = _Run(server, control, n, backoff)
    control.use_clock(lambda: it.now)
    if server.gauges:
        it.push(1.0, it.on_look)
    it.fill()
    while it.events and it.done < n and it.now < until:
        it.now, _, what, about = heapq.heappop(it.events)
        what(*about)
        if it.now < it.held:
            it.push(it.held - it.now, it.fill)
        it.fill()
    assert it.done == n, f"only {it.done} of {n} after {it.now:.0f} s"
    return Outcome(it.now, it.refused, it.sent, it.most, it.waited / n)


CAPS = (4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512, 1024)


def best_fixed(make, n, maximum=1024, caps=CAPS):
    """Return time and refusals of the best fixed limit up to ``maximum``."""
    caps = {min(maximum, cap) for cap in caps}
    return min(run(make(), AdaptiveLimit(c, adaptive=False), n)[:2] for c in caps)


class Aimd(AdaptiveLimit):
    """The textbook's: halve on a refusal (once a round), add one a round."""

    def __init__(self, maximum, **options):
        super().__init__(maximum, **options)
        self.credit = 0

    def answered(self):
        self.in_flight -= 1
        self.answers += 1
        self.credit += 1
        if self.credit >= self.limit:
            self.credit = 0
            self.limit = min(self.maximum, self.limit + 1)

    def refused(self):
        self.in_flight -= 1
        if self.credit:
            self.limit = max(1, self.limit // 2)
            self.credit = 0
        return False
