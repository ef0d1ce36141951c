"""The load that finds itself, on simulated servers in virtual time.

``bench/load.py`` runs many more of them, and every fixed limit beside them.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from synthnb.engine.adaptive import AdaptiveLimit

sys.path.insert(0, str(Path(__file__).parent))
from simulation import Aimd, Server, best_fixed, run

FORMS = ["refuse", "queue", "batch"]
REQUESTS = 5000


@pytest.mark.parametrize(
    ("capacity", "maximum", "spread"),
    [(4, 64, 0.3), (40, 8, 0.3), (64, 16, 0.8), (64, 1024, 0.8), (200, 256, 0.3)],
)
@pytest.mark.parametrize("form", FORMS)
def test_any_maximum_is_nearly_as_good_as_the_best_fixed_limit(
    form, capacity, maximum, spread
):
    def make():
        return Server(form, capacity, spread=spread, seed=maximum + capacity)

    found = run(make(), AdaptiveLimit(maximum), REQUESTS)
    best, _ = best_fixed(make, REQUESTS, maximum, caps=(capacity, 2 * capacity))
    assert found.seconds <= 1.15 * best
    assert found.refused < 0.02 * REQUESTS
    assert found.most <= maximum


@pytest.mark.parametrize("form", FORMS)
def test_the_textbooks_way_is_beaten(form):
    def make():
        return Server(form, 64, seed=7)

    assert (
        run(make(), AdaptiveLimit(256), REQUESTS).seconds
        < run(make(), Aimd(256), REQUESTS).seconds
    )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("first", "then"), [(96, 24), (24, 96)])
def test_a_capacity_that_changes_is_followed(form, first, then):
    def capacity(now):
        return first if now < 6 else then

    found = run(Server(form, capacity, seed=3), AdaptiveLimit(256), 4000)
    # What the server can do at all; a batch is 1 + growth times slower when full.
    slower = 2.0 if form == "batch" else 1.0
    rate = {limit: limit / (0.2 * slower) for limit in (first, then)}
    ideal = 6 + (4000 - 6 * rate[first]) / rate[then]
    assert found.seconds <= 1.25 * ideal
    assert found.refused < 0.03 * 4000


def test_a_queue_is_kept_short():
    found = run(Server("queue", 32, seed=2), AdaptiveLimit(1024), REQUESTS)
    # At 1,024 at once each would wait for 32 others: 6 s and more.
    assert found.latency < 0.2 * 3


def test_refusals_that_have_nothing_to_do_with_the_load_do_not_slow_it_down():
    limit = AdaptiveLimit(256)
    found = run(Server("queue", 64, errors=0.03, seed=4), limit, REQUESTS)
    best = run(
        Server("queue", 64, errors=0.03, seed=4),
        AdaptiveLimit(96, adaptive=False),
        REQUESTS,
    )
    assert found.seconds <= 1.3 * best.seconds


def test_refusals_that_come_late_are_few_all_the_same():
    found = run(Server("refuse", 200, refusal=0.1), AdaptiveLimit(1024), REQUESTS)
    assert found.refused < 0.02 * REQUESTS


def test_slow_answers_cost_no_more_rounds():
    def make():
        return Server("queue", 64, latency=10, spread=0.6, seed=4)

    found = run(make(), AdaptiveLimit(256), 2000)
    assert found.seconds <= 1.15 * best_fixed(make, 2000, caps=(64, 128))[0]


def test_a_maximum_below_the_servers_limit_costs_the_ramp_only():
    def make():
        return Server("queue", 200, seed=6)

    found = run(make(), AdaptiveLimit(64), REQUESTS)
    fixed = run(make(), AdaptiveLimit(64, adaptive=False), REQUESTS)
    ramp = 2 * 0.2  # 32, 64
    assert found.seconds <= fixed.seconds + ramp


def test_a_start_that_is_remembered_saves_the_ramp():
    def make():
        return Server("refuse", 128, seed=5)

    cold = run(make(), AdaptiveLimit(256), 400)
    warm = run(make(), AdaptiveLimit(256, start=128), 400)
    assert warm.seconds < cold.seconds


def test_a_rate_limit_pauses_the_pool_and_is_not_taken_for_the_load():
    server = Server("rate", 4000, latency=1.0, per=60, seed=8)
    limit = AdaptiveLimit(256)
    found = run(server, limit, 12_000)
    # Three windows; the last begins after two whole minutes.
    assert found.seconds < 60 * 3
    assert limit.limit > 64


# rules, one at a time ------------------------------------------------------------------


def filled(maximum, start=None):
    limit = AdaptiveLimit(maximum, start=start, clock=lambda: 0.0)
    while limit.in_flight < limit.limit:
        limit.sent()
    return limit


def test_a_burst_of_refusals_is_one_decision():
    limit = filled(256, 100)
    for _ in range(60):
        assert limit.refused() is False
    assert limit.limit == 40 == limit.settled


def test_after_a_refusal_new_ones_go_out_only_as_answers_come_in():
    limit = filled(256)
    limit.refused()
    assert limit.in_flight == limit.limit == 31
    limit.answered()
    assert limit.limit - limit.in_flight == 1


def test_timeouts_that_all_come_at_once_leave_half():
    limit = filled(256, 64)
    for _ in range(64):
        limit.failed()
    assert limit.limit == 32


def test_a_server_that_refuses_everything_stops_the_pool():
    limit = filled(64, 16)
    verdicts = [limit.refused() for _ in range(16)]
    assert verdicts == [False] * 15 + [True]
    assert limit.limit == 1  # one tries …
    assert limit.settled is None  # a pause is nothing to remember
    limit.sent()
    assert limit.refused() is True
    limit.sent()
    limit.answered()  # … and when it is answered, the others follow
    assert limit.limit >= 8
    limit.sent()
    limit.sent()
    assert limit.refused() is False


def test_what_was_accepted_and_is_under_way_speaks_against_a_pause():
    limit = filled(64, 16)
    assert not any(limit.refused() for _ in range(12))
    assert limit.limit == 4 == limit.in_flight


def test_a_fixed_limit_pauses_as_well():
    limit = AdaptiveLimit(4, adaptive=False)
    verdicts = []
    for _ in range(20):
        limit.sent()
        verdicts.append(limit.refused())
    assert limit.limit == 4
    assert verdicts[0] is False
    assert verdicts[-1] is True


def test_the_servers_queue_ends_the_ramp():
    limit = filled(256)
    limit.gauges(waiting=1, cache=0.5)  # one waits for the next step of a batch
    assert limit.settled is None
    limit.gauges(waiting=6, cache=0.5)
    assert limit.limit == 26 == limit.settled


def test_a_full_cache_shrinks_the_limit_once_a_round():
    limit = filled(256, 64)
    limit.gauges(waiting=0, cache=0.95)
    assert limit.limit == 64  # one look may be chance
    for _ in range(40):
        limit.answered()
        limit.sent()
    limit.gauges(waiting=0, cache=0.95)
    shrunk = limit.limit
    assert shrunk < 64
    limit.gauges(waiting=0, cache=0.95)  # what is too much has not ended yet
    assert limit.limit == shrunk


def test_nothing_grows_while_requests_wait_at_the_server():
    limit = filled(256, 64)
    limit.gauges(waiting=20, cache=0.5)
    for _ in range(20):
        limit.answered()
    before = limit.limit
    limit.gauges(waiting=20, cache=0.5)
    for _ in range(2000):
        limit.answered()
        limit.sent()
    assert limit.limit <= before


def test_a_queue_of_others_does_not_push_everything_out():
    limit = filled(256, 16)
    for _ in range(50):
        limit.gauges(waiting=500, cache=0.5)
        while limit.in_flight > limit.limit:
            limit.answered()
    assert limit.limit == 4


def test_a_fixed_limit_stays():
    limit = AdaptiveLimit(100, adaptive=False)
    limit.sent()
    limit.refused()
    limit.gauges(waiting=9, cache=1.0)
    limit.gauges(waiting=9, cache=1.0)
    assert limit.limit == 100


def test_rows_that_run_out_teach_nothing():
    limit = AdaptiveLimit(256)
    for _ in range(500):
        limit.sent()
        limit.answered()
    assert limit.limit == 32
    assert limit.settled is None


def test_the_curve_is_kept_and_bounded():
    limit = AdaptiveLimit(1024)
    run(Server("refuse", 64, seed=9), limit, REQUESTS)
    times = [moment.time for moment in limit.history]
    assert times == sorted(times)
    assert limit.history[-1].answers <= REQUESTS
    assert limit.history.maxlen is not None
