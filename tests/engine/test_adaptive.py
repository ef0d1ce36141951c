"""The load that finds itself, on simulated servers in virtual time."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from synthnb.engine.adaptive import AdaptiveLimit

sys.path.insert(0, str(Path(__file__).parent))
from simulation import Server, best_fixed, run

FORMS = ["refuse", "queue", "batch"]
REQUESTS = 4000


@pytest.mark.parametrize("maximum", [8, 64, 1024])
@pytest.mark.parametrize("capacity", [10, 64, 200])
@pytest.mark.parametrize("form", FORMS)
def test_any_maximum_is_nearly_as_good_as_the_best_fixed_limit(form, capacity, maximum):
    def make():
        return Server(form, capacity, seed=maximum + capacity)

    # bench/load.py tries every fixed limit; the best are these.
    caps = {min(maximum, capacity), min(maximum, 2 * capacity)}
    found = run(make(), AdaptiveLimit(maximum), REQUESTS)
    assert found.seconds <= 1.15 * best_fixed(make, REQUESTS, caps)
    assert found.refused < 0.02 * REQUESTS
    assert found.most <= maximum


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("first", "then"), [(96, 24), (24, 96)])
def test_a_capacity_that_changes_is_followed(form, first, then):
    def capacity(now):
        return first if now < 6 else then

    caps = (24, 96)
    best = best_fixed(lambda: Server(form, capacity, seed=3), REQUESTS, caps)
    found = run(Server(form, capacity, seed=3), AdaptiveLimit(256), REQUESTS)
    assert found.seconds <= 1.4 * best
    assert found.refused < 0.025 * REQUESTS


@pytest.mark.parametrize("form", FORMS)
def test_slow_answers_cost_no_more_rounds(form):
    def make():
        return Server(form, 64, latency=10, spread=0.6, seed=4)

    found = run(make(), AdaptiveLimit(256), 2000)
    assert found.seconds <= 1.15 * best_fixed(make, 2000, (64, 128))


def test_a_start_that_is_remembered_saves_the_ramp():
    def make():
        return Server("refuse", 64, seed=5)

    cold = run(make(), AdaptiveLimit(256), 400)
    warm = run(make(), AdaptiveLimit(256, start=64), 400)
    assert warm.seconds < cold.seconds


def test_a_burst_of_refusals_is_one_decision():
    limit = AdaptiveLimit(256, start=100, clock=lambda: 0.0)
    for _ in range(100):
        limit.sent()
    for _ in range(60):
        limit.refused()
    assert limit.limit == 40 == limit.settled


def test_a_few_refusals_at_random_do_not_lower_a_limit_that_was_accepted():
    limit = AdaptiveLimit(64, start=64, clock=lambda: 0.0)
    limit._settle(64)
    for number in range(2000):
        while limit.in_flight < limit.limit:
            limit.sent()
        if number % 40 == 7:
            limit.refused()
        else:
            limit.answered()
    assert limit.settled >= 60


def test_a_server_that_refuses_everything_stops_the_pool():
    limit = AdaptiveLimit(64, start=4)
    verdicts = []
    for _ in range(12):
        limit.sent()
        verdicts.append(limit.refused())
    assert verdicts[0] is False
    assert verdicts[-1] is True
    limit.sent()
    limit.answered()
    limit.sent()
    assert limit.refused() is False


def test_the_servers_gauges_are_heeded():
    limit = AdaptiveLimit(256, start=64)
    for _ in range(64):
        limit.sent()
    limit.gauges(waiting=14, cache=0.5)
    assert limit.limit == 50
    limit.gauges(waiting=0, cache=0.95)
    assert limit.limit == 45


def test_a_fixed_limit_stays():
    limit = AdaptiveLimit(100, adaptive=False)
    limit.sent()
    limit.refused()
    limit.gauges(waiting=9, cache=1.0)
    assert limit.limit == 100


def test_rows_that_run_out_teach_nothing():
    limit = AdaptiveLimit(256)
    for _ in range(500):
        limit.sent()
        limit.answered()
    assert limit.limit == 16
    assert limit.settled is None
