"""The log of what people decided: one SQLite file that only grows.

It lies in the run's folder and is no part of the run's ledger: a review goes on while a
run holds that ledger, from another kernel, or over a frame that comes from no run.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from synthnb.errors import ConfigError, StoreError
from synthnb.records import Decision, Step
from synthnb.store import decision_schema as schema
from synthnb.store.decision_file import explain, identity, is_writable, open_log
from synthnb.store.decision_rows import decision_of, storable, what_of
from synthnb.store.files import prepare_folder

FILE = "decisions.sqlite"
MOST = 1_000_000
"""Records of one step."""

_Result = TypeVar("_Result")
_of_the_parent: list[sqlite3.Connection] = []
"""What a forked process must neither use nor close (https://sqlite.org/howtocorrupt.html)."""


class DecisionLog:
    """Append-only log of steps; many processes and threads may add to it at once.

    Nothing is made on disk before the first step is added.
    """

    def __init__(self, folder: Path) -> None:
        """Name the folder; the file in it is ``decisions.sqlite``."""
        self.folder = folder
        self.path = folder / FILE
        self._lock = threading.RLock()
        self._db: sqlite3.Connection | None = None
        self._opened: tuple[int, int, int] | None = None
        self._is_read_only = False

    def append(self, decisions: Sequence[Decision], *, by: str) -> Step:
        """Add one step; it is on disk when this returns, whole or not at all.

        Raises:
            ConfigError: no record, or more than ``MOST``.
            StoreError: it could not be saved; nothing of it is in the log.
        """
        if not 1 <= len(decisions) <= MOST:
            msg = f"a step is about 1 to {MOST:,} records, not {len(decisions):,}"
            raise ConfigError(msg, hint="Decide on them in several steps.")
        whole = tuple(decisions)
        by = storable(by)

        def write(db: sqlite3.Connection) -> Step:
            step = Step(_next(db), by, _now(), whole)
            db.execute(schema.PUT_STEP, (step.number, by, step.decided_at, None))
            db.executemany(schema.PUT_ENTRY, _rows(step))
            return step

        return self._write(write)

    def undo(self, *, by: str) -> Step | None:
        """Add a step that takes back the last one of ``by`` that still stands.

        Returns:
            The new step; ``None`` where nothing of theirs is left to take back.

        Raises:
            StoreError: it could not be saved.
        """
        by = storable(by)
        if not self.path.exists() and self._opened is None:
            return None

        def write(db: sqlite3.Connection) -> Step | None:
            found = db.execute(schema.LAST_STANDING, (by,)).fetchone()
            if found is None:
                return None
            step = Step(_next(db), by, _now(), (), found[0])
            values = (step.number, by, step.decided_at, step.undoes)
            db.execute(schema.PUT_STEP, values)
            return step

        return self._write(write)

    def read(self, after: int = 0) -> list[Step]:
        """Return the steps behind number ``after``, oldest first.

        Raises:
            StoreError: the file is damaged, no log, or gone since it was opened.
        """
        with self._lock:
            if not self.path.exists() and self._opened is None:
                return []
            with self._explained():
                db = self._connection(make=False)
                try:
                    return _steps(db, after)
                except (ValueError, KeyError) as error:
                    msg = f"{self.path} is damaged: {error}"
                    raise StoreError(msg, hint="Take it back from a copy.") from error
                finally:
                    if self._is_read_only:
                        # Nothing would tell such a connection what others write.
                        self._close()

    @property
    def is_gone(self) -> bool:
        """Whether the file that was opened is no longer the one at ``path``."""
        opened = self._opened
        return opened is not None and identity(self.path) != opened[:2]

    def close(self) -> None:
        """Close the file; the next call opens it again."""
        with self._lock:
            self._close()
            self._opened = None

    def __del__(self) -> None:
        if getattr(self, "_db", None) is not None:
            self._close()

    def _close(self) -> None:
        db, self._db = self._db, None
        if db is not None:
            with contextlib.suppress(sqlite3.Error):
                db.close()

    def _write(self, write: Callable[[sqlite3.Connection], _Result]) -> _Result:
        with self._lock, self._explained():
            db = self._connection(make=True)
            db.execute("BEGIN IMMEDIATE")
            try:
                result = write(db)
                db.execute("COMMIT")
            except BaseException:
                # A full disk may have rolled back by itself; then there is nothing to.
                with contextlib.suppress(sqlite3.Error):
                    db.execute("ROLLBACK")
                raise
            return result

    def _connection(self, *, make: bool) -> sqlite3.Connection:
        """Return the open file. Unix would let us go on writing one that is deleted."""
        if self._opened is not None:
            if self.is_gone:
                self._close()
                msg = f"{self.path} was deleted or moved while it was in use"
                hint = "Put it back, or begin a new log: call sn.review(df) again."
                raise StoreError(msg, hint=hint)
            if self._db is not None and self._opened[2] != os.getpid():
                _of_the_parent.append(self._db)
                self._db = None
        if self._db is None:
            if make:
                prepare_folder(self.folder)
            self._is_read_only = not make and not is_writable(self.path)
            self._db = open_log(self.path, write=not self._is_read_only)
            self._opened = (*identity(self.path), os.getpid())
        return self._db

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            # After any failure SQLite's own state may be in doubt: begin afresh.
            self._close()
            raise explain(error, self.path) from error


def _steps(db: sqlite3.Connection, after: int) -> list[Step]:
    db.execute("BEGIN")  # both queries see one state of the log
    try:
        steps = db.execute(schema.STEPS, (after,)).fetchall()
        told: dict[int, list[Decision]] = {row[0]: [] for row in steps}
        for number, *row in db.execute(schema.ENTRIES, (after,)) if steps else ():
            told[number].append(decision_of(*row))
    finally:
        db.execute("ROLLBACK")
    return [Step(n, by, at, tuple(told[n]), undoes) for n, by, at, undoes in steps]


def _next(db: sqlite3.Connection) -> int:
    last: int = db.execute(schema.LAST).fetchone()[0]
    return last + 1


def _rows(step: Step) -> Iterator[tuple[int, int, str, str, str | None]]:
    for place, told in enumerate(step.decisions):
        yield (
            step.number,
            place,
            storable(told.record_id),
            told.action,
            what_of(told),
        )


def _now() -> str:
    # Rows are sorted by it: two decisions of a script may fall into one millisecond.
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
