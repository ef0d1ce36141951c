"""Delays: drawn by request, the same for every client."""

from __future__ import annotations

import random
import statistics

import pytest

from synthnb.testing import FaultServer, Jitter, LogNormal
from synthnb.testing.delays import draw


def test_a_lognormal_delay_has_its_mean_and_its_p99():
    delay = LogNormal(mean=0.2, p99=2.0)
    rng = random.Random(1)
    drawn = sorted(delay.draw(rng) for _ in range(40_000))
    assert statistics.fmean(drawn) == pytest.approx(0.2, rel=0.1)
    assert drawn[int(0.99 * len(drawn))] == pytest.approx(2.0, rel=0.15)
    assert drawn[0] > 0


def test_jitter_stays_within_its_spread():
    rng = random.Random(1)
    drawn = [Jitter(1.0, 0.25).draw(rng) for _ in range(2_000)]
    assert 0.75 <= min(drawn) < 0.8
    assert 1.2 < max(drawn) <= 1.25
    assert statistics.fmean(drawn) == pytest.approx(1.0, abs=0.02)


def test_a_request_meets_the_same_delay_whatever_came_before():
    delay = LogNormal(0.2, 1.0)
    first = [draw(delay, 7, f"prompt {n}", 1) for n in range(5)]
    backwards = [draw(delay, 7, f"prompt {n}", 1) for n in reversed(range(5))]
    assert first == backwards[::-1]
    assert len(set(first)) == 5
    assert draw(delay, 7, "prompt 0", 2) != first[0]
    assert draw(delay, 8, "prompt 0", 1) != first[0]


@pytest.mark.parametrize(("mean", "p99"), [(1.0, 0.5), (1.0, 15.5), (0.0, 0.0)])
def test_a_pair_that_no_lognormal_has(mean, p99):
    with pytest.raises(ValueError, match="lognormal"):
        LogNormal(mean, p99)


async def test_two_servers_of_one_seed_draw_the_same(chat, monkeypatch):
    waited = []

    async def pause(connection, seconds):
        waited.append(seconds)
        return True

    monkeypatch.setattr("synthnb.testing.connection.Connection.pause", pause)
    for prompts in ("abc", "cab"):
        async with FaultServer(latency=LogNormal(0.5, 2.0), seed=3) as server:
            for prompt in prompts:
                assert (await chat(server, prompt)).status == 200
    a, b, c = waited[:3]
    assert waited[3:] == [c, a, b]
    assert len(set(waited)) == 3
