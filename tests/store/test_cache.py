"""Answers that serve other runs: bounded, private, shared, and never a run's trouble."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import threading

import pytest

from synthnb.store import StoredResult, files
from synthnb.store.cache import AnswerCache, Place, cache_path


def key(number):
    return f"{number:032x}"


def answer(text="word", **changes):
    known = StoredResult(
        status="ok",
        text=text,
        reasoning="because",
        finish_reason="stop",
        model="m-1",
        request_id="chatcmpl-1",
        prompt_tokens=5,
        completion_tokens=7,
        adapted="json_object",
    )
    return known._replace(**changes)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs" / "cache.sqlite"


@pytest.fixture
def cache(path):
    made = []

    def make(**options):
        made.append(AnswerCache(path, **options))
        return made[-1]

    yield make
    for one in made:
        one.close()


def texts(found):
    return {place.request_key: stored.text for place, stored in found.items()}


def test_an_answer_comes_back_whole_and_marked(cache):
    place = Place(key(1), 0)
    first = cache()
    first.put([(place, answer())])
    first.close()
    found = cache().find([place, Place(key(2), 0)])
    assert found == {place: answer(adapted="json_object,cached")}


def test_sample_and_copy_are_part_of_the_key(cache):
    places = [Place(key(1), sample, copy) for sample in (0, 1) for copy in (0, 1)]
    first = cache()
    first.put([(place, answer(f"{place}")) for place in places])
    first.close()
    found = cache().find([*places, Place(key(1), 2)])
    assert {place: stored.text for place, stored in found.items()} == {
        place: f"{place}" for place in places
    }


def test_a_later_answer_takes_the_place_of_the_first(cache):
    first = cache()
    first.put([(Place(key(1), 0), answer("old"))])
    first.put([(Place(key(1), 0), answer("new"))])
    first.close()
    assert texts(cache().find([Place(key(1), 0)])) == {key(1): "new"}


def test_it_lies_beside_the_runs_and_is_its_users_alone(cache, path, tmp_path):
    assert cache_path() == tmp_path / "home" / "runs" / "cache.sqlite"
    one = cache()
    one.put([(Place(key(1), 0), answer())])
    names = sorted(p.name for p in path.parent.iterdir())
    assert names == ["cache.sqlite", "cache.sqlite-shm", "cache.sqlite-wal"]
    if os.name == "posix":
        modes = {stat.S_IMODE(p.stat().st_mode) for p in path.parent.iterdir()}
        assert modes == {0o600}
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        one.close()
        path.chmod(0o644)
        cache().find([])
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_oldest_make_room(cache, path):
    limit = 2_000_000
    one = cache(max_bytes=limit)
    for start in range(0, 4000, 100):
        some = range(start, start + 100)
        one.put([(Place(key(n), 0), answer("x" * 1000)) for n in some])
    one.close()
    assert path.stat().st_size < limit + 400_000
    found = texts(cache().find([Place(key(n), 0) for n in range(4000)]))
    assert key(0) not in found
    assert key(3999) in found
    assert 500 < len(found) < 2000
    # What is left is the youngest, without a gap.
    assert set(found) == {key(n) for n in range(4000 - len(found), 4000)}


def test_what_is_too_old_is_neither_used_nor_kept(cache, path):
    one = cache()
    one.put([(Place(key(n), 0), answer()) for n in (1, 2)])
    one.close()
    with sqlite3.connect(path) as db:
        db.execute("UPDATE answer SET created_at = 1000 WHERE id = 1")
    db.close()
    two = cache()
    assert set(texts(two.find([Place(key(n), 0) for n in (1, 2)]))) == {key(2)}
    two.put([(Place(key(3), 0), answer())])
    two.close()
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT count(*) FROM answer").fetchone() == (2,)
    db.close()


def damage(path):
    path.write_bytes(b"not a database at all" * 500)


def damage_a_page(path):
    data = bytearray(path.read_bytes())
    data[4096:] = b"\x7f" * (len(data) - 4096)
    path.write_bytes(data)


def newer(path):
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version=99")
    db.close()


@pytest.mark.parametrize(
    ("harm", "why"),
    [(damage, "damaged"), (damage_a_page, "damaged"), (newer, "newer synthnb")],
)
def test_one_that_cannot_be_used_is_left_alone_and_says_why(cache, path, harm, why):
    first = cache()
    first.put([(Place(key(n), 0), answer("x" * 500)) for n in range(50)])
    first.close()
    harm(path)
    before = path.read_bytes()
    one = cache()
    assert one.find([Place(key(n), 0) for n in range(50)]) == {}
    one.put([(Place(key(1), 0), answer())])
    assert why in one.trouble
    assert path.read_bytes() == before


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path):
    (tmp_path / "file").write_text("in the way")
    one = AnswerCache(tmp_path / "file" / "cache.sqlite")
    assert one.find([Place(key(1), 0)]) == {}
    one.put([(Place(key(1), 0), answer())])
    assert one.trouble
    one.close()


def test_text_that_sqlite_cannot_hold_is_not_kept_the_rest_is(cache):
    one = cache()
    one.put(
        [
            (Place(key(1), 0), answer("broken \ud800")),
            (Place(key(2), 0), answer("whole")),
        ]
    )
    assert one.trouble == ""
    one.close()
    assert texts(cache().find([Place(key(n), 0) for n in (1, 2)])) == {key(2): "whole"}


def test_a_writer_that_holds_it_costs_what_was_to_be_kept_and_nothing_else(
    cache, path, monkeypatch
):
    monkeypatch.setattr("synthnb.store.cache._BUSY_SECONDS", 0.01)
    one = cache()
    one.put([(Place(key(1), 0), answer())])
    one.close()
    two = cache()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    two.put([(Place(key(2), 0), answer())])
    assert set(texts(two.find([Place(key(n), 0) for n in (1, 2)]))) == {key(1)}
    other.execute("ROLLBACK")
    other.close()
    two.put([(Place(key(3), 0), answer())])
    assert set(texts(two.find([Place(key(n), 0) for n in (1, 2, 3)]))) == {
        key(1),
        key(3),
    }


def test_without_wal_on_a_network_file_system(cache, path, tmp_path, monkeypatch):
    mounts = tmp_path / "mountinfo"
    mounts.write_text("1 1 0:1 / / rw - nfs4 server:/ rw\n")
    monkeypatch.setattr(files, "_MOUNTINFO", mounts)
    one = cache()
    one.put([(Place(key(1), 0), answer())])
    one.close()
    assert path.read_bytes()[18:20] == b"\x01\x01"  # 2 = WAL, by SQLite's file format
    assert texts(cache().find([Place(key(1), 0)])) == {key(1): "word"}


WRITER = """
import sys
from synthnb.store import StoredResult
from synthnb.store.cache import AnswerCache, Place
from pathlib import Path
cache, who = AnswerCache(Path(sys.argv[1])), int(sys.argv[2])
for start in range(0, 200, 10):
    cache.put([(Place(f"{who * 1000 + n:032x}", 0), StoredResult("ok", "", f"{who}-{n}"))
               for n in range(start, start + 10)])
    cache.put([(Place(f"{7:032x}", 0), StoredResult("ok", "", "shared"))])
assert not cache.trouble, cache.trouble
cache.close()
"""


def test_processes_and_threads_share_it(cache, path):
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(n)])
        for n in (1, 2)
    ]
    one = cache()

    def work(who):
        for n in range(100):
            one.put([(Place(key(who * 1000 + n), 0), answer(f"{who}-{n}"))])
            one.find([Place(key(7), 0)])

    threads = [threading.Thread(target=work, args=(who,)) for who in (3, 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [writer.wait(30) for writer in writers] == [0, 0]
    assert one.trouble == ""
    one.close()
    places = [Place(key(w * 1000 + n), 0) for w in (1, 2) for n in range(200)]
    places += [Place(key(w * 1000 + n), 0) for w in (3, 4) for n in range(100)]
    found = cache().find([*places, Place(key(7), 0)])
    assert len(found) == 601


@pytest.mark.skipif(not hasattr(os, "fork"), reason="cannot fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_child_leaves_its_parents_connection_alone(cache):
    one = cache()
    one.put([(Place(key(1), 0), answer())])
    child = os.fork()
    if child == 0:
        quiet = one.find([Place(key(1), 0)]) == {}
        one.put([(Place(key(2), 0), answer())])
        one.close()
        os._exit(0 if quiet else 1)
    assert os.waitpid(child, 0)[1] == 0
    one.put([(Place(key(3), 0), answer())])
    one.close()
    found = cache().find([Place(key(n), 0) for n in (1, 2, 3)])
    assert set(texts(found)) == {key(1), key(3)}
