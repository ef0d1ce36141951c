"""What is kept, and that the counts of what is dropped add up."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthnb.curation import counts, deduplicate, dropped_report, keep
from synthnb.curation.ratings import join_ratings, rows_to_rate
from synthnb.errors import FrameError


def frame(**columns):
    made = pd.DataFrame(columns)
    made.insert(0, "record_id", [f"r{i}" for i in range(len(made))])
    return made


def test_each_filter_drops_and_counts_and_a_row_counts_once():
    df = frame(
        status=["ok", "schema", "ok", "ok", "ok", "ok", "truncated"],
        checks_ok=pd.array(
            [True, None, False, True, True, True, None], dtype="boolean"
        ),
        checks_failed=["", None, "length, repetition", "", "", "", None],
        rating=[9.0, None, 1.0, None, 4.0, 8.0, None],
        duplicate_of=[None, None, None, None, None, "r0", None],
    )
    kept = keep(df, min_rating=7)
    assert kept["record_id"].tolist() == ["r0"]
    assert list(kept.index) == [0]
    assert kept.attrs == {
        "dropped": {
            "status schema": 1,
            "status truncated": 1,
            "check length": 1,
            "no rating": 1,
            "rating below 7": 1,
            "duplicate": 1,
        },
        "kept": 1,
        "of": 7,
        "not_applied": [],
    }
    assert list(kept.attrs["dropped"])[-1] == "duplicate"
    report = dropped_report(kept)
    assert report.startswith("kept 1 of 7\n")
    assert "rating below 7" in report


def test_filters_without_their_column_are_named():
    kept = keep(frame(question=["a"]))
    assert kept.attrs["not_applied"] == ["status", "checks", "duplicates"]
    assert "not applied: status, checks, duplicates" in dropped_report(kept)
    assert len(kept) == 1


def test_filters_can_be_left_out():
    df = frame(
        status=["ok", "schema"],
        checks_ok=pd.array([False, None], dtype="boolean"),
        duplicate_of=[None, "r0"],
    )
    assert len(keep(df, status=None, checks=False, duplicates=True)) == 2
    assert keep(df, status=None).attrs["dropped"] == {
        "check failed": 1,
        "check not run": 1,
    }


def test_a_person_s_decision_can_be_asked_for():
    df = frame(decision=["accept", "reject", None])
    kept = keep(df, decision="accept")
    assert kept["record_id"].tolist() == ["r0"]
    assert kept.attrs["dropped"] == {"no decision": 1, "decision reject": 1}


def test_one_row_of_a_group_stays_where_its_first_was_dropped():
    df = deduplicate(frame(question=["Same?", "same", "SAME!", "Other?"]))
    df["rating"] = [1.0, 8.0, 9.0, 8.0]
    kept = keep(df, min_rating=5)
    assert kept["record_id"].tolist() == ["r1", "r3"]
    assert kept.attrs["dropped"] == {"rating below 5": 1, "duplicate": 1}


def test_asking_for_what_is_not_there_is_refused():
    with pytest.raises(FrameError, match=r"keep\(min_rating=...\) needs .*'rating'"):
        keep(frame(question=["a"]), min_rating=5)
    with pytest.raises(FrameError, match="'decision'"):
        keep(frame(question=["a"]), decision="accept")
    with pytest.raises(FrameError, match="dropped_report"):
        dropped_report(frame(question=["a"]))


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["ok", "schema", None]),
            st.sampled_from([True, False, None]),
            st.sampled_from([None, 1.0, 9.0]),
            st.sampled_from([None, "r0", "r1", "gone"]),
            st.sampled_from([None, "accept", "reject"]),
        ),
        max_size=8,
    ),
    st.sampled_from([None, 5]),
    st.sampled_from([None, "accept"]),
)
def test_kept_and_dropped_always_add_up(rows, min_rating, decision):
    names = ["status", "checks_ok", "rating", "duplicate_of", "decision"]
    df = frame(**{n: [row[i] for row in rows] for i, n in enumerate(names)})
    kept = keep(df, min_rating=min_rating, decision=decision)
    assert (
        kept.attrs["of"] == len(rows) == len(kept) + sum(kept.attrs["dropped"].values())
    )
    assert kept.attrs["kept"] == len(kept)
    assert kept.columns.tolist() == df.columns.tolist()


def test_counts_say_how_many_there_are_of_each_and_survive_json():
    df = frame(
        status=["ok", "ok", "schema"],
        rating=pd.array([9, 9.5, None], dtype="Float64"),
        checks_ok=pd.array([True, False, None], dtype="boolean"),
        checks_failed=pd.array(["", "length, repetition", None], dtype="string"),
        duplicate_of=[None, "r0", None],
        decision=["accept", None, None],
    )
    found = counts(df)
    assert json.loads(json.dumps(found)) == {
        "rows": 3,
        "by_status": {"ok": 2, "schema": 1},
        "by_rating": {"9": 1, "9.5": 1, "": 1},
        "by_decision": {"": 2, "accept": 1},
        "checked": 2,
        "passed": 1,
        "by_check": {"length": 1, "repetition": 1},
        "duplicates": 1,
    }
    assert counts(pd.DataFrame()) == {"rows": 0}


def test_ratings_that_are_text_are_numbers_or_a_clear_error():
    df = pd.DataFrame({"question": ["a", "b"], "rating": ["8", "2"]})
    assert keep(df, min_rating=5)["question"].tolist() == ["a"]
    with pytest.raises(FrameError, match="'x' is no number"):
        keep(df.assign(rating="x"), min_rating=5)


def test_ratings_are_joined_by_id_in_a_filtered_frame():
    df = pd.DataFrame({"record_id": ["a", "b", "c"], "question": "q"}).iloc[[2, 0]]
    ratings = pd.DataFrame(
        {"row_id": ["a", "c", "c"], "status": "ok", "rating": [1.0, 3.0, 9.0]}
    )
    joined = join_ratings(df, ratings, ["rating"], {})
    assert joined["rating"].tolist() == [3.0, 1.0]


def test_records_that_share_an_id_are_not_rated_as_one():
    df = pd.DataFrame({"record_id": ["a", "a"], "question": ["q1", "q2"]})
    with pytest.raises(FrameError, match="record_id 'a'"):
        rows_to_rate(df, ["question"])
    assert len(rows_to_rate(df.assign(question="q"), ["question"])) == 2


@pytest.mark.parametrize("ids", [[10, 11, 12], [1.0, 2.0, 2.5], ["a", "b", "c"]])
def test_ids_may_be_numbers(ids):
    df = pd.DataFrame(
        {"record_id": ids, "question": ["Who is Bob?", "Who is Bob?", "x"]}
    )
    assert keep(deduplicate(df))["record_id"].tolist() == [ids[0], ids[2]]
    ratings = pd.DataFrame(
        {"row_id": list(map(str, ids)), "status": "ok", "rating": 5.0}
    )
    assert join_ratings(df, ratings, ["rating"], {})["rating"].tolist() == [5.0] * 3


def test_ids_go_to_the_judge_as_text():
    df = pd.DataFrame({"record_id": [0, 1], "question": "q"})
    assert [row["record_id"] for row in rows_to_rate(df, [])] == ["0", "1"]
