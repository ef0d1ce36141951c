"""Servers in virtual time: what a limit does to a run of some thousand requests."""

from __future__ import annotations

import heapq
import itertools
import random
from dataclasses import dataclass, field

from synthnb.engine.adaptive import AdaptiveLimit


@dataclass
class Server:
    """One of three forms; ``limit`` may be a function of the time."""

    form: str
    limit: object = 64
    latency: float = 0.2
    spread: float = 0.3
    seed: int = 1
    rng: random.Random = field(init=False)
    busy: int = 0

    def __post_init__(self):
        self.rng = random.Random(self.seed)

    def capacity(self, now):
        return self.limit(now) if callable(self.limit) else self.limit

    def draw(self):
        # Log-normal, so a few answers take several times the usual.
        return self.latency * self.rng.lognormvariate(
            -(self.spread**2) / 2, self.spread
        )


@dataclass
class Outcome:
    seconds: float
    refused: int
    sent: int
    most: int


def run(server, control, n, *, backoff=0.5, until=3600.0):
    """Send ``n`` requests under ``control``; refused ones come again after a while."""
    clock = itertools.count()
    events, queue, ready = [], [], n
    now = 0.0
    control._clock = lambda: now
    control._window_from = 0.0
    refused = sent = most = done = 0

    def push(at, kind):
        heapq.heappush(events, (at, next(clock), kind))

    def start():
        server.busy += 1
        slow = 1.0
        if server.form == "batch":
            slow = 1 + 0.5 * server.busy / server.capacity(now)
        push(now + server.draw() * slow, "answer")

    def fill():
        nonlocal ready, sent, most
        while ready and control.in_flight < control.limit:
            ready -= 1
            sent += 1
            control.sent()
            most = max(most, control.in_flight)
            if server.busy < server.capacity(now):
                start()
            elif server.form == "refuse":
                push(now + 0.002, "refuse")
            else:
                queue.append(now)

    fill()
    while events and done < n and now < until:
        now, _, kind = heapq.heappop(events)
        if kind == "answer":
            server.busy -= 1
            done += 1
            control.answered()
            while queue and server.busy < server.capacity(now):
                queue.pop()
                start()
        elif kind == "refuse":
            refused += 1
            control.refused()
            push(now + backoff * server.rng.random(), "again")
        else:
            ready += 1
        fill()
    assert done == n, f"only {done} of {n} after {now:.0f} s"
    return Outcome(now, refused, sent, most)


def best_fixed(make, n, caps=(8, 16, 32, 48, 64, 96, 128, 256, 512)):
    """Return the time of the best fixed limit: the least, over all of them."""
    return min(run(make(), AdaptiveLimit(c, adaptive=False), n).seconds for c in caps)


class Aimd(AdaptiveLimit):
    """The textbook's: halve on refusal (once a round), add one a round."""

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
        if self.credit > 0 or self.limit > 1:
            self.limit = max(1, self.limit // 2) if self.credit else self.limit
            self.credit = 0
        return False
