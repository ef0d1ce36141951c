"""What watches the calls in flight, on a clock that the test turns."""

from __future__ import annotations

import asyncio

import pytest

from synthnb.config import Limits
from synthnb.errors import RequestTimeoutError, ServerError
from synthnb.providers.redaction import Redactor
from synthnb.providers.transport import HttpTransport
from synthnb.providers.watch import CallLateError, CallWatch
from synthnb.testing import Fault, FaultServer


async def waits(watch, seconds, for_seconds=30.0):
    with watch.call(seconds):
        await asyncio.sleep(for_seconds)


async def test_a_call_that_is_late_is_ended_and_its_task_goes_on():
    watch = CallWatch()
    with pytest.raises(CallLateError) as ended:
        await waits(watch, 0.1)
    assert ended.value.seconds == pytest.approx(0.1)
    assert asyncio.current_task().cancelling() == 0
    assert not watch.calls


async def test_somebody_elses_cancellation_stays_one():
    watch = CallWatch()
    task = asyncio.create_task(waits(watch, 30))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not watch.calls
    watch.close()


async def test_a_process_that_slept_blames_no_server():
    watch = CallWatch()
    task = asyncio.create_task(waits(watch, 2.0, for_seconds=1.9))
    await asyncio.sleep(0)
    # As after a SIGSTOP: the timer comes five seconds too late.
    (call,) = watch.calls
    before = call.deadline
    watch._due -= 5
    watch._timer.cancel()
    watch._tick()
    assert call.deadline == pytest.approx(before + 5, abs=0.5)
    await task
    watch.close()


async def test_a_watch_at_rest_runs_no_timer():
    watch = CallWatch()
    await waits(watch, 1.0, for_seconds=0)
    while watch._timer is not None:
        await asyncio.sleep(0.05)


def transport_to(server, **limits):
    return HttpTransport(
        server.base_url,
        {},
        limits=Limits(**limits),
        concurrency=4,
        redactor=Redactor(),
    )


CHAT = b'{"model": "m", "messages": [{"role": "user", "content": "hello"}]}'


async def test_an_answer_over_the_cap_is_refused_whole():
    with FaultServer.in_thread(faults=[Fault("huge", size=20_000)]) as server:
        transport = transport_to(server, max_answer_bytes=10_000)
        with pytest.raises(ServerError, match="larger than 10,000 bytes"):
            await transport.post("/chat/completions", CHAT)
        await transport.aclose()


async def test_a_late_answer_says_what_may_be_done():
    with FaultServer.in_thread(latency=20) as server:
        transport = transport_to(server, first_byte_timeout=0.2)
        with pytest.raises(RequestTimeoutError, match=r"within 0\.2 s") as caught:
            await transport.post("/chat/completions", CHAT)
        assert "lower the concurrency" in caught.value.hint
        await transport.aclose()
