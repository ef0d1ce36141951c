"""The log of decisions: durable, append-only, shared by processes."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthnb.errors import ConfigError, StoreError, StoreFullError, StoreVersionError
from synthnb.records import Decision
from synthnb.store import decision_schema
from synthnb.store.decision_rows import decision_of, what_of
from synthnb.store.decisions import DecisionLog


@pytest.fixture
def log(tmp_path):
    made = DecisionLog(tmp_path / "run")
    yield made
    made.close()


def accept(*records):
    return [Decision(record, "accept") for record in records]


def test_what_was_added_is_read_back_by_another_log(log):
    edit = Decision(
        "b",
        "edit",
        {"answer": "new", "n": 3, "list": [{"x": None}]},
        {"answer": "old", "n": 2.5, "list": []},
        ("geography", "short"),
        4,
        "check the year",
    )
    first = log.append([*accept("a"), edit], by="ada")
    second = log.undo(by="ada")
    assert (first.number, second.number, second.undoes) == (1, 2, 1)
    assert first.decided_at.endswith("Z")
    assert DecisionLog(log.folder).read() == [first, second]
    assert DecisionLog(log.folder).read(after=1) == [second]
    assert log.read(after=2) == []


def test_looking_makes_nothing_on_disk(log):
    assert log.read() == []
    assert log.undo(by="ada") is None
    assert not log.folder.exists()


texts = st.text(st.characters(codec=None, categories=None))


@settings(deadline=None)
@given(texts, texts, texts)
def test_any_text_comes_back_letter_for_letter(value, tag, note):
    told = Decision("a", "edit", {"f": value}, {"f": [value]}, (tag,), 0, note)
    assert decision_of("a", "edit", what_of(told)) == told


def test_lone_surrogates_and_nuls_do_not_break_a_step(log):
    log.append(
        [Decision("a\ud800", "edit", {"f": "\ud800\0"}, {"f": ""})], by="b\ud800"
    )
    (step,) = log.read()
    assert step.decisions[0].record_id == "a\\ud800"
    assert step.decisions[0].edited == {"f": "\ud800\0"}
    assert log.undo(by="b\ud800").undoes == 1


def test_undo_takes_the_persons_last_step_that_stands(log):
    for by, record in [("ada", "a"), ("bob", "b"), ("ada", "c")]:
        log.append(accept(record), by=by)
    other = DecisionLog(log.folder)
    assert log.undo(by="ada").undoes == 3
    assert other.undo(by="ada").undoes == 1
    assert log.undo(by="ada") is None
    assert log.undo(by="bob").undoes == 2
    assert log.undo(by="bob") is None


@pytest.mark.parametrize("sql", [
    "UPDATE step SET decided_by = 'eve'",
    "DELETE FROM step",
    "REPLACE INTO step VALUES (1, 'eve', 'now', NULL)",
    "REPLACE INTO step VALUES (3, 'eve', 'now', 1)",
    "UPDATE entry SET action = 'reject'",
    "DELETE FROM entry WHERE record_id = 'a'",
    "INSERT OR REPLACE INTO entry VALUES (1, 0, 'a', 'reject', NULL)",
])  # fmt: skip
def test_the_file_itself_refuses_to_forget(log, sql):
    log.append(accept("a"), by="ada")
    log.undo(by="ada")
    before = log.read()
    db = sqlite3.connect(log.path)
    with pytest.raises(sqlite3.IntegrityError, match="only ever added"):
        db.execute(sql)
    db.close()
    assert log.read() == before


def test_a_step_is_about_at_least_one_record(log):
    with pytest.raises(ConfigError, match="1 to 1,000,000"):
        log.append([], by="ada")


def test_the_file_is_private(log):
    os.umask(0)
    try:
        log.append(accept("a"), by="ada")
    finally:
        os.umask(0o022)
    modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in log.folder.iterdir()}
    assert "decisions.sqlite-wal" in modes
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(log.folder.stat().st_mode) == 0o700


def test_each_commit_reaches_the_disk(log, monkeypatch):
    log.append(accept("a"), by="ada")
    assert log._db.execute("PRAGMA synchronous").fetchone()[0] == 2
    assert log._db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    log.close()
    monkeypatch.setattr("synthnb.store.connection.file_system", lambda _: "nfs4")
    other = DecisionLog(log.folder / "network")
    other.append(accept("a"), by="ada")
    assert other._db.execute("PRAGMA synchronous").fetchone()[0] == 3
    assert other._db.execute("PRAGMA journal_mode").fetchone()[0] == "delete"
    assert len(other.read()) == 1
    other.close()


WRITER = """
import sys
from pathlib import Path
from synthnb.records import Decision
from synthnb.store.decisions import DecisionLog
log, name = DecisionLog(Path(sys.argv[1])), sys.argv[2]
for i in range(int(sys.argv[3])):
    log.append([Decision(f"{name}-{i}-{j}", "accept") for j in range(3)], by=name)
    print(i, flush=True)
"""


def writer(folder, name, steps):
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, folder, name, str(steps)],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_processes_and_threads_may_add_at_once(log):
    children = [writer(log.folder, f"p{i}", 20) for i in range(3)]
    errors = []

    def work(name):
        try:
            for i in range(20):
                log.append(accept(f"{name}-{i}"), by=name)
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=work, args=(f"t{i}",)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for child in children:
        assert len(child.communicate(timeout=60)[0].split()) == 20
        assert child.returncode == 0
    assert errors == []
    steps = log.read()
    assert [step.number for step in steps] == list(range(1, 121))
    for name in ("p0", "p1", "p2", "t0", "t1", "t2"):
        theirs = [s.decisions[0].record_id for s in steps if s.decided_by == name]
        assert [record.split("-")[1] for record in theirs] == [
            str(i) for i in range(20)
        ]


def test_a_killed_writer_loses_nothing_that_it_was_told_is_saved(log):
    child = writer(log.folder, "victim", 100_000)
    told = [child.stdout.readline() for _ in range(25)]
    child.send_signal(signal.SIGKILL)
    told += child.communicate()[0].splitlines()
    steps = log.read()
    assert len(steps) >= len(told) >= 25
    assert all(len(step.decisions) == 3 for step in steps)
    assert log.append(accept("a"), by="ada").number == len(steps) + 1


def test_a_step_that_fails_midway_leaves_nothing(log):
    log.append(accept("a"), by="ada")
    bad = [*accept("b"), Decision("c", "edit", {"f": object()})]
    with pytest.raises(TypeError):
        log.append(bad, by="ada")
    assert len(log.read()) == 1
    assert log.append(accept("d"), by="ada").number == 2


def test_a_full_disk_is_said_and_the_step_is_not_half_there(log):
    log.append(accept("a"), by="ada")
    (pages,) = log._db.execute("PRAGMA page_count").fetchone()
    log._db.execute(f"PRAGMA max_page_count={pages + 2}")
    with pytest.raises(StoreFullError, match="no space left") as caught:
        log.append(accept(*(f"r{i}" for i in range(10_000))), by="ada")
    assert "earlier decisions are safe" in caught.value.hint
    assert [step.number for step in log.read()] == [1]
    assert log.append(accept("b"), by="ada").number == 2


@pytest.mark.parametrize("read", [True, False])
def test_a_damaged_file_is_named(log, read):
    log.folder.mkdir()
    log.path.write_bytes(b"this is no database, " * 100)
    with pytest.raises(StoreError, match="damaged or no log") as caught:
        log.read() if read else log.append(accept("a"), by="ada")
    assert ".recover" in caught.value.hint


def test_another_database_is_left_alone(log):
    log.folder.mkdir()
    db = sqlite3.connect(log.path)
    db.execute("CREATE TABLE mine(x)")
    db.close()
    before = log.path.read_bytes()
    with pytest.raises(StoreError, match="no log of decisions"):
        log.append(accept("a"), by="ada")
    assert log.path.read_bytes() == before


def test_a_newer_log_is_refused(log):
    log.append(accept("a"), by="ada")
    log._db.execute(f"PRAGMA user_version={decision_schema.VERSION + 1}")
    log.close()
    for call in (log.read, lambda: log.append(accept("b"), by="ada")):
        with pytest.raises(StoreVersionError, match="newer synthnb"):
            call()


def test_a_folder_that_cannot_be_written_is_named():
    log = DecisionLog(Path("/proc/synthnb/run"))
    assert log.read() == []
    with pytest.raises(StoreError, match=r"cannot be written[\s\S]*folder=") as caught:
        log.append(accept("a"), by="ada")
    assert "/proc/synthnb/run" in str(caught.value)


def test_a_log_that_may_only_be_read_can_be_read(log, monkeypatch):
    log.append(accept("a"), by="ada")
    log.close()
    monkeypatch.setattr("synthnb.store.decisions.is_writable", lambda _: False)
    reader = DecisionLog(log.folder)
    assert len(reader.read()) == 1
    assert not log.path.with_name("decisions.sqlite-wal").exists()
    log.append(accept("b"), by="ada")
    assert [step.number for step in reader.read()] == [1, 2]
    assert reader.append(accept("c"), by="bob").number == 3


def test_a_log_that_was_deleted_meanwhile_is_not_written_into_nothing(log):
    log.append(accept("a"), by="ada")
    log.path.unlink()
    assert log.is_gone
    for call in (log.read, lambda: log.append(accept("b"), by="ada")):
        with pytest.raises(StoreError, match="deleted or moved"):
            call()
    log.close()
    assert log.read() == []


def test_a_busy_log_waits_and_then_says_who_might_hold_it(log, monkeypatch):
    monkeypatch.setattr("synthnb.store.decision_file._BUSY_SECONDS", 0.05)
    log.append(accept("a"), by="ada")
    log.close()
    log.read()
    db = sqlite3.connect(log.path, isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="another program holds"):
        log.append(accept("b"), by="ada")
    db.execute("ROLLBACK")
    db.close()
    assert log.append(accept("b"), by="ada").number == 2


def test_a_forked_child_opens_the_log_anew(log):
    log.append(accept("a"), by="ada")
    opened = log._db
    log._opened = (*log._opened[:2], os.getpid() + 1)
    assert log.append(accept("b"), by="ada").number == 2
    assert log._db is not opened
    opened.execute("SELECT 1")  # the parent's connection was not closed
    opened.close()
