"""K10: a process that forks while its run works (multiprocessing's default on Linux)."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import pytest
from invariant import check_invariant

from synthnb.engine.run import State
from synthnb.errors import StoreError
from synthnb.pipeline import generate
from synthnb.testing import FaultServer

pytestmark = [
    pytest.mark.chaos,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="cannot fork here"),
]
VICTIM = Path(__file__).with_name("fork_victim.py")
ROWS = 400


async def test_k10_a_forked_child_harms_nothing_and_may_run_its_own(tmp_path):
    folder = tmp_path / "run"
    async with FaultServer(latency=0.02) as server:
        process = subprocess.Popen(
            [sys.executable, VICTIM, server.base_url, folder, str(ROWS)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        said, complaints = await asyncio.to_thread(process.communicate, timeout=60)
    assert process.returncode == 0, complaints
    lines = said.splitlines()
    assert [x for x in lines if x.startswith("child")] == [
        *(f"child refused {w} True" for w in ("stop", "pause", "wait", "finished")),
        *(f"child refused {w} True" for w in ("put", "flush")),
        "child refused open False",
        "child refused ask ConnectError",
        "child sees True",
        "child made 8",
        "child refused second owner False",
    ]
    assert lines[-1] == f"done {ROWS}"
    assert "parent saw 0" in lines
    assert "parent works True" in lines
    asked = [f"t{n}" for n in range(ROWS)]
    assert len(check_invariant(folder, asked, acknowledged=ROWS).answers) == ROWS
    assert check_invariant(folder.with_name("of-the-child")).results == 8


def _stop_it(run, pipe):
    try:
        run.stop()
    except StoreError as error:
        pipe.send(str(error))
    pipe.close()


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
async def test_k10_a_worker_of_multiprocessing_gets_the_next_step(
    echo, puppet, tmp_path
):
    client = puppet()
    rows = [{"text": f"t{n}"} for n in range(5_000)]
    run = generate(echo(), rows, client, folder=tmp_path / "run")
    while run.progress.saved < 100:
        await run.events().__anext__()
    here, there = multiprocessing.Pipe()
    forking = multiprocessing.get_context("fork")
    worker = forking.Process(target=_stop_it, args=(run, there))
    worker.start()
    there.close()
    said = here.recv()
    worker.join(30)
    assert worker.exitcode == 0
    assert f"process {os.getpid()}" in said
    assert "set_start_method" in said
    await run
    assert run.state is State.DONE
    assert len(check_invariant(tmp_path / "run").answers) == 5_000
