"""The review desk without a page: every operation, and what the log then holds."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from synthnb.errors import ConfigError, FrameError
from synthnb.records import Decision
from synthnb.reviewing import decide
from synthnb.reviewing.calls import decided
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


def view(model):
    """Return the rows of the view as numbers of the frame."""
    listed = model.rows(0, 1000)["rows"]
    assert [row["i"] for row in listed] == list(range(len(listed)))
    return [int(row["id"], 16) for row in listed]


def steps(folder):
    log = DecisionLog(folder)
    found = log.read()
    log.close()
    return found


# opening and looking ---------------------------------------------------------------------


def test_open_tells_all_that_a_page_needs(make, folder):
    df = frame(
        source=["b.pdf", "a.pdf", "b.pdf", None, "b.pdf", "a.pdf"],
        status=["ok"] * 5 + ["truncated"],
        duplicate_of=[None, key(0), *[None] * 4],
        evidence="x",
    )
    answer = make(df).open()
    assert answer["state"] == {
        "total": 6,
        "matching": 6,
        "counts": {"accept": 0, "reject": 0, "todo": 6},
        "undo": None,
        "by": "ada",
        "log": str(folder / "decisions.sqlite"),
        "version": 1,
    }
    assert answer["fields"] == ["question", "answer"]
    assert answer["options"]["statuses"] == [["ok", 5], ["truncated", 1]]
    assert answer["options"]["sources"] == [["b.pdf", 3], ["a.pdf", 2]]
    sorts = [name for name, _ in answer["options"]["sorts"]]
    assert sorts == ["order", "rating", "length", "source", "decided"]
    assert answer["has"] == dict.fromkeys(
        ("rating", "duplicates", "evidence", "status"), True
    )
    assert answer["scale"] == [1, 10]
    assert answer["judge"]["threshold"] == 6
    assert answer["selected"] == 0
    assert answer["problem"] is None
    assert not folder.exists()


def test_a_bare_frame_offers_only_what_it_has(make):
    answer = make(frame()[["record_id", "question"]]).open()
    assert answer["judge"] is answer["scale"] is None
    assert not any(answer["has"].values())
    assert [name for name, _ in answer["options"]["sorts"]] == [
        "order",
        "length",
        "decided",
    ]


@pytest.mark.parametrize("n", [0, 1])
def test_a_frame_of_no_or_one_row_works(make, n):
    model = make(frame(n))
    answer = model.open()
    assert answer["selected"] == (0 if n else None)
    assert model.rows(0, 10)["rows"] == model.rows(0, 1)["rows"]
    assert model.next()["i"] == (0 if n else None)
    assert model.set_filter({"decision": "accept"})["selected"] is None
    if n:
        assert model.decide(key(0), "accept")["next"] is None
    else:
        with pytest.raises(ConfigError, match="there is no row 1 in this view"):
            model.record(0)


def test_rows_come_by_pages_and_say_only_what_the_list_shows(make):
    model = make()
    listed = model.rows(2, 4)["rows"]
    assert listed[0] == {
        "i": 2,
        "id": key(2),
        "title": "Question 2?",
        "rating": 3.0,
        "decision": None,
        "edited": False,
        "duplicate": False,
        "status": None,
        "stars": 0,
    }
    assert [row["i"] for row in listed] == [2, 3]
    assert model.rows(4, 100)["rows"][-1]["i"] == 5
    assert model.rows(-5, 1)["rows"][0]["i"] == 0
    assert len(make(frame(3000)).rows(0, 3000)["rows"]) == 1000


def test_every_answer_survives_json_with_missing_and_hostile_values(make):
    bad = [
        "\ud800<script>alert(1)</script>\0",
        "x" * 1_000_000,
        None,
        "\u202e",
        "",
        "é\n" * 9,
    ]
    df = frame(
        question=pd.array(bad, dtype=pd.StringDtype("python")),
        answer=[{"a": "\ud800"}, ["x", None], None, np.nan, 1.5, True],
        rating=[np.nan, np.inf, None, 3, -np.inf, 4],
        rating_reason=pd.array(bad, dtype=pd.StringDtype("python")),
        source=pd.array(bad, dtype=pd.StringDtype("python")),
        status=pd.array(bad, dtype=pd.StringDtype("python")),
        text=pd.array(bad, dtype=pd.StringDtype("python")),
        page=[1.0, np.nan, None, 2, 3, 4],
        when=pd.to_datetime(["2026-01-01", None, None, None, None, None]),
    )
    model = make(df)
    answers = [model.open(), model.rows(0, 6), model.judge(3), model.state()]
    answers += [model.record(i) for i in range(6)]
    answers.append(model.annotate(key(0), tags=["\ud800"], note="\ud800"))
    answers += [
        model.record(0),
        model.set_filter({"status": model.rows(0, 1)["rows"][0]["status"]}),
    ]
    for answer in answers:
        json.dumps(answer, allow_nan=False).encode()
        json.dumps(answer, ensure_ascii=False).encode()  # no lone surrogate
    assert answers[-1]["state"]["matching"] == 1
    listed = answers[1]["rows"]
    assert all(len(row["title"]) <= 160 and "\n" not in row["title"] for row in listed)
    assert listed[0]["title"].startswith("\ufffd<script>")


# deciding -----------------------------------------------------------------------------------


def test_a_decision_is_on_disk_when_it_returns_and_the_view_stays(make, folder):
    model = make()
    model.set_filter({"decision": "undecided"})
    answer = model.decide(key(1), "accept", 1)
    assert answer["next"] == 2
    assert answer["row"]["decision"] == "accept"
    assert answer["row"]["i"] == 1
    assert answer["state"]["counts"] == {"accept": 1, "reject": 0, "todo": 5}
    assert answer["state"]["undo"] == "accept of “Question 1?”"
    ((told,),) = [step.decisions for step in steps(folder)]
    assert told._replace(seen=None) == Decision(key(1), "accept")
    assert list(told.seen) == ["question", "answer"]
    assert view(model) == [0, 1, 2, 3, 4, 5]
    assert answer["state"]["version"] == model.state()["version"]
    assert model.set_filter({})["state"]["matching"] == 5
    assert view(model) == [0, 2, 3, 4, 5]


def test_next_skips_what_is_decided_and_goes_round_the_end(make):
    model = make(frame(5))
    for i in (1, 2, 4):
        model.decide(key(i), "reject")
    assert [model.next(i)["i"] for i in (None, 0, 1, 3, 4)] == [0, 3, 3, 0, 0]
    assert [model.next(i, back=True)["i"] for i in (None, 4, 3, 0)] == [3, 3, 0, 3]
    assert model.decide(key(3), "accept", 3)["next"] == 0
    assert model.decide(key(0), "accept", 0)["next"] is None
    assert model.next(0)["i"] is None


def test_an_edit_shows_old_and_new_and_accepts(make, folder):
    model = make()
    answer = model.edit(key(0), {"question": "Question 0?", "answer": "2,850 km"}, 0)
    assert answer["row"]["edited"]
    assert answer["row"]["decision"] == "accept"
    fields = model.record(0)["fields"]
    assert fields[0] == {
        "name": "question",
        "text": "Question 0?",
        "was": None,
        "cut": None,
    }
    assert fields[1] == {
        "name": "answer",
        "text": "2,850 km",
        "was": "Answer 0.",
        "cut": None,
    }
    (step,) = steps(folder)
    assert step.decisions[0].edited == {"answer": "2,850 km"}
    assert step.decisions[0].was == {"answer": "Answer 0."}
    assert model.undo()["what"] == "edit of “Question 0?”"
    assert model.record(0)["fields"][1]["text"] == "Answer 0."


def test_an_edit_that_was_taken_back_by_hand_is_the_same_here_and_in_the_frame(make):
    desk = make()
    desk.edit(key(1), {"answer": "New."})
    assert desk.record(1)["row"]["edited"]
    desk.edit(key(1), {"answer": "Answer 1."})
    assert not desk.record(1)["row"]["edited"]
    assert desk.record(1)["fields"][1]["was"] is None
    assert decided(desk.records, desk.live)["edited"].isna().all()
    assert desk.judge(3)["decided"] == 1
    desk.undo()
    assert desk.record(1)["row"]["edited"]


def test_a_desk_on_a_run_made_anew_says_that_its_edits_are_of_another_text(make):
    make().edit(key(0), {"answer": "New."})
    assert make().open()["problem"] is None
    told = make(frame().assign(answer="of other prompts")).open()["problem"]
    assert "1 rows of this frame hold another text" in told


def test_a_name_that_utf8_cannot_hold_can_undo(make):
    desk = make(by="\udce9lise")
    desk.decide(key(0), "accept")
    assert desk.state()["undo"]
    desk.undo()


def test_a_saved_edit_without_a_change_accepts(make, folder):
    df = frame(2, number=[1.5, None])
    df["answer"] = pd.array(["a\r\nb\rc", "x\ud800"], dtype=pd.StringDtype("python"))
    model = make(df)
    for i in range(2):
        shown = {
            f["name"]: f["text"].replace("\r\n", "\n")
            for f in model.record(i)["fields"]
        }
        assert not model.edit(key(i), shown)["row"]["edited"]
    assert [step.decisions[0].action for step in steps(folder)] == ["accept", "accept"]


def test_an_edited_title_is_the_new_one(make):
    model = make()
    answer = model.edit(key(0), {"question": "  New\n question "})
    assert answer["row"]["title"] == "New question"
    assert answer["state"]["undo"] == "edit of “New question”"


@pytest.mark.parametrize(
    ("before", "text", "after"),
    [
        ({"role": "user"}, '{"role": "system"}', {"role": "system"}),
        ([1, 2], "[1, 2, 3]", [1, 2, 3]),
        ([1, 2], " ", None),
        (True, "false", False),
        (3, "4", 4),
        (3.5, "4.25", 4.25),
        (3, "", None),
        ("3", "4", "4"),
        (None, "text", "text"),
    ],
)
def test_a_text_becomes_what_the_field_holds(make, before, text, after):
    column = pd.Series([before, "other"], dtype=object)
    model = make(frame(2, answer=column))
    model.edit(key(0), {"answer": text})
    shown = model.record(0)["fields"][1]
    held = steps(model.live.log.folder)[0].decisions[0].edited["answer"]
    assert held == after
    assert type(held) is type(after)
    assert shown["was"] == (
        json.dumps(before, indent=2)
        if not isinstance(before, str | None)
        else before or ""
    )


@pytest.mark.parametrize(
    ("column", "text", "error"),
    [
        ([{"a": 1}, {}], "{a: 1}", "no valid JSON"),
        ([[1], []], "plain", "no valid JSON"),
        ([True, False], "maybe", "no valid true or false"),
        ([True, False], "1", "true or false"),
        ([1, 2], "one", "does not fit"),
        (pd.array([1.5, None], dtype="Float64"), "one", "does not fit"),
        (pd.Series([1, "x"], dtype=object), "one", "is a number"),
    ],
)
def test_a_text_that_the_field_cannot_hold_is_refused(
    make, folder, column, text, error
):
    model = make(frame(2, answer=column))
    with pytest.raises((ConfigError, FrameError), match=error):
        model.edit(key(0), {"answer": text})
    assert not folder.exists()


def test_a_text_too_long_to_be_shown_whole_cannot_lose_its_end(make):
    long = "word " * 10_000
    model = make(frame(1, answer=[long]))
    field = model.record(0)["fields"][1]
    assert field["cut"] == 30_000
    assert len(field["text"]) == 20_000
    model.edit(key(0), {"question": "new", "answer": field["text"]})
    with pytest.raises(ConfigError, match="too long to be edited here") as caught:
        model.edit(key(0), {"answer": field["text"] + "more"})
    assert "sn.decide" in caught.value.hint
    assert (
        decide(frame(1, answer=[long]), key(0), "accept", folder=model.live.log.folder)[
            "answer"
        ][0]
        == long
    )


def test_annotations_are_kept_beside_the_decision(make):
    model = make()
    answer = model.annotate(key(2), tags=["geo graphy ", "a,b", "geo  graphy"], stars=3)
    assert "next" not in answer
    assert answer["row"]["stars"] == 3
    assert answer["row"]["decision"] is None
    model.annotate(key(2), note="check")
    card = model.record(2)
    assert (card["tags"], card["stars"], card["note"]) == (
        ["geo graphy", "a", "b"],
        3,
        "check",
    )
    assert card["decided"] is None
    model.annotate(key(2), stars=0, tags=[])
    card = model.record(2)
    assert (card["tags"], card["stars"], card["note"]) == ([], 0, "check")
    assert model.undo()["what"] == "note of “Question 2?”"
    assert model.record(2)["stars"] == 3


@pytest.mark.parametrize(
    "said", [{}, {"stars": 6}, {"stars": "3"}, {"note": 1}, {"tags": [1]}]
)
def test_wrong_annotations_are_refused(make, folder, said):
    with pytest.raises(ConfigError):
        make().annotate(key(0), **said)
    assert not folder.exists()


def test_undo_goes_back_to_the_first_step_across_views_and_sessions(make, folder):
    first = make()
    first.decide(key(0), "accept")
    first.edit(key(1), {"answer": "new"})
    second = make()
    second.bulk(4)
    third = make()
    answer = third.undo()
    assert answer == {
        "state": third.state(),
        "what": "accept of 3, reject of 1 rows",
        "i": 3,
        "id": key(3),
        "many": 4,
    }
    assert third.undo()["id"] == key(1)
    third.set_filter({"decision": "undecided"})
    answer = third.undo()
    assert (answer["id"], answer["i"]) == (key(0), None)  # its row is not in the view
    assert third.state()["undo"] is None
    with pytest.raises(ConfigError, match="no decision of ada is left"):
        third.undo()
    assert len(steps(folder)) == 6
    assert third.state()["counts"]["todo"] == 6


def test_undo_of_what_another_frame_of_the_run_holds_says_so(make):
    whole = make()
    whole.decide(key(5), "accept")
    part = make(frame().head(2))
    assert part.state()["undo"] == "accept of a row that is not in this frame"
    answer = part.undo()
    assert (answer["i"], answer["id"], answer["many"]) == (None, None, 1)


def test_accepting_and_rejecting_by_the_threshold_is_one_step_over_the_view(
    make, folder
):
    df = frame(8, rating=[1, 9, None, 8, 2, 7, 3, 10])
    model = make(df)
    model.decide(key(0), "accept")  # decided: stays as it is
    model.set_filter({"rating": [None, 9]})
    told = model.judge(7)
    assert (told["above"], told["below"]) == (3, 2)
    answer = model.bulk(7)
    assert (answer["many"], answer["accepted"], answer["rejected"]) == (5, 3, 2)
    assert answer["state"]["counts"] == {"accept": 4, "reject": 2, "todo": 2}
    assert len(steps(folder)) == 2
    with pytest.raises(ConfigError, match="no row of this view is rated and undecided"):
        model.bulk(7)
    assert model.undo()["many"] == 5
    assert model.state()["counts"]["todo"] == 7


def test_the_judge_is_compared_with_what_the_person_said(make):
    model = make(frame(10))
    for i, action in enumerate(["reject"] * 4 + ["accept", "reject"] + ["accept"] * 2):
        model.decide(key(i), action)
    model.edit(key(8), {"answer": "new"})
    told = model.judge(7)
    assert told["confusion"] == {"tp": 2, "fp": 0, "fn": 1, "tn": 5}
    assert told["agreement"] == pytest.approx(7 / 8)
    # by chance: (2 * 3 + 6 * 5) / 64 = 0.5625; (0.875 - 0.5625) / 0.4375
    assert told["kappa"] == pytest.approx(0.3125 / 0.4375)
    assert (told["precision"], told["recall"]) == (1.0, pytest.approx(2 / 3))
    assert (told["decided"], told["edited"], told["rated"], told["unrated"]) == (
        8,
        1,
        10,
        0,
    )
    # From 5 up: (7 / 8 - 0.5) / 0.5 = 0.75, which is better.
    assert told["best"] == 5
    assert told["bars"][6] == {"lo": 7, "hi": 7, "n": 1, "accepted": 1, "rejected": 0}
    assert make(frame(10)).open()["judge"]["threshold"] == 5
    assert (told["above"], told["below"]) == (1, 0)


@pytest.mark.parametrize("threshold", ["6", True, [6]])
def test_a_threshold_is_a_number(make, threshold):
    with pytest.raises(ConfigError, match="threshold is a number"):
        make().judge(threshold)


def test_without_ratings_there_is_nothing_to_compare(make):
    with pytest.raises(ConfigError, match="no row has a rating"):
        make(frame(rating=None)).judge()
    with pytest.raises(ConfigError, match="rated and undecided"):
        make(frame(rating=None)).bulk(5)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda m: m.decide("nobody", "accept"), FrameError),
        (lambda m: m.decide(None, "accept"), FrameError),
        (lambda m: m.decide(key(0), "edit"), ConfigError),
        (lambda m: m.decide(key(0), "accept", "3"), ConfigError),
        (lambda m: m.edit(key(0), {"rating": "3"}), ConfigError),
        (lambda m: m.edit(key(0), {"answer": 3}), ConfigError),
        (lambda m: m.record(99), ConfigError),
        (lambda m: m.record("1"), ConfigError),
        (lambda m: m.record(i=True), ConfigError),
        (lambda m: m.record(None), ConfigError),
        (lambda m: m.rows("0", 1), ConfigError),
        (lambda m: m.next(0.5), ConfigError),
    ],
)
def test_what_a_page_should_not_send_is_refused(make, call, error):
    with pytest.raises(error):
        call(make())
