"""Leases: which processes still use a local server. The server ends with the last one.

A lease is an empty file whose name holds the pid and the start time of its process, so it
is made in one step and needs no reading. A process that was killed leaves its lease
behind, but no longer runs: the server sees that, and no orphan stays.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import psutil

_SAME_START_SECONDS = 2.0
"""A start time is counted from the boot time, which moves when the clock is set."""


@dataclass(frozen=True, slots=True)
class ProcessId:
    """A process: its pid and when it started (pids are used again)."""

    pid: int
    create_time: float

    @classmethod
    def of(cls, pid: int) -> Self:
        """Return the identity of a running process.

        Raises:
            psutil.NoSuchProcess: there is none.
        """
        return cls(pid, psutil.Process(pid).create_time())

    @classmethod
    def current(cls) -> Self:
        """Return the identity of this process."""
        return cls.of(os.getpid())

    def is_alive(self) -> bool:
        """Whether this very process runs; a zombie does not."""
        try:
            process = psutil.Process(self.pid)
            started = process.create_time()
            ended = process.status() in {psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD}
        except psutil.NoSuchProcess:
            return False
        except psutil.AccessDenied:
            return True  # it is there, and another user's
        return not ended and abs(started - self.create_time) < _SAME_START_SECONDS


class LeaseFolder:
    """The leases of one server."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def take(self) -> Path:
        """Make a lease for this process and return its file."""
        self.folder.mkdir(parents=True, exist_ok=True)
        me = ProcessId.current()
        name = f"{me.pid}-{int(me.create_time * 1000)}-{uuid.uuid4().hex[:8]}"
        lease = self.folder / name
        lease.touch(exist_ok=False)
        return lease

    def live(self) -> list[Path]:
        """Return the leases whose processes run; the others are deleted."""
        alive: list[Path] = []
        for lease in self._files():
            holder = _holder(lease)
            if holder is not None and holder.is_alive():
                alive.append(lease)
            else:
                with contextlib.suppress(OSError):
                    lease.unlink(missing_ok=True)
        return alive

    def _files(self) -> list[Path]:
        try:
            return sorted(self.folder.iterdir())
        except OSError:
            return []  # not made yet, or deleted with the cache


def _holder(lease: Path) -> ProcessId | None:
    try:
        pid, milliseconds, _ = lease.name.split("-")
        return ProcessId(int(pid), int(milliseconds) / 1000)
    except ValueError:
        return None
