"""A disk that is really full, really read-only, really slow to come back."""

from __future__ import annotations

import asyncio
import subprocess

import pytest

from synthnb.engine.progress import State
from synthnb.errors import StoreError, StoreFullError
from synthnb.pipeline import generate

pytestmark = pytest.mark.chaos
LONG = "x" * 4000


@pytest.fixture
def small_disk(tmp_path):
    """Mount 1 MB of memory as a disk; ``grow`` makes it 64 MB."""
    mount = tmp_path / "disk"
    mount.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", mount],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    if made.returncode:
        pytest.skip(f"this user may not mount a disk: {made.stderr.strip()}")

    def grow():
        subprocess.run(["mount", "-o", "remount,size=64m", mount], check=True)

    yield mount, grow
    subprocess.run(["umount", "-l", mount], check=True)


def rows(n):
    return [{"text": f"t{i}"} for i in range(n)]


async def until(condition):
    for _ in range(2000):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it never came to that")


async def test_a_full_disk_waits_says_so_and_goes_on(echo, puppet, small_disk):
    mount, grow = small_disk
    client = puppet(lambda text: f"{text}{LONG}")
    run = generate(echo(), rows(1500), client, folder=mount / "run")
    await until(lambda: run._gate.disk_trouble)
    assert "no space left" in run.progress.note
    assert "no space left" in repr(run)
    asked = len(client.asked)
    saved = run.progress.saved
    await asyncio.sleep(0.2)
    assert len(client.asked) <= asked + client.default_concurrency
    grow()
    df = await run
    assert run.state is State.DONE
    assert run.progress.note == ""
    assert len(df) == 1500
    assert set(df["status"]) == {"ok"}
    assert 0 < saved < 1500
    assert len(client.asked) == 1500


async def test_stopping_on_a_full_disk_says_what_is_not_saved(echo, puppet, small_disk):
    mount, grow = small_disk
    client = puppet(lambda text: f"{text}{LONG}")
    run = generate(echo(), rows(1500), client, folder=mount / "run")
    await until(lambda: run._gate.disk_trouble)
    saved = run.progress.saved
    run.stop()
    with pytest.raises(StoreFullError, match="entries were not saved"):
        await run
    assert len(run.frame()) == saved
    grow()
    again = puppet(lambda text: f"{text}{LONG}")
    assert len(await generate(echo(), rows(1500), again, folder=mount / "run")) == 1500
    assert len(again.asked) == 1500 - saved


async def test_a_folder_that_cannot_be_written_costs_nothing(echo, puppet):
    client = puppet()
    with pytest.raises(StoreError, match=r"cannot be written[\s\S]*SYNTHNB_HOME"):
        generate(echo(), rows(3), client, folder="/proc/synthnb/run")
    assert client.asked == []
