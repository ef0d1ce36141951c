"""Which local servers this process uses, and the children it started for that.

One lease a server and process, however many callers share it: every connect makes a
launcher of its own, and a notebook's cell may be run a hundred times.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from synthnb.runtimes.leases import ProcessId
from synthnb.runtimes.state import ServerFolder, ServerSpec, ServerState

_STOP_SECONDS: Final = 3.0


@dataclass(slots=True)
class _Tenancy:
    folder: ServerFolder
    lease: Path
    pid: int
    users: set[str] = field(default_factory=set)

    @property
    def is_ours(self) -> bool:
        """False in a forked child, which has a copy of its parent's."""
        return self.pid == os.getpid()


_held: dict[Path, _Tenancy] = {}
_children: list[subprocess.Popen[bytes]] = []
_guard = threading.Lock()


def find_or_spawn(folder: ServerFolder, spec: ServerSpec, user: str) -> None:
    """Take a lease, then see whether a server runs; if none does, start one. Blocks.

    Args:
        folder: of servers of this spec.
        spec: what to start.
        user: names the caller; see ``give_up``.

    Raises:
        OSError: the folder cannot be written, or the child cannot be started.
    """
    _reap()
    with folder.lock():
        _hold(folder, user)
        state = folder.read()
        if state is None or not state.is_alive():
            _spawn(folder, spec)


def give_up(folder: ServerFolder, user: str) -> None:
    """Take this user off; with the last one of all processes the server ends."""
    with _guard:
        tenancy = _held.get(folder.path)
        if tenancy is None or not tenancy.is_ours:
            return
        tenancy.users.discard(user)
        if tenancy.users:
            return
        del _held[folder.path]
    _return_lease(tenancy)


@atexit.register
def give_up_all() -> None:
    """Give up every server of this process; done at its exit."""
    with _guard:
        ours = [tenancy for tenancy in _held.values() if tenancy.is_ours]
        _held.clear()
    for tenancy in ours:
        _return_lease(tenancy)


def _hold(folder: ServerFolder, user: str) -> None:
    with _guard:
        tenancy = _held.get(folder.path)
        if tenancy is None or not tenancy.is_ours:
            tenancy = _Tenancy(folder, folder.leases.take(), os.getpid())
            _held[folder.path] = tenancy
        elif not tenancy.lease.exists():  # somebody cleared the cache
            tenancy.lease = folder.leases.take()
        tenancy.users.add(user)


def _return_lease(tenancy: _Tenancy) -> None:
    """Delete the lease; if it was the last and the server is our child, end it now.

    Another process's child sees by itself that no lease is left.
    """
    folder = tenancy.folder
    with contextlib.suppress(OSError), folder.lock():
        tenancy.lease.unlink(missing_ok=True)
        state = folder.read()
        mine = [child for child in _children if state and child.pid == state.pid]
        if mine and not folder.leases.live():
            folder.retract()
            mine[0].terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                mine[0].wait(_STOP_SECONDS)
    _reap()


def _spawn(folder: ServerFolder, spec: ServerSpec) -> None:
    """Start the child and publish that it loads. The folder's lock is held."""
    command = [
        *(sys.executable, "-m", "synthnb.runtimes.server_process"),
        *("--folder", str(folder.path), "--weights", str(spec.weights)),
        *("--model", spec.model, "--slots", str(spec.slots)),
        *("--context", str(spec.context)),
        *(("--threads", str(spec.threads)) if spec.threads else ()),
    ]
    with folder.log.open("wb") as log:
        # A session of its own: the notebook's stop button interrupts the kernel's group.
        child = subprocess.Popen(  # noqa: S603 - our own Python and module
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=folder.path,  # no module of the user's folder is imported in our stead
            start_new_session=True,
        )
    _children.append(child)
    folder.publish(ServerState.loading(ProcessId.of(child.pid), spec))


def _reap() -> None:
    """Wait for children that ended: one that nobody waits for stays as a zombie."""
    _children[:] = [child for child in _children if child.poll() is None]
