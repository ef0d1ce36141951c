"""Hosts that share a folder in which file locks do not hold."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import pytest

from synthnb.errors import StoreError, StoreLockedError
from synthnb.store.lease import Lease
from synthnb.store.lock import RunLock


@pytest.fixture
def lease(tmp_path):
    made = []

    def make(**options):
        made.append(Lease(tmp_path, **options))
        return made[-1]

    yield make
    for one in made:
        one.release()


def foreign(folder, age=0.0, **changes):
    """Leave the lease of a process on another machine."""
    path = folder / "lease.json"
    note = {"mark": "theirs", "pid": 7, "host": "node7", "machine": "other boot",
            "since": "2026-01-01T00:00:00+00:00", **changes}  # fmt: skip
    path.write_text(json.dumps(note))
    moment = time.time() - age
    os.utime(path, (moment, moment))
    return path


def until(condition):
    for _ in range(1000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it never came to that")


def test_one_owner_at_a_time(lease, tmp_path):
    first = lease()
    first.take()
    with pytest.raises(StoreLockedError, match=f"in use by process {os.getpid()} on"):
        lease().take()
    first.check()
    first.release()
    first.release()
    lease().take()
    assert [p.name for p in tmp_path.iterdir()] == ["lease.json"]


def test_another_host_is_named(lease, tmp_path):
    foreign(tmp_path)
    with pytest.raises(
        StoreLockedError, match=r"process 7 on node7 since 2026[\s\S]*60 s"
    ):
        lease().take()


def test_an_owner_that_is_silent_for_a_minute_is_dead(lease, tmp_path):
    foreign(tmp_path, age=59)
    with pytest.raises(StoreLockedError):
        lease().take()
    foreign(tmp_path, age=61)
    ours = lease()
    ours.take()
    ours.check()


def test_a_dead_process_of_this_machine_is_known_at_once(lease, tmp_path):
    code = (
        "import sys, os; from pathlib import Path; from synthnb.store.lease import Lease\n"
        "Lease(Path(sys.argv[1])).take(); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert (tmp_path / "lease.json").exists()
    lease().take()


def test_a_torn_lease_belongs_to_somebody_until_it_is_old(lease, tmp_path):
    path = foreign(tmp_path)
    path.write_text("{")
    with pytest.raises(StoreLockedError, match="another process"):
        lease().take()
    os.utime(path, (1, 1))
    lease().take()


def test_the_heart_beats(lease, tmp_path):
    lease(beat_seconds=0.01).take()
    path = tmp_path / "lease.json"
    os.utime(path, (1, 1))
    until(lambda: path.stat().st_mtime > 1)


def test_an_owner_that_was_taken_over_writes_no_more(lease, tmp_path):
    ours = lease(beat_seconds=0.01)
    ours.take()
    path = foreign(tmp_path)

    until(lambda: ours._lost)
    with pytest.raises(StoreLockedError, match="taken over by process 7 on node7"):
        ours.check()
    ours.release()
    assert path.exists()


def test_a_process_that_slept_looks_before_it_writes(lease, tmp_path, monkeypatch):
    ours = lease()
    ours.take()
    foreign(tmp_path)
    ours.check()  # no beat is due yet, and nobody can have taken over so soon
    real = time.clock_gettime(time.CLOCK_BOOTTIME)
    monkeypatch.setattr("synthnb.store.lease._awake_seconds", lambda: real + 3600)
    with pytest.raises(StoreLockedError, match="taken over"):
        ours.check()


def test_a_folder_that_is_gone_is_said(lease, tmp_path):
    with pytest.raises(StoreError, match="cannot be written"):
        Lease(tmp_path / "none").take()


def test_of_many_that_find_a_dead_one_one_wins(tmp_path):
    foreign(tmp_path, age=3600)
    code = (
        "import sys; from pathlib import Path; from synthnb.store.lease import Lease\n"
        "from synthnb.errors import StoreLockedError\n"
        "lease = Lease(Path(sys.argv[1])); sys.stdin.readline()\n"
        "try: lease.take(); print('mine', flush=True)\n"
        "except StoreLockedError: print('no', flush=True)\n"
        "sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    pipe = subprocess.PIPE
    many = [
        subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) for _ in range(6)
    ]
    try:
        for one in many:
            one.stdin.write("\n")
            one.stdin.flush()
        said = [one.stdout.readline().strip() for one in many]
        assert sorted(said) == ["mine"] + ["no"] * 5
    finally:
        for one in many:
            one.stdin.close()
            one.wait(20)
            one.stdout.close()


@pytest.fixture
def network(monkeypatch, tmp_path):
    """Let the tests' folder lie on NFS, as mountinfo would say it."""
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        "25 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
        f"40 25 0:40 / {tmp_path / 'home'} rw - nfs4 server:/home rw\n"
    )
    monkeypatch.setattr("synthnb.store.files._MOUNTINFO", mounts)
    home = tmp_path / "home"
    home.mkdir()
    return home


def test_on_a_network_home_a_second_host_is_refused(network):
    """No file lock is held here: it is the lease that refuses."""
    foreign(network)
    with pytest.raises(StoreLockedError, match="process 7 on node7"):
        RunLock(network).acquire()
    assert not (network / "owner.json").exists()
    (network / "lease.json").unlink()
    lock = RunLock(network)
    lock.acquire()
    lock.check()
    assert (network / "lease.json").exists()
    lock.release()
    assert not (network / "lease.json").exists()


def test_where_there_are_no_file_locks_the_lease_alone_decides(network, monkeypatch):
    def refuse(*_):
        raise OSError(37, "No locks available")

    monkeypatch.setattr("filelock.FileLock.acquire", refuse)
    first = RunLock(network)
    first.acquire()
    with pytest.raises(StoreLockedError, match=f"process {os.getpid()}"):
        RunLock(network).acquire()
    first.release()


def test_a_local_folder_has_no_lease(tmp_path):
    lock = RunLock(tmp_path)
    lock.acquire()
    lock.check()
    assert not (tmp_path / "lease.json").exists()
    lock.release()
