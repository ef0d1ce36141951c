"""Nobody answers: the pool waits for one knock at the door, and goes on by itself."""

from __future__ import annotations

import asyncio

import pytest

from synthnb.config import Limits, Retry
from synthnb.engine.events import Held, StateChanged
from synthnb.engine.progress import State
from synthnb.errors import ConnectError
from synthnb.pipeline import generate
from synthnb.providers.provider import Provider
from synthnb.testing import FaultServer

FAST = Limits(max_connect_failures=6, retry=Retry(base_seconds=0.02, max_seconds=0.1))


def rows(n):
    return [{"text": f"t{i}"} for i in range(n)]


class Door:
    """A client behind which nobody is, until somebody is."""

    def __init__(self, client, opens_after):
        self.client = client
        self.opens_after = opens_after
        self.knocks = 0

    def __getattr__(self, name):
        return getattr(self.client, name)

    async def is_up(self):
        self.knocks += 1
        return self.knocks > self.opens_after

    async def complete(self, request):
        if self.knocks <= self.opens_after:
            self.client.asked.append("refused")
            raise ConnectError("nothing listens there")
        return await self.client.complete(request)

    async def aclose(self):
        pass


async def test_one_worker_knocks_and_the_run_goes_on_by_itself(echo, puppet):
    door = Door(puppet(concurrency=8), opens_after=3)
    run = generate(echo(), rows(50), door, name="door", limits=FAST)
    events = []
    run.subscribe(events.append)
    df = await run
    assert list(df["status"]) == ["ok"] * 50
    assert door.knocks == 4
    states = [e.state for e in events if isinstance(e, StateChanged)]
    assert states.count(State.STALLED) == 1
    assert states[states.index(State.STALLED) + 1] is State.RUNNING
    # Each worker met the closed door once at most, not at every knock.
    assert door.client.asked.count("refused") <= 8
    assert sum(isinstance(e, Held) for e in events) == 4


async def test_a_stalled_run_can_be_paused_and_stopped(echo, puppet):
    slow = Limits(retry=Retry(base_seconds=30, max_seconds=60))
    run = generate(
        echo(), rows(5), Door(puppet(), 9), name="still", limits=slow
    )  # knocks after 30 s
    while run.state is not State.STALLED:
        await asyncio.sleep(0.005)
    run.pause()
    assert run.state is State.PAUSED
    run.resume()
    assert run.state is State.STALLED
    run.stop()
    await run
    assert run.state is State.STOPPED


async def test_the_end_says_how_often_nobody_answered(echo, puppet):
    door = Door(puppet(), opens_after=99)
    run = generate(echo(), rows(5), door, name="never", limits=FAST)
    with pytest.raises(ConnectError, match="7 times in a row"):
        await run
    assert run.state is State.ERROR


async def test_a_server_that_comes_back_is_found_by_its_health(echo):
    server = FaultServer(latency=0.01)
    await server.start()
    provider = Provider(server.base_url, "fault-model")
    limits = Limits(
        max_connect_failures=30, retry=Retry(base_seconds=0.05, max_seconds=0.1)
    )
    run = generate(echo(), rows(300), provider, name="back", limits=limits)
    while run.progress.done < 50:
        await asyncio.sleep(0.005)
    await server.close()
    while run.state is not State.STALLED:
        await asyncio.sleep(0.005)
    asked = server.stats.requests
    await server.start()
    df = await run
    await server.close()
    assert set(df["status"]) == {"ok"}
    assert len(df) == 300
    # What was in flight when it died is asked again, and nothing else.
    assert server.stats.requests <= 300 + 16 + (asked - 50)


async def test_a_gateway_without_its_server_is_not_up(echo):
    from synthnb.testing.wire import Reply

    class Gateway(FaultServer):
        gone = True

        def _plain(self, route, request):
            return Reply(502) if self.gone else super()._plain(route, request)

    async with Gateway() as server:
        client = await Provider(server.base_url, "fault-model").connect()
        assert not await client.is_up()
        server.gone = False
        assert await client.is_up()
    assert not await client.is_up()
    await client.aclose()
