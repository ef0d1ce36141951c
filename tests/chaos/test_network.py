"""Rows N1 to N7 and N10 of the table of faults: what lies between a run and its server.

Each is a whole run against real sockets, with the invariant proven at its end. N8 and N9
stand in ``test_tls_and_proxies.py``.
"""

from __future__ import annotations

import asyncio
import json
import random
import socket
import subprocess
import sys
import threading
import time

import pytest
from invariant import check_invariant
from proxy import BlackHole, Cut, Delay, Pass, Proxy, Slice
from runs_on_the_wire import (
    QUICK,
    asked,
    at,
    forget_proxies,
    proven,
    rows,
    until,
    unused_port,
)

from synthnb.config import Limits, Retry
from synthnb.engine.events import Held, StateChanged
from synthnb.engine.progress import State
from synthnb.errors import ConnectError
from synthnb.pipeline import generate
from synthnb.testing import FaultServer, fault_process

pytestmark = pytest.mark.chaos

# Where a time-out is wanted: long enough that a busy machine is not taken for a fault.
_IMPATIENT = QUICK.model_copy(update={"first_byte_timeout": 1.5, "total_timeout": 2.0})


@pytest.fixture(autouse=True)
def no_proxy_of_this_machine(monkeypatch):
    forget_proxies(monkeypatch)


def held(run):
    """Return the list to which each wait of the whole pool is added."""
    waits = []
    run.subscribe(lambda event: isinstance(event, Held) and waits.append(event))
    return waits


def spoil(run, proxy, way, most):
    """Do ``way`` to the first connections that are made for rows, and to no others.

    The list of models is asked for before, on a connection of its own.
    """

    def begin(event):
        if event == StateChanged(State.RUNNING):
            last = proxy.accepted + most
            proxy.way = lambda number: way if number <= last else Pass()

    run.subscribe(begin)


# N1 ---------------------------------------------------------------------------------------


async def test_n1_a_server_that_is_gone_for_a_while_costs_no_row(echo):
    """The run stalls, asks for the server's health, and goes on by itself."""
    server = FaultServer(latency=0.01)
    limits = QUICK.model_copy(update={"max_connect_failures": 100})
    await server.start()
    run = generate(echo(), rows(200), at(server.base_url), name="n1", limits=limits)
    waits = held(run)
    try:
        await until(lambda: run.progress.done >= 40)
        await server.close()
        await until(lambda: len(waits) >= 3)
        assert run.state is State.STALLED
        assert run.progress.in_flight == 0
        sent = run.progress.requests
        await until(lambda: len(waits) >= 5)
        assert run.progress.requests == sent  # rows wait: only the health is asked for
        assert waits[-1].seconds >= waits[0].seconds
        await server.start()
        await run
    finally:
        await server.close()
    found = proven(run, 200)
    assert run.status == {"ok": 200}
    assert len(found.answers) == 200
    # Those in flight when it died may fail as cut off, never as a row's last attempt.
    assert found.calls - 200 <= 2 * 8


async def test_n1_a_server_that_stays_away_ends_the_run_and_it_resumes(echo):
    server = FaultServer(latency=0.01)
    await server.start()
    limits = QUICK.model_copy(update={"max_connect_failures": 4})
    run = generate(echo(), rows(100), at(server.base_url), name="n1", limits=limits)
    try:
        await until(lambda: run.progress.done >= 20)
    finally:
        await server.close()
    with pytest.raises(ConnectError, match="times in a row"):
        await run
    assert run.state is State.ERROR
    found = proven(run, 100)
    bought = len(found.answers)
    assert 20 <= bought < 100
    async with FaultServer(port=server.port) as again:
        run = generate(echo(), rows(100), at(again.base_url), name="n1", limits=limits)
        await run
        assert again.stats.requests == 100 - bought
    assert len(proven(run, 100).answers) == 100


# N2 ---------------------------------------------------------------------------------------


async def test_n2_an_unknown_host_is_one_message_and_no_storm(echo, monkeypatch):
    looked_up = []
    look_up = socket.getaddrinfo

    def counted(host, *rest, **options):
        looked_up.append(host)
        return look_up(host, *rest, **options)

    monkeypatch.setattr(socket, "getaddrinfo", counted)
    limits = QUICK.model_copy(update={"max_connect_failures": 3})
    target = at("http://nope.invalid:8000")
    run = generate(echo(), rows(500), target, name="n2", limits=limits)
    waits = held(run)
    with pytest.raises(ConnectError, match=r"'nope\.invalid' is unknown") as caught:
        await run
    assert "→" in str(caught.value)
    # Found out when it connects, the host is asked for a few times and no row is sent;
    # found out later, those in flight ask, and then one knock a wait.
    assert len(waits) <= 3
    assert 1 <= len(looked_up) <= 8 + 3
    found = proven(run, 500)
    assert found.results == 0
    assert found.calls == run.progress.requests <= 8


# N3 ---------------------------------------------------------------------------------------


async def test_n3_a_black_hole_times_out_and_leaks_no_socket(echo):
    async with FaultServer() as server:
        with Proxy(server.port) as proxy:
            run = generate(
                echo(), rows(40), at(proxy.base_url), name="n3", limits=_IMPATIENT
            )
            spoil(run, proxy, BlackHole(), 4)
            await run
            found = proven(run, 40)
            assert run.status == {"ok": 40}
            assert found.by_status["timeout"] >= 4
            assert found.calls == 40 + found.by_status["timeout"]
            await until(lambda: proxy.open == 0)
    assert run.usage.prompt_tokens == found.prompt_tokens


async def test_n3_nothing_but_a_black_hole_ends_within_its_attempts(echo):
    limits = _IMPATIENT.model_copy(
        update={"total_timeout": 0.4, "retry": Retry(max_attempts=2, base_seconds=0.01)}
    )
    with Proxy(unused_port(), BlackHole()) as proxy:
        run = generate(echo(), rows(8), at(proxy.base_url), name="n3", limits=limits)
        await run
        found = proven(run, 8)
        assert run.status == {"timeout": 8}
        assert found.by_status == {"timeout": 16}
        assert found.results == 0
        await until(lambda: proxy.open == 0)


# N4, N6 -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "reset"), [("n4_rst", True), ("n6_fin", False)], ids=["n4-rst", "n6-fin"]
)
@pytest.mark.parametrize("after", [0, 1, 16, 60, 120, 250])
async def test_n4_n6_half_an_answer_is_never_taken_for_one(echo, row, reset, after):
    """Cut in the status line, in the head, at its end, and in the body."""
    async with FaultServer(answer=lambda body: "w" * 400, latency=0.01) as server:
        with Proxy(server.port) as proxy:
            run = generate(
                echo(), rows(30), at(proxy.base_url), name=row, limits=_patient()
            )
            spoil(run, proxy, Cut(after, reset), 12)
            df = await run
            found = proven(run, 30)
            assert set(df["answer"]) == {"w" * 400}
            assert found.by_status["server"] == proxy.cut >= 6
            assert found.by_status["ok"] == 30
            assert len(found.answers) == 30


def _patient():
    # Twelve cuts at random may meet one row: its attempts must not run out.
    retry = Retry(max_attempts=13, base_seconds=0.001, max_seconds=0.01)
    return QUICK.model_copy(update={"retry": retry})


# N5 ---------------------------------------------------------------------------------------


async def test_n5_a_trickle_meets_the_deadline_of_the_whole(echo):
    """A byte comes ten times a second: no gap is long, and still the answer is late."""
    async with FaultServer() as server:
        with Proxy(server.port) as proxy:
            run = generate(
                echo(), rows(30), at(proxy.base_url), name="n5", limits=_IMPATIENT
            )
            spoil(run, proxy, Slice(1, 0.1), 3)
            await run
            found = proven(run, 30)
            assert run.status == {"ok": 30}
            assert found.by_status["timeout"] >= 3
            await until(lambda: proxy.open == 0)


# N7 ---------------------------------------------------------------------------------------


_BEAT, _LATE = 0.02, 0.25


class Heart:
    """Beats on the loop, and beside it in a thread that tells how busy the machine is."""

    def __init__(self):
        self.late = self.late_beside = 0
        self.most_cpu = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat_beside, daemon=True)
        self._task = asyncio.create_task(self._beat())
        self._thread.start()

    def stop(self):
        self._task.cancel()
        self._over.set()
        self._thread.join(10)

    async def _beat(self):
        while True:
            before, used = time.monotonic(), time.thread_time()
            await asyncio.sleep(_BEAT)
            self.late += time.monotonic() - before > _LATE
            self.most_cpu = max(self.most_cpu, time.thread_time() - used)

    def _beat_beside(self):
        before = time.monotonic()
        while not self._over.wait(_BEAT):
            self.late_beside += time.monotonic() - before > _LATE
            before = time.monotonic()


async def test_n7_a_server_that_becomes_slow_gets_less_and_the_loop_stays_free(echo):
    """Answers come 5 s late, give or take 2: the limit falls, and rises no storm."""
    limits = Limits(
        max_concurrency=64,
        first_byte_timeout=4.0,
        total_timeout=4.5,
        retry=Retry(max_attempts=20, base_seconds=0.01, max_seconds=0.1),
    )
    async with FaultServer(latency=0.02) as server:
        with Proxy(server.port) as proxy:
            run = generate(
                echo(), rows(3000), at(proxy.base_url), name="n7", limits=limits
            )
            heart = Heart()
            await until(lambda: run.progress.done >= 500)
            before = run.progress.limit
            server.chat.latency = _late()
            await until(lambda: run.progress.retries >= 10)
            assert run.progress.limit < before
            assert run.state is State.RUNNING
            server.chat.latency = 0.0
            await run
            heart.stop()
    found = proven(run, 3000)
    assert run.status == {"ok": 3000}
    assert found.by_status["timeout"] >= 10
    # A busy machine makes both late; only what the loop itself does uses its CPU.
    assert heart.most_cpu < _LATE
    assert heart.late <= 2 + 2 * heart.late_beside


def _late():
    dice = random.Random(7)
    return lambda body: 5.0 + dice.uniform(-2.0, 2.0)


async def test_n7_late_pieces_of_answers_are_waited_for(echo):
    """Jitter in the middle of answers breaks none, as long as the deadline holds."""
    async with FaultServer() as server:
        with Proxy(server.port, lambda number: Delay(0.05, 0.05, number)) as proxy:
            run = generate(
                echo(), rows(60), at(proxy.base_url), name="n7j", limits=QUICK
            )
            await run
            found = proven(run, 60)
            assert run.status == {"ok": 60}
            assert found.calls == 60


# N10 --------------------------------------------------------------------------------------

_CRAMPED = """
import asyncio, json, resource, sys
import synthnb as sn
url, folder, at_a_time, adaptive = sys.argv[1:]
async def main():
    limits = sn.Limits(max_concurrency=int(at_a_time), adaptive=adaptive == "True")
    rows = [{"text": f"#R{i}#"} for i in range(400)]
    provider = sn.Provider(url, model="fault-model")
    recipe = sn.Prompt("Say {{ text }}")
    # What is needed is imported first: an import that finds no file is another fault.
    await sn.preview(recipe, rows, provider, n=1)
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
    run = sn.generate(recipe, rows, provider, folder=folder, limits=limits)
    await run.finished()
    print(json.dumps({"status": run.status, "requests": run.progress.requests,
                      "limit": run.progress.limit, "saved": run.progress.saved}))
asyncio.run(main())
"""


@pytest.mark.parametrize("adaptive", [True, False])
def test_n10_a_process_without_file_descriptors_sends_less(tmp_path, adaptive):
    with fault_process("--latency", "0.05", "--max-seconds", "120") as server:
        done = subprocess.run(
            [
                sys.executable, "-c", _CRAMPED, server.base_url, tmp_path / "run",
                "100", str(adaptive),
            ],
            capture_output=True, text=True, timeout=100, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        assert told["status"] == {"ok": 400}
        stats = server.stats()
        # One of the 64 is the ledger's, some are the interpreter's.
        assert 8 <= stats["max_in_flight"] < 64
        if adaptive:
            assert told["limit"] < 64
    found = check_invariant(tmp_path / "run", asked(400), acknowledged=told["saved"])
    assert len(found.answers) == 400
    assert found.calls == told["requests"]
    # Those without a socket are written down and cost their row nothing.
    assert found.by_status["ok"] == 400
