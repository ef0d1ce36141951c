"""What a server does above its limit, on the wire."""

from __future__ import annotations

import asyncio
import concurrent.futures
import email.utils
import itertools
import json
import time
import urllib.request

import pytest

from synthnb.testing import Capacity, Fault, FaultServer


class Gate:
    """A latency that lasts until it is opened: no test waits for a clock."""

    def __init__(self):
        self.latency = 3600.0

    def __call__(self, body):
        return self.latency if "hold" in str(body) else 0.0


async def held(server, chat, until, count, prompt="hold"):
    """Start requests one by one, so that their order is known."""
    tasks = []
    for number in range(count):
        before = server.stats.requests
        tasks.append(asyncio.create_task(chat(server, f"{prompt} {number}")))
        await until(lambda n=before: server.stats.requests == n + 1)
    return tasks


async def release(tasks):
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


# refuse -------------------------------------------------------------------------------


async def test_it_refuses_above_its_limit(chat, until):
    capacity = Capacity("refuse", 2, retry_after=1.5)
    async with FaultServer(latency=Gate(), capacity=capacity) as server:
        tasks = await held(server, chat, until, 2)
        refused = await chat(server, "one too many")
        assert server.running == 2
        await release(tasks)
        await until(lambda: server.running == 0)
        taken = await chat(server, "now there is room")
    assert refused.status == 429
    assert refused.headers["retry-after"] == "1.5"
    assert refused.json["error"]["code"] == "rate_limit_exceeded"
    assert taken.status == 200
    assert server.stats.refused == 1
    assert server.max_running == 2


@pytest.mark.parametrize("status", [429, 503])
async def test_a_refusal_may_say_nothing_of_when(chat, until, status):
    capacity = Capacity("refuse", 1, status=status)
    async with FaultServer(latency=Gate(), capacity=capacity) as server:
        tasks = await held(server, chat, until, 1)
        refused = await chat(server)
        await release(tasks)
    assert refused.status == status
    assert "retry-after" not in refused.headers


async def test_a_refusal_may_name_a_date(chat, until):
    capacity = Capacity("refuse", 1, retry_after=30, as_date=True)
    async with FaultServer(latency=Gate(), capacity=capacity) as server:
        tasks = await held(server, chat, until, 1)
        before = time.time()
        refused = await chat(server)
        await release(tasks)
    then = email.utils.parsedate_to_datetime(refused.headers["retry-after"])
    assert then.timestamp() >= before + 30


async def test_what_is_refused_for_capacity_meets_no_fault(chat, until):
    faults = [Fault(500, contains="second", times=1)]
    capacity = Capacity("refuse", 1)
    async with FaultServer(latency=Gate(), capacity=capacity, faults=faults) as server:
        tasks = await held(server, chat, until, 1)
        assert (await chat(server, "second")).status == 429
        await release(tasks)
        await until(lambda: server.running == 0)
        assert (await chat(server, "second")).status == 500


# queue --------------------------------------------------------------------------------


async def test_a_queue_answers_in_order_of_arrival(chat, until):
    order = []

    def answer(body):
        order.append(body["messages"][0]["content"])
        return "x"

    async with FaultServer(
        answer, latency=0.002, capacity=Capacity("queue", 1)
    ) as server:
        tasks = await held(server, chat, until, 6, "number")
        responses = await asyncio.gather(*tasks)
    assert [response.status for response in responses] == [200] * 6
    assert order == [f"number {n}" for n in range(6)]
    assert server.max_running == 1
    assert not server.stats.refused


async def test_who_leaves_the_queue_takes_no_place(chat, until):
    async with FaultServer(latency=Gate(), capacity=Capacity("queue", 1)) as server:
        first, *waiting = await held(server, chat, until, 3)
        await until(lambda: server.waiting == 2)
        await release(waiting)
        await until(lambda: server.waiting == 0)
        await release([first])
        await until(lambda: server.running == 0)
        assert (await chat(server)).status == 200
    assert server.stats.abandoned == 3
    assert server.stats.in_flight == 0
    assert server.max_waiting == 2


async def test_a_queue_may_have_an_end(chat, until):
    capacity = Capacity("queue", 1, max_waiting=2)
    async with FaultServer.like(
        "kaito-vllm", latency=Gate(), capacity=capacity, strict_model=False
    ) as server:
        tasks = await held(server, chat, until, 3)
        refused = await chat(server)
        await release(tasks)
    assert refused.status == 429
    assert refused.json["error"]["code"] == "rate_limit_exceeded"
    assert "retry-after" not in refused.headers


async def test_a_capacity_that_grows_lets_those_in_who_wait(chat, until):
    async with FaultServer(latency=Gate(), capacity=Capacity("queue", 1)) as server:
        tasks = await held(server, chat, until, 4)
        assert (server.running, server.waiting) == (1, 3)
        server.capacity = Capacity("queue", 3)
        assert (server.running, server.waiting) == (3, 1)
        server.capacity = None
        assert (server.running, server.waiting) == (4, 0)
        assert server.capacity is None
        await release(tasks)


# batch --------------------------------------------------------------------------------


def test_a_step_gets_slower_with_the_batch_and_its_tokens_still_grow():
    capacity = Capacity("batch", 8, token_seconds=0.01, growth=1.0)
    steps = [capacity.step_seconds(n) for n in range(1, 9)]
    speeds = [n / step for n, step in enumerate(steps, 1)]
    gains = [after - before for before, after in itertools.pairwise(speeds)]
    assert steps[0] == 0.01
    assert steps[-1] == pytest.approx(0.02)
    assert steps == sorted(steps)
    assert all(gain > 0 for gain in gains)
    assert gains == sorted(gains, reverse=True)


async def test_a_batch_ends_short_answers_first_and_is_never_over_its_limit(
    chat, until
):
    ended = []
    capacity = Capacity("batch", 3, token_seconds=0.002)

    def answer(body):
        return "tok " * int(body["messages"][0]["content"].split()[1])

    async def ask(server, tokens):
        await chat(server, f"tokens {tokens}")
        ended.append(tokens)

    async with FaultServer(answer, capacity=capacity) as server:
        await asyncio.gather(*(ask(server, n) for n in (90, 5, 40)))
        assert ended == [5, 40, 90]
        await asyncio.gather(*(ask(server, 3) for _ in range(9)))
    assert server.max_running == 3
    assert server.max_waiting >= 6
    assert server.stats.completion_tokens == sum((91, 6, 41)) + 9 * 4


async def test_who_leaves_a_batch_frees_its_place(chat, until):
    capacity = Capacity("batch", 1, token_seconds=3600, answer_tokens=1)
    async with FaultServer(capacity=capacity) as server:
        tasks = await held(server, chat, until, 2, "long")
        await until(lambda: server.waiting == 1)
        await release(tasks)
        await until(lambda: server.running == 0)
        server.capacity = Capacity("batch", 1, token_seconds=0.001)
        assert (await chat(server)).status == 200
    assert server.stats.abandoned == 2


async def test_a_full_batch_refuses_when_its_queue_is_full(chat, until):
    capacity = Capacity("batch", 1, token_seconds=3600, max_waiting=1)
    async with FaultServer(capacity=capacity) as server:
        tasks = await held(server, chat, until, 2, "long")
        assert (await chat(server)).status == 429
        await release(tasks)


# rate ---------------------------------------------------------------------------------


async def test_a_rate_refuses_everything_until_its_window_is_over(chat):
    capacity = Capacity("rate", 3, per=3600, retry_after="reset")
    async with FaultServer(capacity=capacity) as server:
        taken = [await chat(server) for _ in range(3)]
        refused = [await chat(server) for _ in range(3)]
        server.capacity = Capacity("rate", 3, per=1e-9)
        again = await chat(server)
    left = [int(r.headers["x-ratelimit-remaining-requests"]) for r in taken]
    assert [response.status for response in taken] == [200] * 3
    assert left == [2, 1, 0]
    assert [response.status for response in refused] == [429] * 3
    assert refused[0].headers["x-ratelimit-limit-requests"] == "3"
    assert refused[0].headers["x-ratelimit-reset-requests"].startswith("59m")
    assert 3000 < float(refused[0].headers["retry-after"]) <= 3600
    assert again.status == 200


async def test_a_rate_may_count_tokens(chat):
    capacity = Capacity("rate", 100, per=3600, tokens=100)
    async with FaultServer(capacity=capacity) as server:
        taken = await chat(server, max_tokens=80)
        refused = await chat(server, max_tokens=80)
    assert taken.status == 200
    assert taken.headers["x-ratelimit-remaining-tokens"] == "18"
    assert refused.status == 429
    assert "retry-after" not in refused.headers


async def test_a_rate_stands_beside_another_limit(chat, until):
    both = [Capacity("rate", 2, per=3600), Capacity("queue", 1)]
    async with FaultServer(latency=Gate(), capacity=both) as server:
        tasks = await held(server, chat, until, 2)
        assert (server.running, server.waiting) == (1, 1)
        assert (await chat(server)).status == 429
        assert list(server.capacity) == both
        await release(tasks)


def test_a_capacity_is_changed_from_another_thread():
    with (
        FaultServer.in_thread(latency=Gate(), capacity=Capacity("queue", 1)) as server,
        concurrent.futures.ThreadPoolExecutor(3) as pool,
    ):
        asks = [pool.submit(ask_blocking, server) for _ in range(3)]
        poll(lambda: server.waiting == 2)
        server.capacity = Capacity("queue", 3)
        assert (server.running, server.waiting) == (3, 0)
        with urllib.request.urlopen(f"{server.url}/__stats", timeout=5) as answer:
            assert json.load(answer)["max_running"] == 3
        server.down("drop")
        assert all(ask.exception(10) is not None for ask in asks)


def ask_blocking(server):
    body = json.dumps({"messages": [{"role": "user", "content": "hold"}]}).encode()
    url = f"{server.base_url}/chat/completions"
    with urllib.request.urlopen(url, body, timeout=20) as answer:
        return answer.status


def poll(condition):
    for _ in range(2_000):
        if condition():
            return
        time.sleep(0.005)
    raise TimeoutError("the condition never held")


# wrong settings -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"kind": "reject", "limit": 1}, "no kind of capacity"),
        ({"kind": "queue", "limit": 0}, "at least 1"),
        ({"kind": "queue", "limit": 1, "retry_after": "reset"}, "rate"),
    ],
)
def test_what_would_do_nothing_is_refused(settings, words):
    with pytest.raises(ValueError, match=words):
        Capacity(**settings)


def test_two_limits_of_one_sort_are_refused():
    with pytest.raises(ValueError, match="at most one"):
        FaultServer(capacity=[Capacity("queue", 1), Capacity("refuse", 1)])
