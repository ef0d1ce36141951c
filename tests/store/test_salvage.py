"""What is saved of a damaged ledger, whatever part of it is damaged."""

from __future__ import annotations

import random
import shutil
import sqlite3
import subprocess

import pytest

from synthnb.errors import StoreError, StoreLockedError, StoreVersionError
from synthnb.store import RunStore, schema
from synthnb.store.connection import connect
from synthnb.store.lock import RunLock
from synthnb.store.manifest import COUNTS, SUMS, Manifest
from synthnb.store.salvage import recover
from synthnb.store.sums import PAGE

ROWS = 60
TABLES = ("slot", "attempt", "result", "input")


def text(n):
    """Return an answer; each tenth one is longer than a page."""
    return f"answer {n}: " + f"größe {n} " * (1200 if n % 10 == 0 else 15)


def fill(db, first, last):
    for n in range(first, last):
        key = f"{n:032x}"
        db.execute(schema.PUT_SLOT, (n, f"r{n}", "qa", 0, 0, key, 3, n))
        db.execute(schema.PUT_INPUT, (f"r{n}", f'{{"text":"row {n}"}}'))
        call = (n, key, "t", 0.5, "ok", 200, n, 2 * n, "", "http://x")
        db.execute(schema.PUT_ATTEMPT, call)
        answer = (
            n,
            key,
            "ok",
            "",
            text(n),
            None,
            "stop",
            "m",
            "i",
            n,
            2 * n,
            0,
            "",
            "t",
        )
        db.execute(schema.PUT_RESULT, answer)
    db.execute(schema.PUT_META, ("generation", "3"))


@pytest.fixture
def folder(tmp_path):
    """A ledger that was closed in good order."""
    path = tmp_path / "run.sqlite"
    manifest = Manifest(path)
    db = connect(path, write=True)
    manifest.begin()
    fill(db, 1, ROWS + 1)
    assert manifest.finish(db)
    db.close()
    manifest.seal()
    manifest.close()
    return tmp_path


def rows(path, table):
    db = sqlite3.connect(path)
    found = sorted(db.execute(f"SELECT * FROM {table}"), key=str)
    db.close()
    return found


def whole(path):
    return {table: rows(path, table) for table in TABLES}


def damage(path, page, data=b"\xff" * PAGE):
    with path.open("r+b") as file:
        file.seek((page - 1) * PAGE)
        file.write(data)


def pages(path):
    return path.stat().st_size // PAGE


def test_a_sound_ledger_is_left_alone(folder):
    before = (folder / "run.sqlite").read_bytes()
    found = recover(folder)
    assert (found.answers, found.attempts, found.lost) == (ROWS, ROWS, 0)
    assert found.vouched
    assert found.kept_in is None
    assert (folder / "run.sqlite").read_bytes() == before


def test_whatever_page_is_lost_the_others_are_saved(folder, tmp_path):
    """One page after the other: tree, schema, indexes, overflow, the first page."""
    path = folder / "run.sqlite"
    good, before = whole(path), path.read_bytes()
    sides = {name: (folder / name).read_bytes() for name in (SUMS, COUNTS)}
    for page in range(1, pages(path) + 1):
        damage(path, page)
        found = recover(folder)
        assert found.wrong == 1
        assert found.vouched
        saved = whole(path)
        for table in TABLES:
            extra = [row for row in saved[table] if row not in good[table]]
            assert all(_is_mended(table, row) for row in extra), (page, table)
        assert found.lost == ROWS - len(saved["result"]) <= 15
        assert len(saved["attempt"]) >= len(saved["result"])
        assert (found.kept_in / "run.sqlite").stat().st_size == len(before)
        shutil.rmtree(found.kept_in)
        path.write_bytes(before)
        for name, data in sides.items():
            (folder / name).write_bytes(data)


def _is_mended(table, row):
    """A slot that was put together from its index, an attempt from its answer."""
    if table == "slot":
        return row[5] == f"{row[0]:032x}" and row[6:] == (0, 0)
    known = (row[1], 2 * row[1])
    return table == "attempt" and row[10] == "recovered" and row[7:9] == known


@pytest.mark.parametrize("seed", range(8))
def test_random_bytes_never_change_an_answer_unseen(folder, seed):
    path = folder / "run.sqlite"
    dice = random.Random(seed)
    data = bytearray(path.read_bytes())
    for _ in range(dice.randint(1, 8)):
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    path.write_bytes(data)
    found = recover(folder)
    assert found.wrong >= 1
    saved = rows(path, "result")
    assert all(row[5] == text(row[1]) for row in saved)
    assert found.lost == ROWS - len(saved)
    assert RunStore(folder).last_generation() == 3


def test_after_a_kill_rows_are_read_from_the_wal_too(folder):
    path = folder / "run.sqlite"
    db = connect(path, write=True)
    (folder / SUMS).unlink()
    fill(db, ROWS + 1, ROWS + 21)
    for name in ("run.sqlite", "run.sqlite-wal"):
        shutil.copy(folder / name, folder / f"{name}.copy")
    db.close()
    for name in ("run.sqlite", "run.sqlite-wal"):
        (folder / f"{name}.copy").replace(folder / name)
    # A page that the -wal has too would stand in it, as good as new.
    damage(path, 12)
    found = recover(folder)
    assert ROWS + 10 < found.answers <= ROWS + 20
    assert {row[1] for row in rows(path, "result")} >= set(range(ROWS + 1, ROWS + 21))
    assert not found.vouched
    assert not (folder / "run.sqlite-wal").exists()
    assert (found.kept_in / "run.sqlite-wal").exists()
    assert all(row[5] == text(row[1]) for row in rows(path, "result"))


def test_a_torn_wal_gives_what_was_committed_before(folder):
    path = folder / "run.sqlite"
    (folder / SUMS).unlink()
    db = connect(path, write=True)
    fill(db, ROWS + 1, ROWS + 21)
    data, wal = path.read_bytes(), (folder / "run.sqlite-wal").read_bytes()
    db.close()
    path.write_bytes(data)
    torn = bytearray(wal)
    torn[len(wal) // 2] ^= 8
    (folder / "run.sqlite-wal").write_bytes(torn)
    damage(path, 1)
    found = recover(folder)
    assert ROWS <= found.answers < ROWS + 20


def test_text_instead_of_a_ledger_gives_an_empty_one(folder):
    (folder / "run.sqlite").write_bytes(b"no database at all" * 999)
    found = recover(folder)
    assert (found.answers, found.lost) == (0, ROWS)
    store = RunStore(folder)
    store.open()
    store.close()


def test_what_another_program_changed_is_taken_only_when_accepted(folder):
    path = folder / "run.sqlite"
    db = sqlite3.connect(path)
    db.execute("UPDATE result SET text = 'by hand' WHERE id = 7")
    db.commit()
    db.close()
    assert recover(folder, accept=True).kept_in is None
    assert rows(path, "result")[0] is not None
    db = sqlite3.connect(path)
    assert db.execute("SELECT text FROM result WHERE id = 7").fetchone() == ("by hand",)
    db.close()


def test_a_run_at_work_is_not_recovered(folder):
    lock = RunLock(folder)
    lock.acquire()
    with pytest.raises(StoreLockedError):
        recover(folder)
    lock.release()


def test_a_newer_ledger_is_not_touched(folder):
    path = folder / "run.sqlite"
    db = sqlite3.connect(path)
    db.execute(f"PRAGMA user_version={schema.VERSION + 1}")
    db.close()
    damage(path, pages(path))
    before = path.read_bytes()
    with pytest.raises(StoreVersionError, match="newer synthnb"):
        recover(folder)
    assert path.read_bytes() == before


def test_no_ledger_is_said(tmp_path):
    with pytest.raises(StoreError, match="no ledger"):
        recover(tmp_path)


def test_nothing_that_sqlites_own_shell_saves_is_missed(folder, tmp_path):
    shell = shutil.which("sqlite3")
    if shell is None:
        pytest.skip("the sqlite3 program is not installed")
    path = folder / "run.sqlite"
    (folder / SUMS).unlink()
    damage(path, 5)
    # Debian 12's shell (3.40.1) fails here even on a sound database.
    script = subprocess.run([shell, path, ".recover"], capture_output=True, check=False)
    if script.returncode:
        pytest.skip(f"it cannot do it itself: {script.stderr.decode().strip()}")
    other = tmp_path / "other.sqlite"
    subprocess.run([shell, other], input=script.stdout, check=True, capture_output=True)
    theirs = {row[1] for row in rows(other, "result") if row[5] == text(row[1])}
    recover(folder)
    ours = {row[1] for row in rows(path, "result")}
    assert theirs <= ours
    assert len(ours) > ROWS / 2
