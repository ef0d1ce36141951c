"""A disk that fails at one write or flush after the other, and one that is read-only."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from invariant import check_invariant

from synthnb.errors import StoreError
from synthnb.pipeline import generate
from synthnb.store import RunStore

pytestmark = pytest.mark.chaos
VICTIM = Path(__file__).with_name("disk_victim.py")
ROWS = 60
REQUESTED = [f"t{n}" for n in range(ROWS)]


@pytest.fixture(scope="session")
def strace():
    """Name the program; skip where there is none, or where it may trace nothing."""
    program = shutil.which("strace")
    if program is None:
        pytest.skip("strace is not installed (apt install strace)")
    tried = subprocess.run(
        [program, "true"], capture_output=True, text=True, check=False
    )
    if tried.returncode:
        pytest.skip(f"strace may not trace here: {tried.stderr.strip()[-200:]}")
    return program


def live(folder, *before, rows=ROWS, size=()):
    """Run a victim to its end; return what it said."""
    command = [*before, sys.executable, VICTIM, folder, str(rows), *map(str, size)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=60
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout.splitlines()


def saved(lines):
    return max((int(x.split()[1]) for x in lines if x.startswith("saved ")), default=0)


def inject(strace, calls, error, when):
    how = f"inject={calls}:error={error}:when={when}"
    return [strace, "-f", "-o", os.devnull, "-e", f"trace={calls}", "-e", how]


@pytest.mark.parametrize(
    ("calls", "error", "when"),
    [
        *(("fdatasync,fsync", "EIO", n) for n in (1, 3, 7)),
        *(("fdatasync,fsync", "ENOSPC", n) for n in (2,)),
        *(("pwrite64", "ENOSPC", n) for n in (1, 5, 20)),
        *(("pwrite64", "EIO", n) for n in (20,)),
    ],
)
def test_one_write_that_fails_loses_nothing(tmp_path, strace, calls, error, when):
    folder = tmp_path / "run"
    live(
        folder, rows=5
    )  # a ledger that is there: the faults hit commits, not its making
    lines = live(folder, *inject(strace, calls, error, when))
    found = check_invariant(folder, REQUESTED, acknowledged=5 + saved(lines))
    if lines[-1].startswith("failed"):
        assert saved(lines) == 0, f"it may only fail before the first call: {lines}"
        assert found.results == 5
    else:
        assert lines[-1] == f"done {ROWS - 5}"
        assert found.results == found.attempts == ROWS
    assert live(folder)[-1] == f"done {ROWS - found.results}"
    check_invariant(folder, REQUESTED, acknowledged=ROWS)


@pytest.mark.parametrize("when", ["1+", "4+"])
def test_a_disk_that_stays_broken_ends_the_run_and_what_was_saved_is_there(
    tmp_path, strace, when
):
    folder = tmp_path / "run"
    live(folder, rows=5)
    lines = live(folder, *inject(strace, "fdatasync,fsync", "EIO", when))
    assert lines[-1].startswith("failed"), lines
    found = check_invariant(folder, REQUESTED, acknowledged=5 + saved(lines))
    assert live(folder)[-1] == f"done {ROWS - found.results}"


@pytest.mark.parametrize("size", [40_000, 100_000])
def test_a_file_that_may_not_grow_waits_and_goes_on(tmp_path, size):
    """As ``ulimit -f``: it needs neither root nor strace."""
    folder = tmp_path / "run"
    lines = live(folder, size=[size])
    if lines[-1].startswith("failed"):
        assert saved(lines) == 0
    else:
        assert any(line.startswith("trouble") for line in lines)
        assert "well" in lines
        assert lines[-1] == f"done {ROWS}"
        check_invariant(folder, REQUESTED, acknowledged=ROWS)


@pytest.fixture
def read_only(tmp_path):
    """Make a folder read-only for everybody: by its mode, for root by a mount."""
    mounted = []

    def make(folder):
        if os.geteuid():
            folder.chmod(0o500)
            return
        for how in (["--bind"], ["-o", "remount,ro,bind"]):
            command = ["mount", *how, folder, folder]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                pytest.skip(f"this root may not mount: {done.stderr.strip()}")
            if not mounted:
                mounted.append(folder)

    yield make
    for folder in mounted:
        subprocess.run(["umount", "-l", folder], check=True)
    for folder in tmp_path.iterdir():
        folder.chmod(0o700)


async def test_a_read_only_folder_costs_nothing_and_can_be_read(
    echo, puppet, tmp_path, read_only
):
    folder = tmp_path / "run"
    rows = [{"text": text} for text in REQUESTED]
    await generate(echo(), rows, puppet(), folder=folder)
    read_only(folder)
    client = puppet()
    with pytest.raises(StoreError, match=r"cannot be written[\s\S]*→"):
        generate(echo(), [*rows, {"text": "new"}], client, folder=folder)
    assert client.asked == []
    store = RunStore(folder)
    assert store.cost()[0] == ROWS
    assert len(list(store.slots("echo"))) == ROWS


async def test_a_folder_in_a_read_only_one_costs_nothing(
    echo, puppet, tmp_path, read_only
):
    home = tmp_path / "home"
    home.mkdir()
    read_only(home)
    client = puppet()
    with pytest.raises(StoreError, match="cannot be written"):
        generate(echo(), [{"text": "a"}], client, folder=home / "run")
    assert client.asked == []
