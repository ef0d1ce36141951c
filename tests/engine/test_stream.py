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
    assert [e.at for e in events] == sorted(e.at for e in events)
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

    def elsewhere():
        with asyncio.Runner() as runner:  # not asyncio.run: nest-asyncio leaves it open
            runner.run(read())

    thread = threading.Thread(target=elsewhere)
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


def source():
    """Stand in for a run: who listens to it, and a way to speak to them."""
    ears = []

    def subscribe(listener):
        ears.append(listener)
        return lambda: ears.remove(listener)

    def say(event):
        for ear in tuple(ears):
            ear(event)

    return ears, subscribe, say


async def test_closing_wakes_whoever_waits():
    ears, subscribe, _ = source()
    stream = EventStream(subscribe, is_over=lambda: False)

    async def read():
        return [event async for event in stream]

    waiting = [asyncio.create_task(read()) for _ in range(2)]
    await asyncio.sleep(0)
    await asyncio.to_thread(stream.close)
    async with asyncio.timeout(10):
        assert await asyncio.gather(*waiting) == [[], []]
    assert ears == []


async def test_a_stream_that_is_let_go_listens_no_more():
    ears, subscribe, say = source()
    stream = EventStream(subscribe, is_over=lambda: False)
    say(StateChanged(State.RUNNING))
    async for _ in stream:
        break
    assert len(ears) == 1
    del stream
    assert ears == []


async def test_a_run_that_ends_while_the_stream_begins_ends_the_stream():
    over = []

    def subscribe(listener):
        over.append(True)  # the run's last event went out just before
        return lambda: None

    stream = EventStream(subscribe, is_over=lambda: bool(over))
    async with asyncio.timeout(10):
        assert [event async for event in stream] == []


async def test_a_reader_that_gave_up_waiting_misses_nothing():
    _, subscribe, say = source()
    stream = EventStream(subscribe, is_over=lambda: False)
    try:
        async with asyncio.timeout(0):
            await anext(stream)
    except TimeoutError:
        say(StateChanged(State.PAUSED))
    assert (await anext(stream)).state is State.PAUSED


def test_the_time_of_an_event_does_not_tell_it_from_another():
    assert Dropped(1, at=1.0) == Dropped(1, at=2.0)
    assert Dropped(1) != Dropped(2)
