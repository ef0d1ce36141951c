"""Opening the ledger's database: pragmas, version, and what an error means."""

from __future__ import annotations

import errno
import os
import shlex
import sqlite3
import stat
from pathlib import Path

from synthnb.errors import StoreError, StoreFullError, StoreVersionError
from synthnb.store import schema
from synthnb.store.files import file_system, is_network

_PRIVATE = 0o600


def connect(path: Path, *, write: bool) -> sqlite3.Connection:
    """Open the ledger.

    A commit survives a power cut, not just a kill: ``synchronous`` is ``FULL`` with WAL,
    and ``EXTRA`` with the rollback journal, where the journal's deletion is the commit.
    WAL lets readers work beside the writer; network file systems cannot do it and get
    the rollback journal instead.

    Raises:
        StoreError: it cannot be opened or is no ledger.
        StoreVersionError: a newer synthnb wrote it and ``write`` was asked for.
    """
    if write:
        _make_private(path)
    try:
        db = sqlite3.connect(
            path.resolve().as_uri() + ("" if write else reading_options(path)),
            uri=True,
            timeout=30.0,
            isolation_level=None,
            check_same_thread=False,
        )
    except sqlite3.Error as error:
        raise translate(error, path) from error
    try:
        if write:
            version = db.execute("PRAGMA user_version").fetchone()[0]
            _check_version(path, version)
            _set_up(db, path, version)
        else:
            db.execute("PRAGMA query_only=1")
    except BaseException as error:
        db.close()
        if isinstance(error, sqlite3.Error):
            raise translate(error, path) from error
        raise
    return db


def reading_options(path: Path) -> str:
    """Return what SQLite must be told to read in a folder that cannot be written.

    A reader of a WAL makes files of its own beside it. Where it cannot, and no writer
    left a WAL, the one file holds everything, and nobody changes it.
    """
    if os.access(path.parent, os.W_OK):
        return ""
    alone = not any(path.parent.glob(f"{path.name}-*"))
    return "?immutable=1" if alone else "?mode=ro"


def _check_version(path: Path, version: int) -> None:
    if version > schema.VERSION:
        msg = f"{path} was written by a newer synthnb (ledger version {version})"
        hint = "Upgrade with pip install -U synthnb; reading it works as it is."
        raise StoreVersionError(msg, hint=hint)


def _make_private(path: Path) -> None:
    """Make the file, its user's alone from the first byte; tighten one that is not.

    SQLite gives its side files (``-wal``, ``-shm``, ``-journal``) the same mode. A file
    that is there is not opened: closing it would drop the locks that other connections
    of this process hold on it (https://sqlite.org/howtocorrupt.html, 2.2).
    """
    try:
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, _PRIVATE))
        except FileExistsError:
            if stat.S_IMODE(path.stat().st_mode) & ~_PRIVATE:
                for one in (path, *path.parent.glob(f"{path.name}-*")):
                    one.chmod(_PRIVATE)
        if not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        msg = f"the ledger {path} cannot be written: {error.strerror or error}"
        hint = "Check the permissions of the run's folder, or pass another folder=…"
        raise StoreError(msg, hint=hint) from error


def _set_up(db: sqlite3.Connection, path: Path, version: int) -> None:
    """Choose journal and durability; make the tables where they are not there.

    A ledger that is set up is not written to: what its last close said of the file's
    bytes still has to hold when it is checked.
    """
    mode = journal_mode(path)
    if db.execute("PRAGMA journal_mode").fetchone()[0].upper() != mode:
        db.execute(f"PRAGMA journal_mode={mode}")
    db.execute(f"PRAGMA synchronous={'FULL' if mode == 'WAL' else 'EXTRA'}")
    # A commit that leaves the WAL larger than this many pages copies it back; the
    # default of 1,000 pages copies too often for answers of several kB.
    db.execute("PRAGMA wal_autocheckpoint=4000")
    if version == schema.VERSION:
        return
    db.executescript(schema.TABLES)
    db.execute(f"PRAGMA user_version={schema.VERSION}")


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


def recover_hint(folder: Path) -> str:
    """Return the next step where a ledger is damaged."""
    return (
        f"Save what can be read with: synthnb recover {shlex.quote(os.fspath(folder))}\n"
        "    It keeps the damaged file; then run the same cell again."
    )


def translate(error: sqlite3.Error, path: Path) -> StoreError:
    """Turn SQLite's error into one that says the next step."""
    if is_full(error):
        msg = f"no space left for {path}"
        hint = "Free some space; what was saved is safe, and the run can go on."
        return StoreFullError(msg, hint=hint)
    name = getattr(error, "sqlite_errorname", "") or type(error).__name__
    if name in {"SQLITE_CORRUPT", "SQLITE_NOTADB"}:
        msg = f"{path} is damaged or no ledger ({error})"
        return StoreError(msg, hint=recover_hint(path.parent))
    if is_busy(error):
        msg = f"another program holds the ledger {path}"
        hint = (
            "Close what reads it there (a database browser, run.records() half read)."
        )
        return StoreError(msg, hint=hint)
    msg = f"the ledger {path} failed: {error} ({name})"
    hint = "Check the disk and the permissions of the run's folder, then run again."
    return StoreError(msg, hint=hint)
