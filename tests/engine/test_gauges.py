from __future__ import annotations

import asyncio

import pytest

from synthnb.engine import gauges
from synthnb.engine.gauges import Gauges, read_gauges

VLLM = """# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="m"} 12.0
vllm:num_requests_running{engine="1",model_name="m"} 3.0
vllm:num_requests_waiting{engine="0",model_name="m"} 2.0
vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.41
vllm:kv_cache_usage_perc{engine="1",model_name="m"} 0.93
"""


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        (VLLM, Gauges(15, 2, 0.93)),
        (
            "vllm:num_requests_waiting 1\nvllm:gpu_cache_usage_perc 0.5",
            Gauges(0, 1, 0.5),
        ),
        (
            "sglang:num_running_reqs 4\nsglang:num_queue_reqs 7\nsglang:token_usage 0.2",
            Gauges(4, 7, 0.2),
        ),
        (
            "llamacpp:requests_processing 2\nllamacpp:requests_deferred 3",
            Gauges(2, 3, 0),
        ),
        ("vllm:num_requests_running NaN\nvllm:num_requests_waiting 3", Gauges(0, 3, 0)),
        (
            "vllm:num_requests_running 3\nvllm:num_requests_waiting +Inf",
            Gauges(3, 0, 0),
        ),
        ('vllm:num_requests_waiting{model_name="a}b\\"c"} 5', Gauges(0, 5, 0)),
        ("vllm:num_requests_waiting_by_reason 5", None),
        ("python_gc_objects_collected_total 3.0", None),
        ('{"gpu_info": []}', None),
        ("", None),
    ],
)
def test_the_names_of_each_server_are_read(text, seen):
    assert read_gauges(text) == seen


async def test_a_server_without_metrics_is_not_asked_for_ever(monkeypatch):
    monkeypatch.setattr(gauges, "_SECONDS", 0)
    asked = []

    async def fetch():
        asked.append(1)

    await asyncio.wait_for(gauges.watch(fetch, print), 5)
    assert len(asked) == 3


async def test_a_server_that_had_metrics_is_asked_again(monkeypatch):
    monkeypatch.setattr(gauges, "_SECONDS", 0)
    monkeypatch.setattr(gauges, "_LATER_SECONDS", 0)
    asked, seen = [], []
    enough = asyncio.Event()

    async def fetch():
        asked.append(1)
        if len(asked) in (1, 2, 20):
            return VLLM
        if len(asked) == 5:
            raise OSError("the server is away")
        return None

    def tell(what):
        seen.append(what)
        if len(seen) == 3:
            enough.set()

    task = asyncio.create_task(gauges.watch(fetch, tell))
    async with asyncio.timeout(5):
        await enough.wait()
    assert seen == [Gauges(15, 2, 0.93)] * 3
    task.cancel()
    await asyncio.wait([task], timeout=5)
    assert task.cancelled()


async def test_it_can_be_cancelled_while_it_fetches():
    begun = asyncio.Event()

    async def fetch():
        begun.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(gauges.watch(fetch, print))
    async with asyncio.timeout(5):
        await begun.wait()
    task.cancel()
    await asyncio.wait([task], timeout=5)
    assert task.cancelled()
