"""A notebook's kernel that is interrupted, restarted, or one of two at the same run."""

from __future__ import annotations

import importlib.util
import os
import sys
import time
from pathlib import Path

import pytest
from invariant import check_invariant

from synthnb.testing import fault_process

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(180)]

_FILE = Path(__file__).parents[1] / "notebook" / "conftest.py"
_spec = importlib.util.spec_from_file_location("notebook_kernels", _FILE)
_kernels = importlib.util.module_from_spec(_spec)
sys.modules["notebook_kernels"] = _kernels
_spec.loader.exec_module(_kernels)
kernel = _kernels.kernel

SETUP = """
import asyncio, os
import synthnb as sn
provider = sn.Provider({url!r}, model="fault-model")
recipe = sn.Prompt("Say {{{{ text }}}}")
limits = sn.Limits(max_concurrency=4, adaptive=False)
def start(n):
    rows = [{{"text": f"#R{{i}}#"}} for i in range(n)]
    return sn.generate(recipe, rows, provider, name="run", limits=limits)
"""


def requested(n):
    return {f"#R{i}#" for i in range(n)}


def prepare(one, server):
    cell = one.run(SETUP.format(url=server.base_url))
    assert cell.status == "ok", cell.error


def until(condition):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it never came to that")


@pytest.fixture
def slow():
    """Two seconds an answer: an interrupt always finds calls in flight."""
    with fault_process("--latency", "2", "--max-seconds", "150") as started:
        yield started


@pytest.fixture
def quick():
    with fault_process("--latency", "0.02", "--max-seconds", "150") as started:
        yield started


@pytest.mark.parametrize("waiting", ["await run", "run.wait()"])
def test_one_interrupt_drains_and_the_cell_works_again(kernel, slow, tmp_path, waiting):
    prepare(kernel, slow)
    kernel.run("run = start(10)")
    sent = kernel.send(waiting)
    until(lambda: slow.stats()["requests"] >= 4)
    kernel.manager.interrupt_kernel()
    cell = kernel.collect(sent)
    assert cell.status == "error"
    assert "CancelledError" in cell.error or "KeyboardInterrupt" in cell.error
    cell = kernel.run("await run.finished(); print(run.state, run.progress.in_flight)")
    assert cell.text == "stopped 0\n"
    found = check_invariant(tmp_path / "runs" / "run", requested(10))
    assert found.results == found.attempts == slow.stats()["requests"] == 4
    assert found.by_status == {"ok": 4}
    again = kernel.run("print(len(await start(10)))")
    assert again.text == "10\n", again.error
    assert slow.stats()["requests"] == 10
    check_invariant(tmp_path / "runs" / "run", requested(10), acknowledged=10)


def test_a_second_interrupt_drops_what_is_in_flight(kernel, slow, tmp_path):
    prepare(kernel, slow)
    kernel.run("run = start(10)")
    sent = kernel.send("await run")
    until(lambda: slow.stats()["requests"] >= 4)
    kernel.manager.interrupt_kernel()
    assert kernel.collect(sent).status == "error"
    sent = kernel.send("print('again'); await run.finished()")
    while kernel.client.get_iopub_msg(timeout=20)["msg_type"] != "stream":
        pass
    kernel.manager.interrupt_kernel()
    assert kernel.collect(sent).status == "error"
    cell = kernel.run("await run.finished(); print(run.state, run.progress.in_flight)")
    assert cell.text == "stopped 0\n"
    found = check_invariant(tmp_path / "runs" / "run", requested(10))
    assert found.results == 0
    assert found.by_status == {"cancelled": 4}
    assert kernel.run("print(1 + 1)").text == "2\n"
    again = kernel.run("df = await start(10); print(len(df), set(df['status']))")
    assert again.text == "10 {'ok'}\n", again.error
    found = check_invariant(tmp_path / "runs" / "run", requested(10), acknowledged=10)
    assert found.attempts == 14 == slow.stats()["requests"]


def test_interrupts_one_after_the_other_end_well(kernel, slow, tmp_path):
    """An impatient person presses stop five times."""
    prepare(kernel, slow)
    kernel.run("run = start(10)")
    sent = kernel.send("await run")
    until(lambda: slow.stats()["requests"] >= 4)
    for _ in range(5):
        kernel.manager.interrupt_kernel()
        time.sleep(0.02)
    assert kernel.collect(sent).status == "error"
    assert kernel.run("await run.finished(); print(run.state)").text == "stopped\n"
    check_invariant(tmp_path / "runs" / "run", requested(10))
    assert kernel.run("print(len(await start(10)))").text == "10\n"
    check_invariant(tmp_path / "runs" / "run", requested(10), acknowledged=10)


@pytest.mark.parametrize("now", [True, False], ids=["killed", "asked"])
def test_restart_and_run_all_attaches_and_buys_nothing_again(
    kernel, quick, tmp_path, now
):
    prepare(kernel, quick)
    kernel.run("run = start(300)")
    until(lambda: int(kernel.run("print(run.progress.saved)").text) >= 60)
    saved = int(kernel.run("print(run.progress.saved)").text)
    kernel.manager.restart_kernel(now=now)
    kernel.client.wait_for_ready(timeout=60)
    bought = quick.stats()["requests"]
    before = check_invariant(
        tmp_path / "runs" / "run", requested(300), acknowledged=saved
    )
    prepare(kernel, quick)
    assert kernel.run("print(len(await start(300)))").text == "300\n"
    assert quick.stats()["requests"] - bought == 300 - before.results
    kernel.manager.restart_kernel(now=True)
    kernel.client.wait_for_ready(timeout=60)
    prepare(kernel, quick)
    bought = quick.stats()["requests"]
    cell = kernel.run("run = start(300); df = await run; print(run.progress.requests)")
    assert cell.text == "0\n", cell.error
    assert quick.stats()["requests"] == bought
    check_invariant(tmp_path / "runs" / "run", requested(300), acknowledged=300)


def test_a_second_kernel_is_refused_with_the_owners_pid(kernel, quick, tmp_path):
    prepare(kernel, quick)
    kernel.run("run = start(3000)")
    env = {k: v for k, v in os.environ.items() if k != "SYNTHNB_HOME"}
    other = _kernels.Kernel(tmp_path, env)
    try:
        prepare(other, quick)
        pid = kernel.run("print(os.getpid())").text.strip()
        cell = other.run("start(3000)")
        assert cell.error.startswith("StoreLockedError")
        assert f"in use by process {pid} on" in cell.error
        # In the first kernel the same cell, run again, is given the same run.
        again = kernel.run("print(start(3000) is run)")
        assert "StoreLockedError" in again.error or again.text == "True\n"
        kernel.run("run.stop(); await run.finished()")
        cell = other.run("run = start(200); print(len(await run))")
        assert cell.text == "200\n", cell.error
    finally:
        other.stop()
    check_invariant(tmp_path / "runs" / "run", requested(3000), acknowledged=200)
