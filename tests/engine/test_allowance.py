"""Rates, budgets and time: what a person allows a run to use."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthnb.config import Limits
from synthnb.engine.allowance import Allowance, Rate
from synthnb.engine.progress import State
from synthnb.errors import ConfigError, ServerError
from synthnb.pipeline import generate
from synthnb.providers.prices import Price
from synthnb.providers.provider import Provider
from synthnb.records import Completion, Message, Request, Sampling, Usage


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@given(
    st.floats(1, 10_000),
    st.lists(st.tuples(st.floats(0, 5), st.integers(1, 50)), max_size=80),
)
def test_no_second_gets_more_than_a_rate_and_its_burst(per_minute, arrivals):
    clock, grants = Clock(), []
    rate = Rate(per_minute, clock)
    for pause, amount in arrivals:
        clock.now += pause
        grants.append((clock.now + rate.wait(amount), amount))
    for start, _ in grants:
        inside = [a for at, a in grants if start <= at < start + 60]
        # The last one may be larger than what is left; one second may come at once.
        allowed = per_minute * 61 / 60 + (max(inside) if inside else 0)
        assert sum(inside) <= allowed * 1.0001


def ask(chars=400, most=100):
    return Request((Message("user", "x" * chars),), Sampling(max_tokens=most))


def answer(prompt=100, completion=50):
    return Completion("y", usage=Usage(prompt, completion))


def test_tokens_a_minute_are_corrected_by_what_was_really_used():
    clock = Clock()
    allowance = Allowance(Limits(tokens_per_minute=6000), clock=clock)
    request = ask()
    assert allowance.wait(request) == 0
    allowance.sent()
    allowance.ended(request, answer(1000, 200))  # far more than was expected
    assert allowance.wait(request) == pytest.approx(12.0)


@given(st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 900)), max_size=60))
def test_reservations_leave_nothing_behind(usages):
    """Many at once, while the expectation moves: in the end only real use counts."""
    clock = Clock()
    thousand_a_second = Limits(tokens_per_minute=60_000)
    allowance = Allowance(thousand_a_second, clock=clock)
    shared = ask()
    flying = [(shared if i % 3 else ask(), usage) for i, usage in enumerate(usages)]
    for request, _ in flying:
        allowance.wait(request)
        allowance.sent()
    for request, usage in reversed(flying):
        allowance.ended(request, answer(*usage))
    assert not allowance._reserved
    # The clock stands still, so all that was used is owed.
    assert allowance.wait(ask()) == pytest.approx(sum(map(sum, usages)) / 1000)


def test_what_was_not_sent_is_given_back():
    clock = Clock()
    limits = Limits(requests_per_minute=60, tokens_per_minute=60_000)
    allowance = Allowance(limits, clock=clock)
    request = ask()
    allowance.wait(request)
    for _ in range(50):
        assert allowance.wait(request) == pytest.approx(1.0)
        allowance.give_back(request)


def test_before_the_first_answer_those_in_flight_count_with_their_estimate():
    allowance = Allowance(Limits(budget_tokens=1000))
    sent = 0
    while not allowance.must_wait() and sent < 100:
        allowance.wait(ask(chars=400, most=200))  # about 300 tokens each
        allowance.sent()
        sent += 1
    assert sent == 3


def test_one_request_is_always_sent_however_small_the_budget():
    allowance = Allowance(Limits(budget_tokens=1))
    allowance.wait(ask())
    assert not allowance.must_wait()
    assert allowance.reached() is None


def test_without_limits_nothing_is_counted():
    allowance = Allowance(Limits(max_concurrency=3, max_seconds=9))
    assert allowance.is_free
    assert allowance.wait(ask()) == 0.0


def test_a_missing_usage_is_estimated_for_the_budget():
    allowance = Allowance(Limits(budget_tokens=100))
    allowance.sent()
    allowance.ended(ask(400), Completion("z" * 40))
    assert "111 of 100 tokens" in allowance.reached()


def rows(n):
    return [{"text": f"t{i}"} for i in range(n)]


def dear(text):
    async def later():
        await asyncio.sleep(0.001)
        return Completion(text, usage=Usage(60, 40), model="puppet")

    return later()


async def test_a_token_budget_stops_the_run_and_a_higher_one_goes_on(echo, puppet):
    client = puppet(dear)
    limits = Limits(budget_tokens=1000)
    run = generate(echo(), rows(100), client, name="budget", limits=limits)
    df = await run
    assert run.state is State.STOPPED
    assert len(client.asked) == 10
    assert (df["status"] == "ok").sum() == 10
    assert "the budget is used up: 1,000 of 1,000 tokens" in run.progress.note
    assert "used up" in repr(run)
    again = puppet(dear)
    df = await generate(echo(), rows(100), again, name="budget")
    assert len(again.asked) == 90
    assert set(df["status"]) == {"ok"}


async def test_a_budget_is_exceeded_by_what_was_in_flight_at_most(echo, puppet):
    sizes = iter([10] * 40 + [500] * 200)

    def answer(text):
        size = next(sizes)

        async def later():
            await asyncio.sleep(0.001)
            return Completion(text, usage=Usage(size, 0))

        return later()

    client = puppet(answer, concurrency=8)
    run = generate(
        echo(), rows(200), client, name="over", limits=Limits(budget_tokens=2000)
    )
    await run
    assert 2000 <= run.progress.prompt_tokens <= 2000 + 8 * 500


async def test_money_needs_a_price_and_is_told(echo, puppet):
    with pytest.raises(ConfigError, match="no price is known") as caught:
        generate(echo(), rows(2), puppet(), name="m", limits=Limits(budget_usd=1))
    assert "budget_tokens" in caught.value.hint
    client = puppet(dear)
    client.known_price = Price(1000, 2000)
    run = generate(
        echo(), rows(100), client, name="money", limits=Limits(budget_usd=1.4)
    )
    await run
    assert run.state is State.STOPPED
    assert run.usage.usd == pytest.approx(1.4)
    assert run.usage.total_usd == pytest.approx(1.4)
    assert run.usage.price_as_of == "given"
    assert "1.4000 of 1.4 US dollars" in run.progress.note


async def test_money_is_unknown_where_a_usage_is(echo, puppet):
    client = puppet(Completion)
    client.known_price = Price(1, 2)
    run = generate(echo(), rows(3), client, name="unknown")
    await run
    assert run.usage.usd is None
    assert run.usage.total_usd is None
    assert run.usage.unknown == 3


async def test_the_wall_time_ends_a_run_that_can_go_on(echo, puppet):
    async def slow():
        await asyncio.sleep(0.02)
        return "word"

    client = puppet(lambda _: slow(), concurrency=2)
    limits = Limits(max_seconds=0.2)
    run = generate(echo(), rows(500), client, name="time", limits=limits)
    df = await run
    assert run.state is State.STOPPED
    assert 0 < len(df) < 500
    assert "the time of 0.2 s is over" in run.progress.note


async def test_a_failed_call_gives_its_reservation_back(echo, puppet):
    failed = []

    def answer(text):
        if len(failed) < 3:
            failed.append(text)
            return ServerError("boom")
        return dear(text)

    limits = Limits(budget_tokens=500, tokens_per_minute=10_000_000)
    run = generate(echo(), rows(50), puppet(answer), name="back", limits=limits)
    await run
    assert run.progress.ok == 5


async def test_requests_a_minute_hold_the_sends_apart(echo, puppet):
    times = []
    loop = asyncio.get_running_loop()

    def answer(text):
        times.append(loop.time())
        return "word"

    limits = Limits(requests_per_minute=1200)  # one each 50 ms, 20 at once
    await generate(echo(), rows(26), puppet(answer), name="rate", limits=limits)
    times.sort()
    assert times[-1] - times[0] >= 0.05 * (26 - 1 - 20) * 0.9


def test_a_provider_without_a_price_still_has_none(tmp_path):
    assert Provider("http://localhost:1/v1", model="m").known_price is None
