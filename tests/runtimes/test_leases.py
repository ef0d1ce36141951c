"""Leases, the state file, and the server's own watch over them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from dataclasses import replace

import pytest

from synthnb.runtimes import server_process
from synthnb.runtimes.leases import LeaseFolder, ProcessId
from synthnb.runtimes.state import ServerFolder, ServerSpec, ServerState


@pytest.fixture
def folder(tmp_path):
    folder = ServerFolder(tmp_path / "server")
    folder.path.mkdir()
    return folder


@pytest.fixture
def ended():
    """A process that has ended, reaped or (until the test is over) a zombie."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    identity = ProcessId.of(process.pid)
    process.stdin.close()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    yield identity, process
    process.wait()


def state_of(process, **changes):
    state = ServerState(
        process.pid, process.create_time, 1, "http://x/v1", "m", 1, 1, 1
    )
    return replace(state, **changes)


def test_a_process_is_known_by_its_start_too():
    me = ProcessId.current()
    assert me.is_alive()
    assert not replace(me, create_time=me.create_time - 100).is_alive()


def test_a_zombie_is_not_alive(ended):
    identity, process = ended
    assert not identity.is_alive()
    process.wait()
    assert not identity.is_alive()


def test_leases_of_the_living_stay_the_others_go(tmp_path, ended):
    identity, _ = ended
    leases = LeaseFolder(tmp_path / "leases")
    assert leases.live() == []
    mine = [leases.take(), leases.take()]
    (leases.folder / f"{identity.pid}-{int(identity.create_time * 1000)}-ab").touch()
    (leases.folder / "what is this").touch()
    assert leases.live() == sorted(mine)
    assert sorted(leases.folder.iterdir()) == sorted(mine)
    mine[0].unlink()
    assert leases.live() == mine[1:]


def test_the_state_is_read_as_it_was_published(folder):
    assert folder.read() is None
    state = state_of(ProcessId.current())
    folder.publish(state)
    assert folder.read() == state
    assert state.is_alive()
    folder.retract()
    folder.retract()
    assert folder.read() is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": 1}'])
def test_a_state_that_cannot_be_read_is_none(folder, text):
    (folder.path / "state.json").write_text(text)
    assert folder.read() is None


def test_the_log_ends(folder):
    assert folder.log_tail() == ""
    folder.log.write_text("\n".join(f"line {n}" for n in range(50)))
    assert folder.log_tail(2) == "line 48\nline 49"


def test_another_spec_is_another_server(gguf):
    spec = ServerSpec(gguf, "m", slots=8, context=2048)
    others = [
        replace(spec, slots=4),
        replace(spec, context=1024),
        replace(spec, threads=1),
        replace(spec, model="n"),
    ]
    names = {each.fingerprint("1") for each in [spec, *others]} | {
        spec.fingerprint("2")
    }
    assert len(names) == 6
    assert spec.fingerprint("1") == replace(spec).fingerprint("1")
    before = spec.fingerprint()
    gguf.write_bytes(b"GGUF another")
    assert spec.fingerprint() != before


def test_a_watch_ends_the_server_after_the_last_lease(folder):
    lease = folder.leases.take()
    folder.publish(state_of(ProcessId.current()))
    ended = threading.Event()
    thread = threading.Thread(
        target=server_process.watch,
        args=(folder, ended.set),
        kwargs={"poll": 0.002, "grace": 0.01},
    )
    thread.start()
    assert not ended.wait(0.05)
    lease.unlink()
    assert ended.wait(10)
    thread.join()
    assert folder.read() is None


def test_a_lease_at_the_last_moment_keeps_the_server(folder):
    folder.publish(state_of(ProcessId.current()))
    folder.leases.take()
    assert not server_process.retire(folder)
    assert folder.read() is not None


def test_a_retiring_server_leaves_its_successors_state_alone(folder):
    successor = state_of(ProcessId.current(), pid=os.getpid() + 1)
    folder.publish(successor)
    assert server_process.retire(folder)
    assert folder.read() == successor


def test_a_folder_that_is_locked_for_long_is_looked_at_again(folder, monkeypatch):
    held = folder.lock()
    with held:
        monkeypatch.setattr(
            folder, "lock", lambda: type(held)(held.lock_file, timeout=0.01)
        )
        assert not server_process.retire(folder)


def test_a_server_whose_folder_is_gone_ends(tmp_path):
    place = tmp_path / "server"
    place.write_text("a file stands where the folder was")
    assert ServerFolder(place).leases.live() == []
    assert server_process.retire(ServerFolder(place))
