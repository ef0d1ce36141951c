"""Controlling a run: pause, stop, interrupt, wait, attach."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import pytest

from synthnb.engine.progress import State
from synthnb.errors import AuthError, StoreError, StoreLockedError
from synthnb.pipeline import generate
from synthnb.testing import fault_process


def rows(n):
    return [{"text": f"t{i}", "topic": i} for i in range(n)]


async def test_generate_returns_before_anything_is_answered(echo, puppet):
    gate = asyncio.Event()

    async def later():
        await gate.wait()
        return "x"

    run = generate(echo(), rows(3), puppet(lambda _: later()), name="later")
    assert run.state is State.CONNECTING
    await asyncio.sleep(0.02)
    assert run.progress.in_flight == 3
    assert len(run.frame()) == 0
    gate.set()
    assert len(await run) == 3


async def test_pause_sends_nothing_and_resume_goes_on(echo, puppet):
    async def slow():
        await asyncio.sleep(0.002)
        return "x"

    client = puppet(lambda _: slow())
    run = generate(echo(), rows(200), client, name="pause")
    while run.progress.done < 20:
        await asyncio.sleep(0.001)
    run.pause()
    assert run.state is State.PAUSED
    await asyncio.sleep(0.03)
    asked = len(client.asked)
    await asyncio.sleep(0.03)
    assert len(client.asked) == asked < 200
    run.resume()
    assert len(await run) == 200


async def test_stop_keeps_what_is_in_flight_and_the_rest_follows_later(echo, puppet):
    async def slow():
        await asyncio.sleep(0.01)
        return "x"

    run = generate(echo(), rows(200), puppet(lambda _: slow()), name="stop")
    while run.progress.done < 20:
        await asyncio.sleep(0.001)
    run.stop()
    df = await run
    assert run.state is State.STOPPED
    assert run.progress.requests == run.progress.done == len(df) < 200
    client = puppet()
    assert len(await generate(echo(), rows(200), client, name="stop")) == 200
    assert len(client.asked) == 200 - len(df)


async def test_a_second_stop_drops_what_is_in_flight(echo, puppet):
    async def forever():
        await asyncio.sleep(100)

    run = generate(echo(), rows(20), puppet(lambda _: forever()), name="stop2")
    while run.progress.in_flight < 8:
        await asyncio.sleep(0.001)
    run.stop()
    run.stop()
    df = await run
    assert run.state is State.STOPPED
    assert set(df["status"]) == {"cancelled"}
    assert run.progress.in_flight == 0


async def test_an_interrupted_cell_stops_the_run_and_leaves_no_task(echo, puppet):
    async def slow():
        await asyncio.sleep(0.02)
        return "x"

    run = generate(echo(), rows(500), puppet(lambda _: slow()), name="interrupt")
    cell = asyncio.ensure_future(run._wait())
    await asyncio.sleep(0.05)
    cell.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cell
    await run
    assert run.state is State.STOPPED
    assert len(asyncio.all_tasks()) == 1


async def test_the_same_cell_while_it_works_attaches(echo, puppet):
    data = rows(50)
    run = generate(echo(), data, puppet(), name="twice")
    assert generate(echo(), data, puppet(), name="twice") is run
    with pytest.raises(StoreLockedError, match="still at work in this kernel"):
        generate(echo(prompt="other"), data, puppet(), name="twice")
    await run


async def test_a_listener_that_fails_does_not_matter(echo, puppet):
    heard = []
    run = generate(echo(), rows(5), puppet(), name="events")
    run.subscribe(lambda event: 1 / 0)
    run.subscribe(heard.append)
    await run
    names = [type(event).__name__ for event in heard]
    assert names.count("Answered") == 5
    assert heard[-1].state is State.DONE


def test_a_script_without_a_loop_waits(echo, puppet):
    run = generate(echo(), rows(30), puppet(), name="script")
    assert len(run.wait()) == 30
    assert repr(run).startswith("Run 'script': done · 30 of 30 rows · 30 ok")


def test_wait_gives_up_after_its_timeout_and_the_run_goes_on(echo, puppet):
    let_go = threading.Event()

    async def blocked():
        while not let_go.is_set():
            await asyncio.sleep(0.001)
        return "x"

    run = generate(echo(), rows(3), puppet(lambda _: blocked()), name="timeout")
    with pytest.raises(TimeoutError):
        run.wait(timeout=0.02)
    let_go.set()
    assert len(run.wait()) == 3


def test_wait_raises_what_ended_the_run(echo, puppet):
    run = generate(echo(), rows(3), puppet(lambda _: AuthError("no")), name="waiterr")
    with pytest.raises(AuthError, match="no"):
        run.wait()


def test_a_run_started_in_a_script_may_be_awaited_elsewhere(echo, puppet):
    run = generate(echo(), rows(3), puppet(), name="elsewhere")

    async def main():
        return await run

    with asyncio.Runner() as runner:
        assert len(runner.run(main())) == 3


async def test_a_ledger_that_breaks_ends_the_run_even_when_all_wait(echo, puppet):
    def broken(group):
        raise sqlite3.DatabaseError("database disk image is malformed")

    run = generate(echo(), rows(500), puppet(), name="broken")
    run.pause()
    run._store._writer._write = broken
    run._store.put_meta("any", "thing")
    with pytest.raises(StoreError, match="malformed"):
        await asyncio.wait_for(run.finished(), 5)
    assert run.state is State.ERROR
    assert len(asyncio.all_tasks()) == 1


SCRIPT = """
import sys
import synthnb as sn
provider = sn.Provider(sys.argv[1], model="fault-model")
rows = [{"text": f"#R{n}#"} for n in range(5000)]
limits = sn.Limits(max_concurrency=4)
run = sn.generate(sn.Prompt("{{ text }}"), rows, provider, name="s", limits=limits)
try:
    run.wait()
except KeyboardInterrupt:
    print(run.state, run.progress.in_flight, run.progress.saved, run.progress.requests)
    raise
"""


def test_ctrl_c_in_a_script_saves_what_is_in_flight():
    with fault_process("--latency", "0.05", "--max-seconds", "60") as server:
        process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, server.base_url],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        deadline = time.monotonic() + 30
        while server.stats()["requests"] < 12 and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        state, in_flight, saved, requests = out.split()
        assert (state, in_flight) == ("stopped", "0")
        assert saved == requests
        assert int(requests) == server.stats()["requests"] < 5000
        assert "KeyboardInterrupt" in err
