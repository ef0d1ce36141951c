"""One owner a run: a file lock, and a note that says who holds it."""

from __future__ import annotations

import contextlib
import json
import os
import socket
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from synthnb.errors import StoreError, StoreLockedError
from synthnb.store.files import file_system, is_network
from synthnb.store.lease import Lease


class RunLock:
    """Holds a run's folder until ``release`` or the end of the process.

    The operating system drops the lock when its process dies, so a ``kill -9`` leaves
    nothing to clean up. The note is only for people: it never decides. On a network
    file system, where the lock may hold on this host only, a lease is taken as well.
    """

    def __init__(self, folder: Path) -> None:
        """Prepare the lock of ``folder``; nothing is taken yet."""
        self._folder = folder
        self._note = folder / "owner.json"
        # Not a singleton and not re-entrant: two runs of one process must exclude each
        # other just as two processes do.
        self._lock = FileLock(
            folder / "lock", mode=0o600, timeout=0, thread_local=False
        )
        self._lease: Lease | None = None
        self._pid: int | None = None

    def acquire(self) -> None:
        """Take the lock or say who has it.

        Raises:
            StoreLockedError: another run owns the folder.
            StoreError: the file system or the permissions allow no lock.
        """
        is_shared = is_network(file_system(self._folder))
        try:
            self._lock.acquire()
        except Timeout:
            msg = f"the run in {self._folder} is in use by {self._owner()}"
            hint = (
                "Wait for it, stop it there (run.stop()), or give this one another "
                "name=…"
            )
            raise StoreLockedError(msg, hint=hint) from None
        except OSError as error:
            # Many network file systems have no locks; there the lease alone decides.
            if not is_shared:
                msg = f"the run in {self._folder} cannot be locked: {error}"
                hint = "Check the folder's permissions, or pass another folder=…"
                raise StoreError(msg, hint=hint) from error
        self._pid = os.getpid()
        try:
            if is_shared:
                lease = Lease(self._folder)
                lease.take()
                self._lease = lease
        except BaseException:
            self._unlock()
            raise
        self._write_note()

    def check(self) -> None:
        """Prove that the folder is still ours; costs nothing on a local disk.

        Raises:
            StoreLockedError: another host has taken it over.
        """
        if self._lease is not None:
            self._lease.check()

    def release(self) -> None:
        """Give the lock back. Calling it twice is harmless.

        In a forked child it does nothing: parent and child share one lock, and the
        child's giving it back would take it from the parent.
        """
        if self._pid != os.getpid():
            return
        self._pid = None
        with contextlib.suppress(OSError):
            self._note.unlink()
        if self._lease is not None:
            self._lease.release()
            self._lease = None
        self._unlock()

    def _unlock(self) -> None:
        if self._lock.is_locked:
            self._lock.release()

    def _write_note(self) -> None:
        started = datetime.now(UTC).isoformat(timespec="seconds")
        note = {"pid": os.getpid(), "host": socket.gethostname(), "since": started}
        # The note is for people only: a full disk must not keep the run from opening.
        with contextlib.suppress(OSError):
            handle = os.open(self._note, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(note, file)

    def _owner(self) -> str:
        try:
            note = json.loads(self._note.read_text(encoding="utf-8"))
            pid, host, since = note["pid"], note["host"], note["since"]
        except (OSError, ValueError, KeyError, TypeError):
            return "another process"
        here = " (this very process)" if pid == os.getpid() else ""
        return f"process {pid}{here} on {host} since {since}"
