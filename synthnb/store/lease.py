"""Who works in a folder on a network file system, where file locks may not hold.

A file names the owner and is touched every few seconds; one that was not touched for a
minute belongs to nobody. Ages are told by the file server's clock alone, so hosts need
not agree on the time.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import Any

from synthnb.errors import StoreError, StoreLockedError

BEAT_SECONDS = 10.0
STALE_SECONDS = 60.0
_FILE = "lease.json"
_TRIES = 5


class Lease:
    """Holds a folder for one owner until ``release``, or a minute after its death."""

    def __init__(
        self,
        folder: Path,
        *,
        beat_seconds: float = BEAT_SECONDS,
        stale_seconds: float = STALE_SECONDS,
    ) -> None:
        """Prepare; nothing is taken yet."""
        self._path = folder / _FILE
        self._beat_seconds, self._stale_seconds = beat_seconds, stale_seconds
        self._mark = token_hex(8)
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._renewed = 0.0
        self._lost = ""

    def take(self) -> None:
        """Take the folder, from a dead owner too.

        Raises:
            StoreLockedError: another owner is at work there.
            StoreError: the folder cannot be written.
        """
        try:
            for _ in range(_TRIES):
                if self._make():
                    self._begin()
                    return
                self._clear()
        except OSError as error:
            msg = f"{self._path} cannot be written: {error.strerror or error}"
            hint = "Check the folder's permissions, or pass another folder=…"
            raise StoreError(msg, hint=hint) from error
        raise self._refusal(_read(self._path) or {})

    def release(self) -> None:
        """Give the folder back. Calling it twice is harmless."""
        self._ended.set()
        thread, self._thread = self._thread, None
        if thread is None:
            return
        thread.join()
        with contextlib.suppress(OSError):
            if self._is_ours():
                self._path.unlink()

    def check(self) -> None:
        """Prove, before each commit, that the folder is still ours.

        Costs nothing while the heart beats. A process that slept (a laptop's lid) looks
        at the file first: another host may have taken over meanwhile.

        Raises:
            StoreLockedError: somebody else owns it now.
        """
        if self._thread is None:
            return
        if (
            not self._lost
            and _awake_seconds() - self._renewed > self._stale_seconds / 2
        ):
            self._renew()
        if self._lost:
            hint = "What was saved is safe; wait for the other one, then run again."
            raise StoreLockedError(self._lost, hint=hint)

    def _make(self) -> bool:
        """Make the file if there is none: one request, of which only one can win."""
        note = {
            "mark": self._mark,
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "machine": _machine(),
            "since": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        try:
            handle = os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        except FileExistsError:
            return False
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(note, file)
            file.flush()
            os.fsync(file.fileno())
        return self._is_ours()

    def _begin(self) -> None:
        self._renewed = _awake_seconds()
        self._thread = threading.Thread(
            target=self._beat, name="synthnb-lease", daemon=True
        )
        self._thread.start()

    def _beat(self) -> None:
        while not self._ended.wait(self._beat_seconds) and not self._lost:
            self._renew()

    def _renew(self) -> None:
        """Touch the file, or find that it is no longer ours."""
        try:
            if not self._is_ours():
                owner = _owner(_read(self._path) or {})
                self._lost = f"the run in {self._path.parent} was taken over by {owner}"
                return
            os.utime(self._path)
            self._renewed = _awake_seconds()
        except OSError as error:
            # A file server that is away for a moment is no loss yet.
            if _awake_seconds() - self._renewed > self._stale_seconds / 2:
                why = error.strerror or error
                self._lost = f"the lease {self._path} could not be renewed: {why}"

    def _is_ours(self) -> bool:
        note = _read(self._path)
        return note is not None and note.get("mark") == self._mark

    def _clear(self) -> None:
        """Take a dead owner's file away.

        Raises:
            StoreLockedError: its owner lives.
        """
        note, age = _read(self._path), self._age()
        if age is None:
            return
        dead = note is not None and _is_dead(note)
        if not dead and age <= self._stale_seconds:
            raise self._refusal(note or {})
        # Set aside and looked at again: of two that found it dead, the later one may
        # have picked up the file that the earlier one has made since.
        aside = self._path.with_name(f".lease-{self._mark}")
        with contextlib.suppress(FileNotFoundError):
            self._path.rename(aside)
            if _read(aside) != note:
                with contextlib.suppress(FileExistsError):
                    os.link(aside, self._path)
            aside.unlink()

    def _age(self) -> float | None:
        """Return the seconds since the last touch, told by the server's own clock."""
        probe = self._path.with_name(f".lease-{self._mark}")
        try:
            probe.write_bytes(b"")
            now = probe.stat().st_mtime
            return now - self._path.stat().st_mtime
        except FileNotFoundError:
            return None
        finally:
            probe.unlink(missing_ok=True)

    def _refusal(self, note: dict[str, Any]) -> StoreLockedError:
        msg = f"the run in {self._path.parent} is in use by {_owner(note)}"
        hint = (
            "Wait for it, stop it there (run.stop()), or give this one another name=…; "
            f"a host that died is forgotten after {self._stale_seconds:g} s."
        )
        return StoreLockedError(msg, hint=hint)


def _read(path: Path) -> dict[str, Any] | None:
    try:
        note = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return note if isinstance(note, dict) else None


def _owner(note: dict[str, Any]) -> str:
    if not {"pid", "host", "since"} <= note.keys():
        return "another process"
    return f"process {note['pid']} on {note['host']} since {note['since']}"


def _is_dead(note: dict[str, Any]) -> bool:
    """Whether the owner was a process of this very system and is no more."""
    import psutil

    machine, pid = note.get("machine"), note.get("pid")
    if machine is None or machine != _machine() or type(pid) is not int:
        return False
    return not psutil.pid_exists(pid)


def _machine() -> str | None:
    """Name this boot and space of process ids: two containers may share a host name."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
        return f"{boot.strip()} {os.readlink('/proc/self/ns/pid')}"  # noqa: PTH115 - no path
    except OSError:
        return None


_CLOCK: int | None = getattr(time, "CLOCK_BOOTTIME", None)


def _seconds_of_boot() -> float:
    assert _CLOCK is not None
    return time.clock_gettime(_CLOCK)


# Goes on while the machine sleeps, which ``monotonic`` does not on Linux.
_awake_seconds: Callable[[], float] = (
    time.monotonic if _CLOCK is None else _seconds_of_boot
)
