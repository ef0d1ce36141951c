from __future__ import annotations

import json
import os
import sqlite3
import stat
import subprocess
import sys
import time

import pytest

from synthnb.errors import StoreError, StoreLockedError, StoreVersionError
from synthnb.store import AttemptRow, ResultRow, RunStore, SlotRow, StoredResult
from synthnb.store.manifest import Manifest
from synthnb.store.writer import Entry, Writer


def slot(store, row_id="r1", key="k1", **changes):
    base = SlotRow(
        changes.pop("id", None) or store.new_slot_id(),
        row_id, "qa", 0, 0, key, store.generation, 0,
    )  # fmt: skip
    return base._replace(**changes)


def attempt(slot_id, key="k1", status="ok", tokens=3):
    return AttemptRow(
        slot_id, key, "t", 0.1, status, 200, tokens, tokens, "", "http://x"
    )


def result(slot_id, key="k1", text="answer", adapted=""):
    answer = StoredResult("ok", text=text, finish_reason="stop", adapted=adapted)
    return ResultRow(slot_id, key, answer, "t")


@pytest.fixture
def store(tmp_path):
    made = RunStore(tmp_path / "run")
    made.open()
    yield made
    made.close()


def test_an_answer_is_there_after_flush_and_after_reopening(tmp_path, store):
    row = slot(store)
    store.put_slot(row, {"text": "Größe\n\t{x}", "n": 1})
    store.put_attempt(attempt(row.id), result(row.id))
    store.flush()
    for reader in (store, RunStore(tmp_path / "run")):
        (found,) = reader.slots("qa")
        assert found.result.text == "answer"
        assert found.attempts == 1
        assert reader.inputs(["r1"]) == {"r1": {"text": "Größe\n\t{x}", "n": 1}}


def test_the_first_answer_wins_and_both_attempts_count(store):
    row = slot(store)
    store.put_slot(row, {"text": "a"})
    store.put_attempt(attempt(row.id, tokens=3), result(row.id, text="first"))
    store.put_attempt(attempt(row.id, tokens=4), result(row.id, text="late"))
    store.flush()
    (found,) = store.slots("qa")
    assert found.result.text == "first"
    assert found.attempts == 2
    assert store.cost() == (2, 7, 7)


def test_a_changed_request_makes_the_slot_stale_and_keeps_the_old_answer(store):
    row = slot(store)
    store.put_slot(row, {"text": "a"})
    store.put_attempt(attempt(row.id), result(row.id))
    store.put_slot(row._replace(request_key="k2"), None)
    store.flush()
    (found,) = store.slots("qa")
    assert found.result is None
    assert found.attempts == 0
    known = store.known("qa", ["r1"])
    assert known["r1", 0, 0][1]["k1"].text == "answer"


def test_only_the_last_generation_is_shown_in_row_order(tmp_path):
    folder = tmp_path / "run"
    for wanted in (["a", "b", "c"], ["c", "a"]):
        store = RunStore(folder)
        store.open()
        known = store.known("qa", wanted)
        for ordinal, name in enumerate(wanted):
            old = known.get((name, 0, 0), (None,))[0]
            store.put_slot(slot(store, name, id=old, ordinal=ordinal), {"text": name})
        store.close()
    assert [s.row_id for s in RunStore(folder).slots("qa")] == ["c", "a"]


def test_lone_surrogates_are_replaced_and_marked(store):
    row = slot(store)
    store.put_slot(row, {"text": "a\ud800b"})
    store.put_attempt(attempt(row.id), result(row.id, text="x\udfffy", adapted="z"))
    store.flush()
    (found,) = store.slots("qa")
    assert found.result.text == "x�y"
    assert found.result.adapted == "z,surrogates_replaced"


def test_nul_and_odd_characters_survive(store):
    text = "a\x00b\u202ec😀\r\n\x1b[31m"
    row = slot(store)
    store.put_slot(row, {"text": text})
    store.put_attempt(attempt(row.id), result(row.id, text=text))
    store.flush()
    assert next(store.slots("qa")).result.text == text
    assert store.inputs(["r1"])["r1"]["text"] == text


def test_the_folder_is_private(store):
    assert stat.S_IMODE(store.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600


def test_a_second_store_in_this_process_is_refused(store):
    with pytest.raises(StoreLockedError, match=f"process {os.getpid()} \\(this very"):
        RunStore(store.folder).open()


def test_a_second_process_is_refused_with_the_owners_pid(store):
    code = (
        "import sys; from pathlib import Path; from synthnb.store import RunStore\n"
        "RunStore(Path(sys.argv[1])).open()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(store.folder)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert f"in use by process {os.getpid()} on" in done.stderr


def test_the_lock_is_free_after_close_and_close_may_be_repeated(store):
    store.close()
    store.close()
    again = RunStore(store.folder)
    again.open()
    again.close()


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "run").write_text("x")
    with pytest.raises(StoreError, match="cannot be written"):
        RunStore(tmp_path / "run").open()


def test_a_damaged_ledger_is_named_with_the_way_out(store):
    store.close()
    store.path.write_bytes(b"not a database, just some text" * 100)
    with pytest.raises(StoreError, match=r"damaged[\s\S]*synthnb recover"):
        RunStore(store.folder).open()
    RunStore(store.folder)._lock.acquire()


def test_a_newer_ledger_opens_for_reading_only(store):
    row = slot(store)
    store.put_slot(row, {"text": "a"})
    store.close()
    with sqlite3.connect(store.path) as db:
        db.execute("PRAGMA user_version=99")
    db.close()
    with pytest.raises(StoreVersionError, match="newer synthnb"):
        RunStore(store.folder).open()
    assert [s.row_id for s in RunStore(store.folder).slots("qa")] == ["r1"]


def test_reading_where_no_run_is_says_so(tmp_path):
    with pytest.raises(StoreError, match="no run"):
        list(RunStore(tmp_path / "none").slots("qa"))


def test_recipe_json_is_whole_and_readable(store):
    store.write_recipe({"recipe": {"step": "qa"}, "text": "ü\ud800"})
    assert json.loads((store.folder / "recipe.json").read_text())["recipe"]
    assert not list(store.folder.glob(".recipe-*"))


def test_writing_after_close_is_refused(store):
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.put_meta("a", "b")


class TestWriter:
    """The thread itself, its database made to fail."""

    @pytest.fixture
    def parts(self, tmp_path):
        committed, troubles = [], []
        path = tmp_path / "run.sqlite"
        writer = Writer(
            path,
            manifest=Manifest(path),
            may_write=lambda: None,
            on_commit=committed.extend,
            on_trouble=troubles.append,
        )
        return writer, committed, troubles

    def entry(self, ticket=1):
        return Entry([("INSERT INTO meta VALUES (?, ?)", (f"k{ticket}", "v"))], ticket)

    def test_groups_what_came_while_it_was_busy(self, parts):
        writer, committed, _ = parts
        for ticket in range(600):
            writer.put(self.entry(ticket))
        writer.start()
        writer.flush()
        assert committed == list(range(600))
        writer.close()

    def test_a_full_disk_waits_and_goes_on(self, parts, monkeypatch):
        monkeypatch.setattr("synthnb.store.writer._RETRY_SECONDS", 0.01)
        writer, committed, troubles = parts
        room = iter([False, False, True])
        write = writer._write

        def full_at_first(group):
            if not next(room, True):
                error = sqlite3.OperationalError("database or disk is full")
                error.sqlite_errorname = "SQLITE_FULL"
                raise error
            write(group)

        writer._write = full_at_first
        writer.put(self.entry())
        writer.start()
        writer.flush()
        assert committed == [1]
        assert "no space left" in troubles[0].message
        assert troubles[1] is None
        writer.close()

    def test_abandon_gives_up_and_says_how_much(self, parts):
        writer, committed, _ = parts

        def full(group):
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorname = "SQLITE_FULL"
            raise error

        writer._write = full
        writer.put(self.entry())
        writer.put(self.entry(2))
        writer.abandon()
        writer.start()
        with pytest.raises(
            StoreError, match=r"no space left.*2 entries were not saved"
        ):
            writer.close()
        assert committed == []

    def test_a_reader_that_holds_the_ledger_is_waited_for(self, parts, monkeypatch):
        monkeypatch.setattr("synthnb.store.writer._RETRY_SECONDS", 0.01)
        writer, committed, troubles = parts
        writer._db.execute("PRAGMA busy_timeout=10")
        other = sqlite3.connect(writer._path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        writer.put(self.entry())
        writer.start()
        while not troubles:
            time.sleep(0.005)
        assert "another program holds the ledger" in troubles[0].message
        other.execute("ROLLBACK")
        writer.flush()
        assert committed == [1]
        assert troubles[1:] == [None]
        writer.close()
        other.close()

    def test_any_error_at_all_is_told_and_not_only_the_end_of_a_thread(self, parts):
        writer, committed, _ = parts
        writer.put(Entry([("INSERT INTO meta VALUES (?, ?)", ("k", 2**70))], 1))
        writer.start()
        with pytest.raises(StoreError, match=r"OverflowError.*1 entries were not"):
            writer.close()
        assert committed == []

    def failing_io(self, writer, times):
        write, left = writer._write, iter(range(times))

        def fail_at_first(group):
            if next(left, None) is not None:
                error = sqlite3.OperationalError("disk I/O error")
                error.sqlite_errorname = "SQLITE_IOERR_WRITE"
                raise error
            write(group)

        writer._write = fail_at_first

    def test_an_io_error_reopens_and_checks_before_it_goes_on(self, parts, monkeypatch):
        monkeypatch.setattr("synthnb.store.writer._RETRY_SECONDS", 0.001)
        writer, committed, troubles = parts
        self.failing_io(writer, 2)
        before = writer._db
        writer.put(self.entry())
        writer.start()
        writer.flush()
        assert committed == [1]
        assert writer._db is not before
        assert "I/O" in troubles[0].message
        assert troubles[1] is None
        writer.close()

    def test_io_errors_without_end_end_it(self, parts, monkeypatch):
        monkeypatch.setattr("synthnb.store.writer._RETRY_SECONDS", 0.001)
        writer, committed, _ = parts
        self.failing_io(writer, 100)
        writer.put(self.entry())
        writer.start()
        with pytest.raises(
            StoreError, match=r"disk I/O error.*1 entries were not saved"
        ):
            writer.flush()
        assert committed == []

    def test_an_error_that_will_not_pass_ends_it(self, parts):
        writer, _, troubles = parts
        writer.put(Entry([("INSERT INTO missing VALUES (1)", ())], 1))
        writer.start()
        with pytest.raises(StoreError, match="no such table"):
            writer.flush()
        assert isinstance(troubles[-1], StoreError)

    def test_who_has_lost_the_folder_writes_no_more(self, parts):
        writer, committed, _ = parts

        def lost():
            raise StoreLockedError("another host has it", hint="stop it there")

        writer.put(self.entry())
        writer._may_write = lost
        writer.start()
        with pytest.raises(StoreLockedError, match="another host"):
            writer.close()
        assert committed == []


def test_a_note_that_cannot_be_written_keeps_no_run_from_opening(tmp_path):
    (tmp_path / "run" / "owner.json").mkdir(parents=True)
    store = RunStore(tmp_path / "run")
    store.open()
    store.close()
