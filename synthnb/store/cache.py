"""Answers that may serve other runs: one file beside the runs, best effort.

The ledger of a run is its truth; this is a convenience, so nothing here ever fails a
run: a damaged, locked or full cache is left alone, and the answer is bought. Kept are
answers only, under a hash of the request: no prompt, no endpoint, no key.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
import threading
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from synthnb import forked
from synthnb.store.files import file_system, is_network, runs_home
from synthnb.store.rows import StoredResult

MAX_BYTES = 1_000_000_000
MAX_SECONDS = 90 * 86_400.0
"""Older answers are not used: a name that stands for a hosted model moves on."""

CACHED = "cached"
"""Mark in ``adapted`` of an answer that came from here."""

_VERSION = 1
_PRIVATE = 0o600
_BUSY_SECONDS = 1.0
_CHUNK = 500
"""Answers that are dropped at once when there is no room."""

# An answer's id rises with its age, so the oldest are found without an index.
_TABLES = """
CREATE TABLE IF NOT EXISTS answer(
  id INTEGER PRIMARY KEY, request_key BLOB NOT NULL, sample_index INTEGER NOT NULL,
  copy INTEGER NOT NULL, created_at REAL NOT NULL, text TEXT NOT NULL,
  reasoning TEXT, finish_reason TEXT, model TEXT, request_id TEXT,
  prompt_tokens INTEGER, completion_tokens INTEGER, estimated INTEGER NOT NULL,
  adapted TEXT NOT NULL,
  UNIQUE(request_key, sample_index, copy));
"""
_FIND = (
    "SELECT text, reasoning, finish_reason, model, request_id, prompt_tokens,"
    " completion_tokens, estimated, adapted FROM answer"
    " WHERE request_key = ? AND sample_index = ? AND copy = ? AND created_at >= ?"
)
_PUT = (
    "INSERT OR REPLACE INTO answer(request_key, sample_index, copy, created_at, text,"
    " reasoning, finish_reason, model, request_id, prompt_tokens, completion_tokens,"
    " estimated, adapted) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)"
)
_OLDEST = "SELECT id FROM answer ORDER BY id LIMIT ?"
_DROP_OLDEST = f"DELETE FROM answer WHERE id IN ({_OLDEST})"  # noqa: S608 - constants only
_DROP_EXPIRED = f"{_DROP_OLDEST} AND created_at < ?"


class Place(NamedTuple):
    """Under what an answer is kept.

    ``copy`` counts how often one run has asked the very same request for the same
    sample: two equal rows are two answers, here as in the ledger.
    """

    request_key: str
    sample_index: int
    copy: int = 0


def cache_path() -> Path:
    """Return where the cache lies: beside the runs of this project."""
    return runs_home() / "cache.sqlite"


class AnswerCache:
    """Finds and keeps answers; safe for any number of processes and threads.

    Every method may block on the disk, so none belongs on an event loop.

    Attributes:
        trouble: why the cache does nothing any more, in words; empty while it works.
        was_empty: whether there was nothing in it when it was opened.
    """

    def __init__(
        self,
        path: Path,
        *,
        max_bytes: int = MAX_BYTES,
        max_seconds: float = MAX_SECONDS,
    ) -> None:
        """Name the file; it is opened, and made, with the first use.

        Args:
            path: the file.
            max_bytes: its size, from which on the oldest answers make room.
            max_seconds: age from which on an answer is not used.
        """
        self.path = path
        self.trouble = ""
        self.was_empty = False
        self._max_bytes = max_bytes
        self._max_seconds = max_seconds
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None
        self._closed = False
        forked.guard(self)

    def find(self, places: Iterable[Place]) -> dict[Place, StoredResult]:
        """Return the answers that are there, marked as ``cached``."""
        found: dict[Place, StoredResult] = {}
        with self._lock:
            db = self._opened()
            if db is None or self.was_empty:
                return found
            since = time.time() - self._max_seconds
            try:
                for place in places:
                    key = bytes.fromhex(place.request_key)
                    row = db.execute(_FIND, (key, *place[1:], since)).fetchone()
                    if row is not None:
                        found[place] = _stored(row)
            except sqlite3.Error as error:
                self._failed(error)
                return {}
        return found

    def put(self, answers: Sequence[tuple[Place, StoredResult]]) -> None:
        """Keep answers; a later one to the same request takes the place of the first."""
        with self._lock:
            db = self._opened()
            if db is None or not answers:
                return
            rows = [_values(place, answer) for place, answer in answers]
            try:
                self._write(db, rows)
            except UnicodeEncodeError:  # a lone surrogate, which SQLite cannot hold
                self._write_each(db, rows)
            except sqlite3.Error as error:
                self._failed(error)

    def close(self) -> None:
        """Close the file; harmless when repeated."""
        with self._lock:
            self._closed = True
            db, self._db = self._db, None
            if db is not None:
                with contextlib.suppress(sqlite3.Error):
                    db.close()

    def forked(self) -> None:
        """Do nothing any more in a forked child: the connection is its parent's."""
        self._lock = threading.Lock()  # another thread may have held it
        self._closed = True
        if self._db is not None:
            forked.keep(self._db)
            self._db = None

    # under the lock -----------------------------------------------------------------------

    def _opened(self) -> sqlite3.Connection | None:
        if self.trouble or self._closed:
            return None
        if self._db is None:
            try:
                self._db = self._open()
            except sqlite3.Error as error:
                self._failed(error)
            except OSError as error:
                self.trouble = f"{error.strerror or error}"
        return self._db

    def _open(self) -> sqlite3.Connection | None:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _make_private(self.path)
        db = sqlite3.connect(
            self.path,
            timeout=_BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            version = db.execute("PRAGMA user_version").fetchone()[0]
            if version > _VERSION:
                self.trouble = f"a newer synthnb wrote it (version {version})"
                db.close()
                return None
            _set_up(db, self.path, version)
            self.was_empty = db.execute("SELECT 1 FROM answer").fetchone() is None
        except BaseException:
            db.close()
            raise
        return db

    def _write(self, db: sqlite3.Connection, rows: list[tuple[Any, ...]]) -> None:
        db.execute("BEGIN IMMEDIATE")
        try:
            db.executemany(_PUT, rows)
            db.execute(_DROP_EXPIRED, (_CHUNK, time.time() - self._max_seconds))
            while _size(db) > self._max_bytes:
                if db.execute(_DROP_OLDEST, (_CHUNK,)).rowcount < 1:
                    break
            db.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                db.execute("ROLLBACK")
            raise

    def _write_each(self, db: sqlite3.Connection, rows: list[tuple[Any, ...]]) -> None:
        for row in rows:
            try:
                self._write(db, [row])
            except UnicodeEncodeError:
                continue
            except sqlite3.Error as error:
                self._failed(error)
                return

    def _failed(self, error: sqlite3.Error) -> None:
        """Give the cache up, unless somebody else just holds it for a moment."""
        name = getattr(error, "sqlite_errorname", "") or type(error).__name__
        if name.startswith("SQLITE_BUSY"):
            return
        if name in {"SQLITE_CORRUPT", "SQLITE_NOTADB"}:
            self.trouble = "it is damaged; delete it, and a new one is made"
        else:
            self.trouble = f"{error} ({name})"
        db, self._db = self._db, None
        if db is not None:
            with contextlib.suppress(sqlite3.Error):
                db.close()


def _make_private(path: Path) -> None:
    """Make the file its user's alone from the first byte; SQLite's own follow it."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, _PRIVATE))
    except FileExistsError:
        if stat.S_IMODE(path.stat().st_mode) & ~_PRIVATE:
            path.chmod(_PRIVATE)


def _set_up(db: sqlite3.Connection, path: Path, version: int) -> None:
    mode = "DELETE" if is_network(file_system(path.parent)) else "WAL"
    if db.execute("PRAGMA journal_mode").fetchone()[0].upper() != mode:
        db.execute(f"PRAGMA journal_mode={mode}")
    # A power cut may take the last answers: they are in their run's ledger.
    db.execute("PRAGMA synchronous=NORMAL")
    db.execute("PRAGMA journal_size_limit=16000000")
    if version < _VERSION:
        db.executescript(_TABLES)
        db.execute(f"PRAGMA user_version={_VERSION}")


def _size(db: sqlite3.Connection) -> int:
    """Return the bytes that hold something; pages that were emptied are used again."""
    pages: int = db.execute("PRAGMA page_count").fetchone()[0]
    free: int = db.execute("PRAGMA freelist_count").fetchone()[0]
    size: int = db.execute("PRAGMA page_size").fetchone()[0]
    return (pages - free) * size


def _values(place: Place, answer: StoredResult) -> tuple[Any, ...]:
    key = bytes.fromhex(place.request_key)
    return (key, *place[1:], time.time(), *answer[2:])


def _stored(row: tuple[Any, ...]) -> StoredResult:
    *values, adapted = row
    marks = ",".join(filter(None, [adapted, CACHED]))
    return StoredResult._make(("ok", "", *values, marks))
