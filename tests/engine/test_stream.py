"""A run's events as an async iterator."""

from __future__ import annotations

import asyncio
import threading

from synthnb.engine.events import Answered, Dropped, StateChanged
from synthnb.engine.progress import State
from synthnb.engine.stream import EventStream
from synthnb.pipeline import generate


def rows(n):
    return [{"record_id": f"row-{i}", "text": f"t{i}"} for i in range(n)]


async def test_every_event_comes_and_the_stream_ends_with_the_run(echo, puppet):
    run = generate(echo(), rows(20), puppet(), name="stream")
    events = [event async for event in run.events()]
    answered = [e for e in events if isinstance(e, Answered)]
    assert {e.row_id for e in answered} == {f"row-{i}" for i in range(20)}
    assert answered[0].prompt_tokens == 5
    assert answered[0].completion_tokens == 7
    assert answered[0].attempt == 1
    assert isinstance(events[-1], StateChanged)
    assert events[-1].state is State.DONE
    assert [event async for event in run.events()] == []


async def test_two_readers_hear_the_same(echo, puppet):
    run = generate(echo(), rows(10), puppet(), name="two")

    async def read(stream):
        return [event async for event in stream]

    first, second = await asyncio.gather(read(run.events()), read(run.events()))
    assert first == second
    assert len(first) >= 10


async def test_a_slow_reader_misses_the_oldest_and_is_told():
    hear = []

    def subscribe(listener):
        hear.append(listener)
        return hear.clear

    stream = EventStream(subscribe, is_over=False, most=3)
    for state in (State.RUNNING, State.PAUSED, State.RUNNING, State.STOPPING):
        hear[0](StateChanged(state))
    hear[0](StateChanged(State.STOPPED))
    events = [event async for event in stream]
    assert events[0] == Dropped(2)
    assert [e.state for e in events[1:]] == [
        State.RUNNING,
        State.STOPPING,
        State.STOPPED,
    ]
    assert hear == []


async def test_another_threads_loop_may_read(echo, puppet):
    gate = asyncio.Event()

    async def later():
        await gate.wait()
        return "word"

    run = generate(echo(), rows(5), puppet(lambda _: later()), name="thread")
    heard, ready = [], threading.Event()

    async def read():
        stream = run.events()
        ready.set()
        heard.extend([event async for event in stream])

    thread = threading.Thread(target=lambda: asyncio.run(read()))
    thread.start()
    await asyncio.to_thread(ready.wait, 5)
    gate.set()
    await run
    await asyncio.to_thread(thread.join, 10)
    assert not thread.is_alive()
    assert sum(isinstance(e, Answered) for e in heard) == 5


async def test_a_stream_that_is_closed_ends(echo, puppet):
    run = generate(echo(), rows(3), puppet(), name="closed")
    stream = run.events()
    stream.close()
    assert [event async for event in stream] == []
    await run
