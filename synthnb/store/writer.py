"""The thread that writes the ledger, in groups, off the notebook's loop."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from synthnb.errors import StoreError
from synthnb.store.batches import batches
from synthnb.store.connection import connect, is_busy, is_full, is_io, translate
from synthnb.store.manifest import Manifest
from synthnb.store.surrogates import mend

MAX_GROUP = 256
_RETRY_SECONDS = 0.5
_IO_TRIES = 5


Statements = Sequence[tuple[str, tuple[Any, ...]]]


class Entry(NamedTuple):
    """Statements that are committed together, and what is told when they are.

    They may be given as a function, which is called in the writer's thread: what is
    built there does not hold up the loop.
    """

    statements: Statements | Callable[..., Statements]
    ticket: Any = None
    values: tuple[Any, ...] = ()
    """What the function is called with. Not bound to it by ``partial``: thousands of
    entries wait under load, and each object more is one more for the garbage collector,
    which had a tenth of the loop's time."""


class Writer(threading.Thread):
    """Commits what has arrived as soon as the last commit returned; no timer.

    With one answer at a time that is a commit each; under load each commit takes what
    came while the last one was under way, at most ``MAX_GROUP`` entries.
    """

    def __init__(
        self,
        path: Path,
        *,
        manifest: Manifest,
        may_write: Callable[[], None],
        on_commit: Callable[[list[Any]], None],
        on_trouble: Callable[[StoreError | None], None],
    ) -> None:
        """Open the database in the caller's thread, so that its errors surface there.

        Args:
            path: the ledger's file.
            manifest: of that file, made before; the writer keeps and closes it.
            may_write: called before each commit; raises where the folder is no longer
                ours.
            on_commit: called in this thread with the tickets of each commit.
            on_trouble: called in this thread with an error when writing has to wait or
                has failed for good, and with ``None`` when it goes on.
        """
        super().__init__(name="synthnb-ledger", daemon=True)
        self._path = path
        self._manifest = manifest
        self._may_write = may_write
        self._on_commit = on_commit
        self._on_trouble = on_trouble
        self._queue: deque[Entry] = deque()
        self._wake = threading.Condition()
        self._resting = False
        self._closing = False
        self._abandon = False
        self._busy = 0
        self.error: StoreError | None = None
        self._db = connect(path, write=True)

    @property
    def pending(self) -> int:
        """Entries that are not yet committed."""
        return len(self._queue) + self._busy

    def put(self, entry: Entry) -> None:
        """Queue an entry. Never blocks; the engine watches ``pending``."""
        self._queue.append(entry)
        # While it commits, the writer looks at the queue again by itself; a lock for
        # each entry would cost the loop more than the entry does.
        if self._resting:
            with self._wake:
                self._wake.notify_all()

    def flush(self) -> None:
        """Wait until everything queued so far is committed.

        Raises:
            StoreError: the writer has failed for good.
        """
        with self._wake:
            self._wake.wait_for(lambda: self.error or not self.pending)
        if self.error:
            raise self.error

    def abandon(self) -> None:
        """Give up what cannot be written now (a full disk) instead of waiting."""
        with self._wake:
            self._abandon = True
            self._wake.notify_all()

    def close(self) -> None:
        """Write what is queued and end the thread.

        Raises:
            StoreError: something queued could not be written.
        """
        with self._wake:
            self._closing = True
            self._wake.notify_all()
        if self.is_alive():
            self.join()
        if self.error:
            raise self.error

    def discard(self) -> None:
        """Close the database of a writer that was never started."""
        self._db.close()
        self._manifest.close()

    def run(self) -> None:
        """Write until closed; never raises, the error is kept for the caller."""
        whole = False
        try:
            self._manifest.check()
            self._manifest.begin()
            while group := self._next_group():
                self._commit(group)
                with self._wake:
                    self._busy = 0
                    self._wake.notify_all()
            # Everything is committed; a disk too full to tidy up harms nothing.
            with contextlib.suppress(sqlite3.Error):
                whole = self._manifest.finish(self._db)
        except StoreError as error:
            self._fail(error)
        except sqlite3.Error as error:
            self._fail(translate(error, self._path))
        except Exception as error:  # noqa: BLE001 - a dead thread would lose all unseen
            msg = f"the ledger {self._path} failed: {type(error).__name__}: {error}"
            hint = "What was saved before is safe; run again to go on from there."
            self._fail(StoreError(msg, hint=hint))
        finally:
            self._db.close()
            if whole:
                self._manifest.seal()
            self._manifest.close()

    def _fail(self, error: StoreError) -> None:
        with self._wake:
            error.message += f" ({self.pending} entries were not saved)"
            self.error = error
            self._wake.notify_all()
        self._on_trouble(error)

    def _next_group(self) -> list[Entry]:
        with self._wake:
            # Said before the queue is looked at once more: an entry that comes now is
            # either seen here, or its sender sees that somebody must be woken.
            self._resting = True
            self._wake.wait_for(lambda: self._queue or self._closing)
            self._resting = False
            size = min(MAX_GROUP, len(self._queue))
            group = [self._queue.popleft() for _ in range(size)]
            self._busy = len(group)
        return group

    def _commit(self, group: list[Entry]) -> None:
        """Commit a group, waiting for room where the disk is full."""
        failures, troubled = 0, False
        while True:
            try:
                self._write(group)
            except sqlite3.Error as error:
                self._roll_back()
                failures += 1
                if self._give_up(error, failures):
                    raise
                if not troubled:
                    self._on_trouble(translate(error, self._path))
                    troubled = True
                self._wait()
            else:
                break
        if troubled:
            self._on_trouble(None)
        self._on_commit([entry.ticket for entry in group if entry.ticket is not None])
        self._manifest.committed(self._db)

    def _write(self, group: list[Entry]) -> None:
        by_sql: dict[str, list[tuple[Any, ...]]] = {}
        for entry in group:
            given = entry.statements
            for sql, values in given(*entry.values) if callable(given) else given:
                by_sql.setdefault(sql, []).append(values)
        try:
            self._insert(by_sql)
        except UnicodeEncodeError:
            self._roll_back()
            self._insert({s: [mend(s, row) for row in r] for s, r in by_sql.items()})

    def _insert(self, by_sql: dict[str, list[tuple[Any, ...]]]) -> None:
        # Unix lets us go on writing a file that is deleted: paid answers into nothing.
        if not self._path.exists():
            msg = f"{self._path} was deleted or moved while the run was writing it"
            hint = "Put the folder back if it was moved, then run the same cell again."
            raise StoreError(msg, hint=hint)
        self._may_write()
        self._db.execute("BEGIN IMMEDIATE")
        for sql, rows in by_sql.items():
            for statement, values in batches(sql, rows):
                self._db.execute(statement, values)
        self._db.execute("COMMIT")

    def _roll_back(self) -> None:
        # A full disk may have rolled back by itself; then there is nothing to undo.
        with contextlib.suppress(sqlite3.Error):
            self._db.execute("ROLLBACK")

    def _give_up(self, error: sqlite3.Error, failures: int) -> bool:
        if self._abandon:
            return True
        if is_full(error) or is_busy(error):
            return False
        if is_io(error) and failures <= _IO_TRIES:
            self._reopen()
            return False
        return True

    def _reopen(self) -> None:
        """After an I/O error SQLite's own state is in doubt: start afresh, and check."""
        with contextlib.suppress(sqlite3.Error):
            self._db.close()
        db = connect(self._path, write=True)
        verdict = db.execute("PRAGMA quick_check(1)").fetchone()[0]
        if verdict != "ok":
            db.close()
            msg = f"{self._path} is damaged after an I/O error: {verdict}"
            raise StoreError(msg, hint="Copy the folder to a healthy disk first.")
        self._db = db

    def _wait(self) -> None:
        with self._wake:
            self._wake.wait_for(lambda: self._abandon, timeout=_RETRY_SECONDS)
