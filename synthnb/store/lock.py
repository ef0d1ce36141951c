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


class RunLock:
    """Holds a run's folder until ``release`` or the end of the process.

    The operating system drops the lock when its process dies, so a ``kill -9`` leaves
    nothing to clean up. The note is only for people: it never decides.
    """

    def __init__(self, folder: Path) -> None:
        """Prepare the lock of ``folder``; nothing is taken yet."""
        self._folder = folder
        self._note = folder / "owner.json"
        # Not a singleton and not re-entrant: two runs of one process must exclude each
        # other just as two processes do.
        self._lock = FileLock(folder / "lock", timeout=0, thread_local=False)

    def acquire(self) -> None:
        """Take the lock or say who has it.

        Raises:
            StoreLockedError: another run owns the folder.
            StoreError: the file system or the permissions allow no lock.
        """
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
            msg = f"the run in {self._folder} cannot be locked: {error}"
            hint = "Check the folder's permissions, or pass another folder=…"
            raise StoreError(msg, hint=hint) from error
        started = datetime.now(UTC).isoformat(timespec="seconds")
        note = {"pid": os.getpid(), "host": socket.gethostname(), "since": started}
        # The note is for people only: a full disk must not keep the run from opening.
        with contextlib.suppress(OSError):
            self._note.write_text(json.dumps(note), encoding="utf-8")

    def release(self) -> None:
        """Give the lock back. Calling it twice is harmless."""
        if self._lock.is_locked:
            with contextlib.suppress(OSError):
                self._note.unlink()
            self._lock.release()

    def _owner(self) -> str:
        try:
            note = json.loads(self._note.read_text(encoding="utf-8"))
            pid, host, since = note["pid"], note["host"], note["since"]
        except (OSError, ValueError, KeyError, TypeError):
            return "another process"
        here = " (this very process)" if pid == os.getpid() else ""
        return f"process {pid}{here} on {host} since {since}"
