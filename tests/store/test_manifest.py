from __future__ import annotations

import json
import sqlite3

import pytest

from synthnb.errors import StoreError
from synthnb.store import schema
from synthnb.store.connection import connect
from synthnb.store.manifest import COUNTS, SUMS, Manifest, read_counts
from synthnb.store.sums import PAGE, changed_pages, page_sums, read_sums, write_sums


def put(db, first, last):
    for n in range(first, last):
        db.execute(schema.PUT_SLOT, (n, f"r{n}", "qa", 0, 0, f"k{n}", 1, n))
        db.execute(
            schema.PUT_ATTEMPT, (n, f"k{n}", "t", 0.1, "ok", 200, 1, 2, "", "http://x")
        )
        db.execute(
            schema.PUT_RESULT,
            (
                n,
                f"k{n}",
                "ok",
                "",
                "word " * 50,
                None,
                "stop",
                "m",
                "i",
                1,
                2,
                0,
                "",
                "t",
            ),
        )


def work(path, first, last, *, close=True):
    """Do what a writer does; return its database where it is not to be closed."""
    manifest = Manifest(path)
    db = connect(path, write=True)
    manifest.check()
    manifest.begin()
    put(db, first, last)
    manifest.committed(db)
    if not close:
        return db
    whole = manifest.finish(db)
    db.close()
    if whole:
        manifest.seal()
    manifest.close()
    return whole


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.sqlite"


def missing(path):
    manifest = Manifest(path)
    db = connect(path, write=True)
    try:
        return manifest.missing(db)
    finally:
        db.close()
        manifest.close()


def check(path):
    manifest = Manifest(path)
    try:
        manifest.check()
    finally:
        manifest.close()


def test_a_closed_ledger_is_sealed_and_found_as_it_was(path):
    assert work(path, 1, 50)
    assert work(path, 50, 100)
    check(path)
    assert missing(path) == ""
    assert tuple(read_counts(path.with_name(COUNTS))) == (99, 99)


def test_opening_and_reading_change_nothing_that_is_sealed(path):
    work(path, 1, 50)
    for write in (False, True):
        connect(path, write=write).close()
    check(path)


@pytest.mark.parametrize("where", [20, 90, 100, PAGE + 5, -3])
def test_one_flipped_bit_is_found_wherever_it_is(path, where):
    work(path, 1, 200)
    data = bytearray(path.read_bytes())
    data[where] ^= 1
    path.write_bytes(data)
    with pytest.raises(
        StoreError, match=r"1 of \d+ pages differ[\s\S]*synthnb recover"
    ):
        check(path)


def test_a_file_that_grew_or_shrank_is_found(path):
    work(path, 1, 200)
    whole = path.read_bytes()
    for other in (whole + bytes(PAGE), whole[:-PAGE], whole[:-1], b""):
        path.write_bytes(other)
        with pytest.raises(StoreError, match="differ"):
            check(path)


def test_sums_are_gone_while_a_ledger_is_written(path):
    work(path, 1, 50)
    assert read_sums(path.with_name(SUMS))
    db = work(path, 50, 60, close=False)
    assert read_sums(path.with_name(SUMS)) is None
    db.close()
    check(path)


def test_without_sums_a_broken_structure_is_found(path):
    work(path, 1, 200)
    path.with_name(SUMS).unlink()
    with path.open("r+b") as file:
        file.seek(3 * PAGE)
        file.write(b"\xff" * PAGE)
    with pytest.raises(StoreError, match=r"damaged[\s\S]*synthnb recover"):
        check(path)


def test_a_reader_that_stays_keeps_the_file_unsealed_and_sound(path):
    work(path, 1, 50)
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM slot").fetchone()
    assert not work(path, 50, 60)
    reader.close()
    check(path)
    assert missing(path) == ""


def test_what_was_lost_with_the_wal_is_said(path):
    work(path, 1, 50)
    db = work(path, 50, 70, close=False)
    # As after a kill: the files are taken while the database is open.
    data = path.read_bytes()
    db.close()
    for one in path.parent.glob("run.sqlite-*"):
        one.unlink()
    path.write_bytes(data)
    assert missing(path).startswith(
        "20 answers and 20 attempts that were saved are miss"
    )


def test_a_ledger_that_vanished_is_said_too(path):
    work(path, 1, 50)
    path.unlink()
    assert "49 answers and 49 attempts" in missing(path)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"answers": -1, "attempts": 2}', "7"])
def test_torn_counts_prove_nothing(path, text):
    work(path, 1, 50)
    path.with_name(COUNTS).write_text(text)
    assert missing(path) == ""


def test_counts_are_never_ahead_and_private(path):
    work(path, 1, 50)
    assert json.loads(path.with_name(COUNTS).read_text()) == {
        "answers": 49,
        "attempts": 49,
    }
    for name in (COUNTS, SUMS, "run.sqlite"):
        assert path.with_name(name).stat().st_mode & 0o777 == 0o600


def test_a_manifest_that_never_began_seals_nothing(path):
    work(path, 1, 50)
    before = path.with_name(SUMS).read_bytes()
    manifest = Manifest(path)
    db = connect(path, write=True)
    manifest.committed(db)
    assert not manifest.finish(db)
    db.close()
    manifest.close()
    assert path.with_name(SUMS).read_bytes() == before


@pytest.mark.parametrize("size", [0, 1, PAGE - 1, PAGE, PAGE + 1, 300 * PAGE + 7])
def test_sums_round_trip_for_any_size(tmp_path, size):
    path = tmp_path / "f"
    path.write_bytes(bytes(n % 251 for n in range(size)))
    with path.open("rb") as file:
        sums, found = page_sums(file.fileno())
    write_sums(tmp_path / "s", sums, found)
    assert read_sums(tmp_path / "s") == (sums, size)
    assert len(sums) == -(-size // PAGE)


def test_torn_or_changed_sums_count_as_none(tmp_path):
    work(tmp_path / "run.sqlite", 1, 50)
    path = tmp_path / SUMS
    whole = path.read_bytes()
    for other in (b"", whole[:10], whole[:-4], whole[:-1] + bytes([whole[-1] ^ 1])):
        path.write_bytes(other)
        assert read_sums(path) is None
    assert read_sums(tmp_path / "none") is None


def test_changed_pages_are_numbered_as_sqlite_does(tmp_path):
    path = tmp_path / "run.sqlite"
    work(path, 1, 300)
    then, _ = read_sums(tmp_path / SUMS)
    data = bytearray(path.read_bytes())
    data[2 * PAGE] ^= 4
    path.write_bytes(data)
    with path.open("rb") as file:
        now, _ = page_sums(file.fileno())
    assert changed_pages(then, now) == [3]
    assert changed_pages(then, then) == []
