"""One log in one process: everybody on it hears of each other at once."""

from __future__ import annotations

import gc
import threading

import pytest

from synthnb.records import Decision
from synthnb.reviewing.live import live_log
from synthnb.store.decisions import DecisionLog


class Ear:
    def __init__(self, live):
        self.heard = []
        live.subscribe(self.hear)

    def hear(self, touched):
        self.heard.append(touched)


@pytest.fixture
def live(tmp_path):
    return live_log(tmp_path / "run")


def accept(record):
    return [Decision(record, "accept")]


def test_one_folder_has_one_live_log(tmp_path, live):
    assert live_log(tmp_path / "x" / ".." / "run") is live
    assert live_log(tmp_path / "other") is not live


def test_listeners_hear_of_steps_and_undos(live):
    ear, other = Ear(live), Ear(live)
    live.append([Decision("a", "accept"), Decision("b", "reject")], by="ada")
    undone = live.undo(by="ada")
    assert undone.number == 1
    assert live.undo(by="ada") is None
    assert ear.heard == other.heard == [{"a", "b"}, {"a", "b"}]
    del other
    gc.collect()
    live.append(accept("c"), by="ada")
    assert ear.heard[-1] == {"c"}


def test_what_another_process_wrote_is_taken_up_in_its_order(live):
    ear = Ear(live)
    other = DecisionLog(live.log.folder)
    live.append(accept("a"), by="ada")
    other.append([Decision("a", "reject")], by="bob")
    live.sync()
    live.sync()
    assert ear.heard == [{"a"}, {"a"}]
    assert live.book.state("a").decision == "reject"
    other.append(accept("b"), by="bob")
    live.append(accept("c"), by="ada")  # without a sync before
    assert [step.number for step in live.book.steps] == [1, 2, 3, 4]
    assert ear.heard[-1] == {"b", "c"}
    other.close()


def test_threads_may_decide_at_once(live):
    def work(name):
        for i in range(25):
            live.append(accept(f"{name}{i}"), by=name)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [step.number for step in live.book.steps] == list(range(1, 101))
    assert len(list(live.book.records())) == 100


def test_a_loop_of_calls_reads_the_log_once(tmp_path, monkeypatch):
    read = []
    true = DecisionLog.read
    monkeypatch.setattr(
        DecisionLog,
        "read",
        lambda self, after=0: read.append(after) or true(self, after),
    )
    for i in range(5):
        live_log(tmp_path / "run").append(accept(f"r{i}"), by="ada")
        live_log(tmp_path / "run").sync()
    assert read == [1, 2, 3, 4, 5]


def test_many_logs_do_not_stay_open(tmp_path):
    first = live_log(tmp_path / "0")
    first.append(accept("a"), by="ada")
    number = id(first)
    for i in range(1, 12):
        live_log(tmp_path / str(i))
    del first
    gc.collect()
    again = live_log(tmp_path / "0")
    assert again.book.last == 0 or id(again) == number
    again.sync()
    assert again.book.state("a").decision == "accept"
