"""Opening a log of decisions, and what an error of it means."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from pathlib import Path

from synthnb.errors import StoreError, StoreFullError, StoreVersionError
from synthnb.store import decision_schema as schema
from synthnb.store.connection import is_busy, is_full, journal_mode

_BUSY_SECONDS = 10.0


def open_log(path: Path, *, write: bool) -> sqlite3.Connection:
    """Open a log, and make it where there is none and ``write`` is asked for.

    Raises:
        StoreError: it is no log, damaged, or cannot be written.
        StoreVersionError: a newer synthnb wrote it.
    """
    if write:
        _make(path)
    try:
        db = sqlite3.connect(
            _address(path, write=write),
            uri=True,
            timeout=_BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
    except sqlite3.Error as error:
        raise explain(error, path) from error
    try:
        _check(db, path)
        if write:
            _set_up(db, path)
    except BaseException as error:
        db.close()
        if isinstance(error, sqlite3.Error):
            raise explain(error, path) from error
        raise
    return db


def is_writable(path: Path) -> bool:
    """Whether a log may be written; SQLite puts files of its own beside it."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def _make(path: Path) -> None:
    # Made by us, so that it is private from its first byte; SQLite gives its own side
    # files the same mode.
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        msg = f"{path} cannot be written: {error.strerror or error}"
        hint = "Check the folder's permissions, or pass folder=… that you may write."
        raise StoreError(msg, hint=hint) from error


def _address(path: Path, *, write: bool) -> str:
    # Without the files of a live writer, SQLite reads a WAL log on a read-only disk only
    # when told that nobody writes it.
    if write:
        return f"{path.resolve().as_uri()}?mode=rw"
    alone = not path.with_name(f"{path.name}-wal").exists()
    return f"{path.resolve().as_uri()}?{'immutable=1' if alone else 'mode=ro'}"


def identity(path: Path) -> tuple[int, int]:
    """Return which file this is; (0, 0) where there is none."""
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_dev, found.st_ino


def explain(error: sqlite3.Error, path: Path) -> StoreError:
    """Turn SQLite's error into one that says the next step."""
    if is_full(error):
        hint = "Free some space and decide again; all earlier decisions are safe."
        return StoreFullError(f"no space left for {path}", hint=hint)
    name = getattr(error, "sqlite_errorname", "") or type(error).__name__
    if name in {"SQLITE_CORRUPT", "SQLITE_NOTADB"}:
        hint = (
            f"Keep a copy, then try: sqlite3 {path.name} .recover | sqlite3 "
            "saved.sqlite; or move it away to begin a new log."
        )
        return StoreError(f"{path} is damaged or no log ({error})", hint=hint)
    if is_busy(error):
        hint = "Close what writes it there (a database browser), then decide again."
        return StoreError(f"another program holds {path}", hint=hint)
    if name.startswith("SQLITE_READONLY"):
        hint = "Check the folder's permissions, or pass folder=… that you may write."
        return StoreError(f"{path} cannot be written", hint=hint)
    hint = "Check the disk and the folder's permissions, then decide again."
    return StoreError(f"{path} failed: {error} ({name})", hint=hint)


def _set_up(db: sqlite3.Connection, path: Path) -> None:
    """Make commits that survive a power cut, and the tables where they are not there.

    That is ``FULL`` with WAL, and ``EXTRA`` with the rollback journal of network file
    systems: it also waits until the journal's deletion is on disk.
    """
    mode = journal_mode(path)
    _switch_journal(db, mode)
    db.execute(f"PRAGMA synchronous={'FULL' if mode == 'WAL' else 'EXTRA'}")
    if db.execute("PRAGMA user_version").fetchone()[0] == schema.VERSION:
        return
    # Of several processes that make the log at once, one makes it and all find it.
    db.execute("BEGIN IMMEDIATE")
    try:
        for statement in _statements(schema.TABLES):
            db.execute(statement)
        db.execute(f"PRAGMA application_id={schema.APPLICATION}")
        db.execute(f"PRAGMA user_version={schema.VERSION}")
        db.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            db.execute("ROLLBACK")
        raise


def _check(db: sqlite3.Connection, path: Path) -> None:
    version = db.execute("PRAGMA user_version").fetchone()[0]
    whose = db.execute("PRAGMA application_id").fetchone()[0]
    tables = db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    if whose != schema.APPLICATION and (tables or version or whose):
        msg = f"{path} is a database, but no log of decisions"
        raise StoreError(msg, hint="Move it away, or pass another folder=…")
    if version > schema.VERSION:
        msg = f"{path} was written by a newer synthnb (version {version} of the log)"
        raise StoreVersionError(msg, hint="Upgrade with pip install -U synthnb.")


def _switch_journal(db: sqlite3.Connection, mode: str) -> None:
    """Set the journal; SQLite does not wait by itself where another one does it now."""
    end = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            db.execute(f"PRAGMA journal_mode={mode}")
        except sqlite3.Error as error:
            if not is_busy(error) or time.monotonic() > end:
                raise
            time.sleep(0.01)
        else:
            return


def _statements(script: str) -> list[str]:
    """Cut a script into statements; ``executescript`` would end our transaction."""
    found, part = [], ""
    for line in script.splitlines(keepends=True):
        part += line
        if part.strip() and sqlite3.complete_statement(part):
            found.append(part)
            part = ""
    return found
