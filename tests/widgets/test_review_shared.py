"""Several views, processes and frames on one log of decisions, and what can go wrong."""

from __future__ import annotations

import threading

import pandas as pd
import pytest

from synthnb.errors import FrameError, StoreError
from synthnb.records import Decision
from synthnb.reviewing import decide, undo
from synthnb.store.decisions import DecisionLog
from synthnb.widgets.review_model import ReviewModel


def key(i):
    return f"{i:016x}"


def frame(n=6, **more):
    return pd.DataFrame(
        {
            "record_id": pd.array([key(i) for i in range(n)], dtype="string"),
            "question": pd.array([f"Question {i}?" for i in range(n)], dtype="string"),
            "answer": pd.array([f"Answer {i}." for i in range(n)], dtype="string"),
            "rating": pd.array([float(i) + 1 for i in range(n)], dtype="Float64"),
            **more,
        }
    )


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "run"


@pytest.fixture
def make(folder):
    def make(df=None, **options):
        options.setdefault("by", "ada")
        return ReviewModel(frame() if df is None else df, folder=folder, **options)

    return make


def steps(folder):
    log = DecisionLog(folder)
    found = log.read()
    log.close()
    return found


def test_views_of_one_log_hear_of_each_other_at_once(make):
    told = []
    one, two = make(), make(frame()[::-1], changed=told.append)
    one.decide(key(1), "reject")
    assert told[-1]["state"]["counts"]["reject"] == 1
    (row,) = told[-1]["rows"]
    assert (row["id"], row["i"], row["decision"]) == (key(1), 4, "reject")
    decide(frame(), key(2), "accept", folder=two.live.log.folder)
    assert told[-1]["rows"][0]["id"] == key(2)
    one.undo()
    assert told[-1]["rows"][0]["decision"] is None
    two.decide(key(0), "accept")  # its own pages may be several
    assert told[-1]["rows"][0]["id"] == key(0)
    assert one.state()["counts"] == two.state()["counts"]


def test_a_change_of_many_rows_is_told_without_them(make):
    told = []
    model = make(frame(500), changed=told.append)
    model.bulk(3)
    assert told[-1]["rows"] is None


def test_what_another_process_wrote_is_seen_by_the_next_look(make, folder):
    told = []
    model = make(changed=told.append)
    other = DecisionLog(folder)
    other.append([Decision(key(0), "accept")], by="bob")
    assert model.rows(0, 1)["rows"][0]["decision"] == "accept"
    assert len(told) == 1
    assert model.record(0)["decided"]["by"] == "bob"
    assert model.state()["undo"] is None  # it is bob's to take back
    other.append(
        [Decision(key(1), "edit", {"answer": "bob's"}, {"answer": "Answer 1."})],
        by="bob",
    )
    assert model.sync()["state"]["counts"]["accept"] == 2
    other.undo(by="bob")
    assert model.next(0)["i"] == 1
    other.close()


def test_a_page_that_cannot_be_told_does_not_make_a_decision_fail(make, folder, caplog):
    def fail(_):
        raise RuntimeError("the page is gone")

    answer = make(changed=fail).decide(key(0), "accept")
    assert answer["row"]["decision"] == "accept"
    assert len(steps(folder)) == 1
    assert "could not be told" in caplog.text


def test_a_view_that_nobody_holds_is_not_told(make):
    told = []
    model = make(changed=told.append)
    other = make()
    del model
    other.decide(key(0), "accept")
    assert told == []


def test_threads_may_use_several_views_of_one_log(make):
    models = [make(frame(40), by=f"p{i}", changed=lambda _: None) for i in range(3)]
    errors = []

    def work(model, n):
        try:
            for i in range(n, 40, 3):
                model.decide(key(i), "accept")
                model.rows(0, 40)
                model.set_filter({"text": "question"})
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=work, args=(m, n)) for n, m in enumerate(models)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert errors == []
    for model in models:
        assert model.state()["counts"] == {"accept": 40, "reject": 0, "todo": 0}


# trouble -----------------------------------------------------------------------------------


def test_what_cannot_be_saved_changes_nothing(make, monkeypatch):
    told = []
    model = make(changed=told.append)
    model.decide(key(0), "accept")
    before = model.state()

    def fail(*_, **__):
        raise StoreError("no space left", hint="Free some space.")

    monkeypatch.setattr(DecisionLog, "append", fail)
    monkeypatch.setattr(DecisionLog, "undo", fail)
    for call in (
        lambda: model.decide(key(1), "accept"),
        lambda: model.edit(key(1), {"answer": "x"}),
        lambda: model.annotate(key(1), stars=1),
        lambda: model.bulk(3),
        model.undo,
    ):
        with pytest.raises(StoreError, match="no space left"):
            call()
    assert model.state() == before
    assert len(told) == 1
    assert model.record(1)["row"]["decision"] is None


def test_rows_can_be_read_while_the_log_cannot(make):
    model = make()
    model.decide(key(0), "accept")
    model.live.path.unlink()
    assert model.rows(0, 1)["rows"][0]["decision"] == "accept"
    assert model.record(0)["id"] == key(0)
    with pytest.raises(StoreError, match="deleted or moved"):
        model.decide(key(1), "accept")
    with pytest.raises(StoreError, match="deleted or moved"):
        model.sync()
    again = make()
    assert again.state()["counts"]["todo"] == 6
    again.decide(key(1), "accept")


def test_a_damaged_log_is_said_in_the_cell(make, folder):
    folder.mkdir()
    (folder / "decisions.sqlite").write_bytes(b"nonsense" * 200)
    with pytest.raises(StoreError, match="damaged"):
        make()


def test_problems_are_told_before_work_begins(make, monkeypatch):
    assert make().open()["problem"] is None
    elsewhere = decide(frame(), key(0), "accept", name="elsewhere")
    del elsewhere.attrs["run_folder"]
    told = make(elsewhere).open()["problem"]
    assert told.startswith(
        "1 rows of this frame hold decisions that are not in this log"
    )
    monkeypatch.setattr("os.access", lambda *_: False)
    assert "cannot be written" in make().open()["problem"]


# frames ------------------------------------------------------------------------------------


def test_later_changes_of_the_frame_do_not_reach_the_review(make):
    df = frame()
    model = make(df)
    df.loc[0, "question"] = "changed"
    df["extra"] = 1
    assert model.rows(0, 1)["rows"][0]["title"] == "Question 0?"


def test_a_frame_that_shows_edits_already_knows_its_originals(make):
    model = make()
    model.edit(key(0), {"answer": "new"})
    shown = decide(frame(), key(1), "accept", folder=model.live.log.folder)
    again = make(shown)
    assert again.record(0)["fields"][1] == {
        "name": "answer",
        "text": "new",
        "was": "Answer 0.",
        "cut": None,
    }
    undo(shown, by=None, folder=model.live.log.folder)
    again.undo()
    assert again.record(0)["fields"][1]["text"] == "Answer 0."
    assert again.record(0)["fields"][1]["was"] is None


@pytest.mark.parametrize("ids", [[3, 1, 2], [3.0, 1.0, 2.0], ["3", "1", "2"]])
def test_numbers_and_texts_are_ids_alike(make, ids):
    model = make(frame(3, record_id=ids))
    assert [row["id"] for row in model.rows(0, 3)["rows"]] == ["3", "1", "2"]
    assert model.decide("1", "accept")["row"]["i"] == 1
    assert model.decide(2, "accept")["row"]["i"] == 2


def test_frames_that_cannot_be_reviewed_say_why(make):
    with pytest.raises(FrameError, match="could not tell them apart"):
        make(pd.concat([frame(), frame()]))
    with pytest.raises(FrameError, match="two columns are named"):
        make(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(FrameError, match="'answre'"):
        make(fields=["answre"])
    with pytest.raises(FrameError, match="takes a DataFrame"):
        make([1])
