"""Saving what can be read of a damaged ledger. The damaged one is kept."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from synthnb.errors import StoreError, StoreVersionError
from synthnb.store import schema
from synthnb.store.connection import connect, translate
from synthnb.store.lock import RunLock
from synthnb.store.manifest import COUNTS, SUMS, Counts, Manifest, count, read_counts
from synthnb.store.pages import INDEX, TABLE, Cell, Pages
from synthnb.store.sums import BINARY, changed_pages, page_sums, read_sums

LEDGER = "run.sqlite"
_SIDE_FILES = ("-wal", "-shm", "-journal")
_BATCH = 1000
_SLOT_KEY = 5
"""Columns of the index that tells a slot's row, step, sample, round and id."""


class Salvage(NamedTuple):
    """What ``recover`` found and did."""

    answers: int
    """Answers in the ledger now."""
    attempts: int
    lost: int | None
    """Answers that were saved once and are gone; ``None`` where nobody noted how many."""
    wrong: int
    """Pages whose sum was wrong; without sums, rows that could not be read."""
    vouched: bool
    """Whether each page that was used is proven to be what synthnb wrote. If not, a
    changed letter in an answer cannot be told."""
    kept_in: Path | None
    """Where the damaged files lie now; ``None`` where the ledger was sound."""


def recover(folder: Path, *, accept: bool = False) -> Salvage:
    """Make a sound ledger of what a damaged one still holds.

    Rows are read page by page, without the parts of the file that lead to them. Pages
    whose checksum is wrong are left out: a lost answer is asked for again, a changed one
    would be in the training data. The damaged files move to ``damaged-<time>/``.

    Args:
        folder: the run's folder.
        accept: whether a ledger that SQLite finds sound is taken as it is, though it is
            not what synthnb left: it was changed on purpose, by another program.

    Raises:
        StoreLockedError: a run is at work in the folder.
        StoreVersionError: a newer synthnb wrote the ledger.
        StoreError: there is none, or no room for another one.
    """
    path = folder / LEDGER
    if not path.exists():
        msg = f"there is no ledger in {folder}"
        raise StoreError(msg, hint="Name the run's folder, e.g. runs/handbook.")
    lock = RunLock(folder)
    lock.acquire()
    try:
        then = read_counts(folder / COUNTS)
        if accept:
            path.with_name(SUMS).unlink(missing_ok=True)
        if (found := _sound(path, then)) is not None:
            return found
        return _rebuild(path, then)
    except sqlite3.Error as error:
        raise translate(error, path) from error
    except OSError as error:
        msg = f"{folder} could not be recovered: {error.strerror or error}"
        hint = "Copy the folder to a healthy disk with some room, and try there."
        raise StoreError(msg, hint=hint) from error
    finally:
        lock.release()


def _sound(path: Path, then: Counts | None) -> Salvage | None:
    manifest = Manifest(path)
    try:
        manifest.check()
        vouched = read_sums(path.with_name(SUMS)) is not None
        with contextlib.closing(_untouched(path)) as db:
            if db.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok":
                return None
            now = count(db)
    except (StoreError, sqlite3.Error):
        return None
    finally:
        manifest.close()
    lost = max(0, then.answers - now.answers) if then else None
    return Salvage(now.answers, now.attempts, lost, 0, vouched=vouched, kept_in=None)


def _untouched(path: Path) -> sqlite3.Connection:
    """Open so that closing does not copy the ``-wal`` into a file that is damaged."""
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)


def _rebuild(path: Path, then: Counts | None) -> Salvage:
    bad, vouched = _bad_pages(path)
    new = path.with_name(f".recovered-{os.getpid()}.sqlite")
    try:
        with Pages(path, bad=bad, alone=vouched) as pages:
            _refuse_newer(path)
            broken = _copy(pages, new)
        with contextlib.closing(connect(new, write=False)) as db:
            answers = db.execute("SELECT count(*) FROM result").fetchone()[0]
            attempts = db.execute("SELECT count(*) FROM attempt").fetchone()[0]
        kept_in = _exchange(path, new)
    finally:
        for suffix in ("", *_SIDE_FILES):
            new.with_name(new.name + suffix).unlink(missing_ok=True)
    lost = max(0, then.answers - answers) if then else None
    wrong = len(bad) or broken
    return Salvage(answers, attempts, lost, wrong, vouched=vouched, kept_in=kept_in)


def _bad_pages(path: Path) -> tuple[frozenset[int], bool]:
    """Return the pages that are not what they were, and whether that can be known."""
    known = read_sums(path.with_name(SUMS))
    if known is None:
        return frozenset(), False
    handle = os.open(path, os.O_RDONLY | BINARY)
    try:
        now, _ = page_sums(handle)
    finally:
        os.close(handle)
    return frozenset(changed_pages(known[0], now)), True


def _refuse_newer(path: Path) -> None:
    with contextlib.suppress(sqlite3.Error):
        with contextlib.closing(_untouched(path)) as db:
            version = db.execute("PRAGMA user_version").fetchone()[0]
            tables = db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
        if version > schema.VERSION and tables:
            msg = f"{path} was written by a newer synthnb (ledger version {version})"
            raise StoreVersionError(msg, hint="Upgrade with pip install -U synthnb.")


def _copy(pages: Pages, new: Path) -> int:
    """Write the rows that can be read into a new ledger; return how many could not."""
    with contextlib.closing(connect(new, write=True)) as db:
        kinds = _Tables(db)
        db.execute(
            "CREATE TEMP TABLE place(row_id, step, sample, round, id PRIMARY KEY)"
        )
        statements = (s for cell in pages.cells() if (s := kinds.statement(cell)))
        while batch := list(islice(statements, _BATCH)):
            db.execute("BEGIN")
            for sql, values in batch:
                with contextlib.suppress(sqlite3.IntegrityError):
                    db.execute(sql, values)
            db.execute("COMMIT")
        db.executescript(_MEND)
        verdict = db.execute("PRAGMA integrity_check(1)").fetchone()[0]
        if verdict != "ok":
            raise StoreError(
                f"the recovered ledger is damaged as well: {verdict}",
                hint="Copy the folder to a healthy disk, and try there.",
            )
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return pages.broken


class _Tables:
    """Tells by its columns which table a row is of: the schema itself may be lost."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._known: dict[str, tuple[bool, list[tuple[str, bool]]]] = {}
        for name in ("slot", "attempt", "result", "input", "meta"):
            info = db.execute(f"PRAGMA table_info({name})").fetchall()
            has_id = any(column[5] and column[2] == "INTEGER" for column in info)
            columns = [(column[2], bool(column[3])) for column in info]
            self._known[name] = has_id, columns

    def statement(self, cell: Cell) -> tuple[str, tuple[object, ...]] | None:
        """Return how a row is put into the new ledger; ``None`` for what is no row."""
        if cell.kind == INDEX:
            types = [type(value) for value in cell.values]
            if types != [str, str, int, int, int]:
                return None
            return "INSERT OR IGNORE INTO place VALUES (?,?,?,?,?)", cell.values
        assert cell.kind == TABLE
        for name, (has_id, columns) in self._known.items():
            values = cell.values
            if len(values) != len(columns):
                continue
            if has_id:
                values = (cell.rowid, *values[1:])
            if _fits(values, columns) and _is_of(name, values):
                marks = ",".join("?" * len(values))
                return f"INSERT OR IGNORE INTO {name} VALUES ({marks})", values  # noqa: S608 - our own names
        return None


def _fits(values: tuple[object, ...], columns: list[tuple[str, bool]]) -> bool:
    kinds = {"TEXT": (str,), "INTEGER": (int,), "REAL": (float, int)}
    return all(
        isinstance(value, kinds[kind]) or (value is None and not needed)
        for value, (kind, needed) in zip(values, columns, strict=True)
    )


def _is_of(name: str, values: tuple[object, ...]) -> bool:
    """Tell the two tables of two texts apart: an input row is an object of JSON."""
    if name != "input":
        return True
    try:
        return isinstance(json.loads(str(values[1])), dict)
    except ValueError:
        return False


# An answer whose slot is lost gets it back from the slots' index; the next run puts
# order and generation right. An answer was paid for, though the attempt be lost.
_MEND = """
INSERT OR IGNORE INTO slot(id, row_id, step, sample_index, round, request_key,
  generation, ordinal)
  SELECT p.id, p.row_id, p.step, p.sample, p.round, max(r.request_key), 0, 0
  FROM place p JOIN result r ON r.slot_id = p.id GROUP BY p.id;
DELETE FROM result WHERE slot_id NOT IN (SELECT id FROM slot);
INSERT INTO attempt(slot_id, request_key, started_at, seconds, status, http_status,
  prompt_tokens, completion_tokens, detail, endpoint)
  SELECT slot_id, request_key, created_at, 0.0, status, NULL, prompt_tokens,
    completion_tokens, 'recovered: the attempt itself was damaged', 'recovered'
  FROM result r WHERE NOT EXISTS (SELECT 1 FROM attempt a
    WHERE a.slot_id = r.slot_id AND a.request_key = r.request_key);
INSERT INTO meta(key, value) SELECT 'generation', coalesce(max(generation), 0) FROM slot
  WHERE true ON CONFLICT(key) DO UPDATE SET value = excluded.value
  WHERE CAST(value AS INTEGER) < CAST(excluded.value AS INTEGER);
"""


def _exchange(path: Path, new: Path) -> Path:
    """Keep the damaged files, then put the new ledger in their place."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    kept_in = path.with_name(f"damaged-{stamp}-{os.getpid()}")
    kept_in.mkdir(mode=0o700)
    side = [path.with_name(path.name + suffix) for suffix in _SIDE_FILES]
    beside = [path.with_name(SUMS), path.with_name(COUNTS)]
    for file in _there(path, *side, *beside):
        try:
            os.link(file, kept_in / file.name)
        except OSError:  # no hard links here
            shutil.copy2(file, kept_in / file.name)
    # Before the new one takes the name: SQLite would apply an old -wal to it.
    for file in _there(*side, *beside):
        file.unlink()
    new.replace(path)
    return kept_in


def _there(*files: Path) -> Iterator[Path]:
    return (file for file in files if file.exists())
