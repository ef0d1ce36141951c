"""D5 and D6: a ledger that was damaged, or that lost what lay beside it."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from invariant import check_invariant

from synthnb.engine.events import Noted
from synthnb.engine.run import State
from synthnb.errors import StoreError
from synthnb.pipeline import generate
from synthnb.recipes import Prompt
from synthnb.store.manifest import COUNTS, read_counts
from synthnb.store.salvage import recover
from synthnb.testing import fault_process

pytestmark = pytest.mark.chaos
VICTIM = Path(__file__).with_name("victim.py")
ROWS = 1500
DATA = [{"n": n, "text": f"#R{n}#"} for n in range(ROWS)]
RECIPE = Prompt("Row {{ text }}", field="reply")


def killed(folder, saved):
    """Kill a run as soon as it has saved so much; return what it had acknowledged."""
    with fault_process("--latency", "0.01", "--max-seconds", "60") as server:
        process = subprocess.Popen(
            [sys.executable, VICTIM, server.base_url, folder, str(ROWS), "16"],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        said, noted = 0, None
        while said < saved or noted is None or noted.answers < saved:
            said = int(process.stdout.readline().split()[1])
            noted = read_counts(folder / COUNTS)
        process.send_signal(signal.SIGKILL)
        process.wait(30)
        process.stdout.close()
    return said


async def run_again(folder, puppet):
    """Run the same cell with another client; return the run, its notes and the client."""
    client, notes = puppet(), []
    client.model = "fault-model"
    run = generate(RECIPE, DATA, client, folder=folder)
    run.subscribe(lambda e: notes.append(e.text) if isinstance(e, Noted) else None)
    await run
    return run, notes, client


async def test_d6_a_deleted_wal_is_told_and_its_answers_are_asked_for_again(
    puppet, tmp_path
):
    folder = tmp_path / "run"
    acknowledged = killed(folder, 200)
    wal = folder / "run.sqlite-wal"
    assert wal.stat().st_size > 0
    wal.unlink()
    (folder / "run.sqlite-shm").unlink()
    run, notes, client = await run_again(folder, puppet)
    (note,) = notes
    assert "are missing from" in note
    assert "-wal" in note
    lost = int(note.split()[0].replace(",", ""))
    assert 0 < lost <= acknowledged + 256
    assert run.state is State.DONE
    assert len(client.asked) + run.progress.resumed == ROWS
    found = check_invariant(folder, [f"#R{n}#" for n in range(ROWS)])
    assert len(found.answers) == ROWS
    _, notes, client = await run_again(folder, puppet)
    assert (notes, client.asked) == ([], [])


async def test_d6_a_copy_without_its_wal_is_told(puppet, tmp_path):
    killed(tmp_path / "run", 200)
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("run.sqlite", "recipe.json", COUNTS):
        shutil.copy(tmp_path / "run" / name, copy / name)
    run, notes, _ = await run_again(copy, puppet)
    assert "copied without it" in notes[0]
    assert run.state is State.DONE


async def test_d6_a_killed_run_that_lost_nothing_is_told_nothing(puppet, tmp_path):
    acknowledged = killed(tmp_path / "run", 200)
    run, notes, client = await run_again(tmp_path / "run", puppet)
    assert notes == []
    assert run.progress.resumed >= acknowledged
    assert len(client.asked) == ROWS - run.progress.resumed


@pytest.mark.parametrize("where", [0.3, 0.6, 0.9])
async def test_d5_a_flipped_bit_costs_nothing_until_it_is_recovered(
    puppet, tmp_path, where
):
    folder = tmp_path / "run"
    await run_again(folder, puppet)
    whole = bytearray((folder / "run.sqlite").read_bytes())
    whole[int(len(whole) * where)] ^= 4
    (folder / "run.sqlite").write_bytes(whole)
    client = puppet()
    run = generate(RECIPE, [*DATA, {"n": -1, "text": "new"}], client, folder=folder)
    with pytest.raises(StoreError, match="is not what synthnb left there") as caught:
        await run
    assert "synthnb recover" in caught.value.hint
    assert client.asked == []
    rescued = recover(folder)
    assert rescued.vouched
    run, _, client = await run_again(folder, puppet)
    assert len(client.asked) == ROWS - run.progress.resumed < ROWS / 2
    assert len(check_invariant(folder).answers) == ROWS
