"""What a ledger must hold, said beside it: how much was saved, and the closed file's sums.

SQLite alone cannot tell a ledger that lost its ``-wal`` file, was copied without it, or
was put back from an older copy, from one that never had the answers in it.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import time
from array import array
from pathlib import Path
from typing import NamedTuple

from synthnb.errors import StoreError
from synthnb.store.connection import connect, journal_mode, recover_hint, translate
from synthnb.store.sums import BINARY, changed_pages, page_sums, read_sums, write_sums

COUNTS, SUMS = "progress.json", "run.sums"
_SECONDS = 0.25
_FORMAT_AT, _WAL_FORMAT = 18, b"\2"
_NAMES = {"answers": "result", "attempts": "attempt"}


class Counts(NamedTuple):
    """The highest ids of the two tables that only grow."""

    answers: int
    attempts: int

    def __str__(self) -> str:
        """Return both as words."""
        one = "answer" if self.answers == 1 else "answers"
        other = "attempt" if self.attempts == 1 else "attempts"
        return f"{self.answers:,} {one} and {self.attempts:,} {other}"


class Manifest:
    """Guards one ledger from ``__init__`` to ``close``; its owner holds the run's lock."""

    def __init__(self, path: Path) -> None:
        """Take up what the last owner left; nothing is written yet.

        Call this before the database is opened: a file that is opened and closed again
        drops the POSIX locks that SQLite holds on it in the same process
        (https://sqlite.org/howtocorrupt.html, 2.2), so one handle is kept all along.

        Args:
            path: the ledger's file, which may not be there yet.
        """
        self._path = path
        self._counts = path.with_name(COUNTS)
        self._sums = path.with_name(SUMS)
        self._handle: int | None = None
        with contextlib.suppress(FileNotFoundError):
            self._handle = os.open(path, os.O_RDONLY | BINARY)
        self._then = read_counts(self._counts)
        self._checked = self._begun = False
        self._written: Counts | None = None
        self._due = 0.0

    def missing(self, db: sqlite3.Connection) -> str:
        """Return in words what was saved once and is not there; empty where nothing is.

        Raises:
            sqlite3.Error: the ledger cannot be read.
        """
        if self._then is None:
            return ""
        now = count(db)
        lost = Counts(*(max(0, a - b) for a, b in zip(self._then, now, strict=True)))
        if not any(lost):
            return ""
        return (
            f"{lost} that were saved are missing from {self._path}: a -wal file was "
            "deleted, or the ledger was copied without it or put back from an older copy"
        )

    @property
    def must_come_first(self) -> bool:
        """Whether ``check`` cannot wait until the database is open.

        With the rollback journal each write changes the file at once, and so does the
        change from one journal to the other.
        """
        if self._handle is None:
            return False
        os.lseek(self._handle, _FORMAT_AT, os.SEEK_SET)
        is_wal = os.read(self._handle, 1) == _WAL_FORMAT
        return not is_wal or journal_mode(self._path) != "WAL"

    def check(self) -> None:
        """Prove that the file is what its last owner left. Slow: not for the loop.

        After a clean close each page is compared with its sum. After a kill there are no
        sums, and SQLite's own check must do: it finds a broken structure, not a changed
        letter. Call it before anything is written; the second time it does nothing.

        Raises:
            StoreError: the ledger is damaged, or was changed by somebody else.
        """
        if self._handle is None or self._checked:
            return
        known = read_sums(self._sums)
        if known is None:
            self._check_structure()
        else:
            self._compare(self._handle, *known)
        self._checked = True

    def _compare(self, handle: int, then: array[int], bytes_then: int) -> None:
        try:
            now, bytes_now = page_sums(handle)
        except OSError as error:
            msg = f"{self._path} cannot be read: {error.strerror or error}"
            raise StoreError(msg, hint=recover_hint(self._path.parent)) from error
        changed = changed_pages(then, now)
        if changed or bytes_then != bytes_now:
            msg = (
                f"{self._path} is not what synthnb left there: {len(changed):,} of "
                f"{len(then):,} pages differ (a fault of the disk, or another program)"
            )
            raise StoreError(msg, hint=recover_hint(self._path.parent))

    def _check_structure(self) -> None:
        try:
            db = connect(self._path, write=False)
            try:
                verdict = db.execute("PRAGMA quick_check(1)").fetchone()[0]
            finally:
                db.close()
        except sqlite3.Error as error:
            raise translate(error, self._path) from error
        if verdict != "ok":
            msg = f"{self._path} is damaged: {' '.join(verdict.split())}"
            raise StoreError(msg, hint=recover_hint(self._path.parent))

    def begin(self) -> None:
        """Take the sums away, for the file is about to change.

        Raises:
            StoreError: the folder cannot be written.
        """
        try:
            if self._handle is None:
                self._handle = os.open(self._path, os.O_RDONLY | BINARY)
            if self._sums.exists():
                self._sums.unlink()
                _sync_folder(self._sums.parent)
            self._begun = True
        except OSError as error:
            msg = f"{self._sums} cannot be removed: {error.strerror or error}"
            hint = "Check the permissions of the run's folder, then run again."
            raise StoreError(msg, hint=hint) from error

    def committed(self, db: sqlite3.Connection) -> None:
        """Note how much is saved, four times a second at most; called after each commit."""
        now = time.monotonic()
        if self._begun and now >= self._due:
            self._due = now + _SECONDS
            self._note(count(db))

    def finish(self, db: sqlite3.Connection) -> bool:
        """Note the last counts and bring all into the one file, before it is closed.

        Returns:
            Whether everything lies in it, so that it can be sealed: something was begun,
            and no reader holds an older state.

        Raises:
            sqlite3.Error: the ledger cannot be read or written.
        """
        if not self._begun:
            return False
        self._note(count(db))
        db.execute("PRAGMA busy_timeout=0")
        busy = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        return not busy

    def seal(self) -> None:
        """Write the sums of the closed file; without room there are none, which is safe."""
        if self._handle is None:
            return
        with contextlib.suppress(OSError):
            write_sums(self._sums, *page_sums(self._handle))

    def close(self) -> None:
        """Let the file go; harmless when repeated. After the database is closed."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def _note(self, counts: Counts) -> None:
        # Not flushed to the disk: a power cut may leave older counts than the ledger
        # has, never higher ones. A full disk must not end a run for them.
        if counts == self._written or not any(counts):
            return
        temporary = self._counts.with_name(f".{COUNTS}-{os.getpid()}")
        try:
            handle = os.open(temporary, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
            with os.fdopen(handle, "w", encoding="ascii") as file:
                json.dump(counts._asdict(), file)
            temporary.replace(self._counts)
            self._written = counts
        except OSError:
            with contextlib.suppress(OSError):
                temporary.unlink()


def count(db: sqlite3.Connection) -> Counts:
    """Return the highest ids; both tables only grow, so this counts without reading."""
    found = [
        db.execute(f"SELECT coalesce(max(id), 0) FROM {table}").fetchone()[0]  # noqa: S608 - our own names
        for table in _NAMES.values()
    ]
    return Counts(*found)


def read_counts(path: Path) -> Counts | None:
    """Return what was said to be saved; ``None`` where nobody said it, or it is torn."""
    try:
        said = json.loads(path.read_bytes())
        counts = Counts(*(said[name] for name in _NAMES))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return counts if all(type(n) is int and n >= 0 for n in counts) else None


def _sync_folder(folder: Path) -> None:
    """Make a removal last; Windows does so by itself and cannot open a folder."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
