"""Opening the ledger's database: pragmas, version, and what an error means."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from synthnb.errors import StoreError, StoreFullError, StoreVersionError
from synthnb.store import schema
from synthnb.store.files import file_system, is_network


def connect(path: Path, *, write: bool) -> sqlite3.Connection:
    """Open the ledger.

    ``synchronous=FULL`` makes a commit survive a power cut, not just a kill. WAL lets
    readers work beside the writer; network file systems cannot do it and get the
    rollback journal instead.

    Raises:
        StoreError: it cannot be opened or is no ledger.
        StoreVersionError: a newer synthnb wrote it and ``write`` was asked for.
    """
    try:
        db = sqlite3.connect(
            path, timeout=30.0, isolation_level=None, check_same_thread=False
        )
    except sqlite3.Error as error:
        raise translate(error, path) from error
    try:
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if write:
            _check_version(path, version)
            _set_up(db, path)
        else:
            db.execute("PRAGMA query_only=1")
    except BaseException as error:
        db.close()
        if isinstance(error, sqlite3.Error):
            raise translate(error, path) from error
        raise
    return db


def _check_version(path: Path, version: int) -> None:
    if version > schema.VERSION:
        msg = f"{path} was written by a newer synthnb (ledger version {version})"
        hint = "Upgrade with pip install -U synthnb; reading it works as it is."
        raise StoreVersionError(msg, hint=hint)


def _set_up(db: sqlite3.Connection, path: Path) -> None:
    mode = journal_mode(path)
    db.execute(f"PRAGMA journal_mode={mode}")
    db.execute("PRAGMA synchronous=FULL")
    # A commit that leaves the WAL larger than this many pages copies it back; the
    # default of 1,000 pages copies too often for answers of several kB.
    db.execute("PRAGMA wal_autocheckpoint=4000")
    db.executescript(schema.TABLES)
    db.execute(f"PRAGMA user_version={schema.VERSION}")
    path.chmod(0o600)


def journal_mode(path: Path) -> str:
    """Return ``WAL``, or ``DELETE`` where the file system cannot do WAL."""
    return "DELETE" if is_network(file_system(path.parent)) else "WAL"


def is_full(error: sqlite3.Error) -> bool:
    """Whether the error says that the device has no room left."""
    name = getattr(error, "sqlite_errorname", "") or ""
    return name.startswith("SQLITE_FULL")


def is_io(error: sqlite3.Error) -> bool:
    """Whether reading or writing itself failed; the connection must be reopened."""
    name = getattr(error, "sqlite_errorname", "") or ""
    return name.startswith(("SQLITE_IOERR", "SQLITE_CANTOPEN"))


def is_busy(error: sqlite3.Error) -> bool:
    """Whether somebody else holds the database: it passes when they let go."""
    name = getattr(error, "sqlite_errorname", "") or ""
    return name.startswith("SQLITE_BUSY")


def translate(error: sqlite3.Error, path: Path) -> StoreError:
    """Turn SQLite's error into one that says the next step."""
    if is_full(error):
        msg = f"no space left for {path}"
        hint = "Free some space; what was saved is safe, and the run can go on."
        return StoreFullError(msg, hint=hint)
    name = getattr(error, "sqlite_errorname", "") or type(error).__name__
    if name in {"SQLITE_CORRUPT", "SQLITE_NOTADB"}:
        msg = f"{path} is damaged or no ledger ({error})"
        hint = (
            f"Keep a copy, then try: sqlite3 {os.fspath(path.name)} .recover | "
            "sqlite3 saved.sqlite"
        )
        return StoreError(msg, hint=hint)
    if is_busy(error):
        msg = f"another program holds the ledger {path}"
        hint = (
            "Close what reads it there (a database browser, run.records() half read)."
        )
        return StoreError(msg, hint=hint)
    msg = f"the ledger {path} failed: {error} ({name})"
    hint = "Check the disk and the permissions of the run's folder, then run again."
    return StoreError(msg, hint=hint)
