"""The decision log: replayed, undone, laid over the records."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthnb.curation import DecisionState, apply_decisions, replay
from synthnb.errors import FrameError
from synthnb.records import Decision

AT = "2026-11-30T10:00:00Z"


def log(*entries):
    return [
        Decision(record, action, "ada", AT, edited=more[0] if more else {})
        for record, action, *more in entries
    ]


def test_the_last_decision_stands_and_edits_add_up():
    states = replay(
        log(
            ("a", "accept"),
            ("a", "reject"),
            ("b", "edit", {"question": "Q2", "answer": "A2"}),
            ("b", "edit", {"answer": "A3"}),
        )
    )
    assert states == {
        "a": DecisionState("reject", "ada", AT),
        "b": DecisionState("accept", "ada", AT, {"question": "Q2", "answer": "A3"}),
    }


def test_undo_takes_back_one_decision_of_its_record_each_time():
    entries = [("a", "accept"), ("b", "reject"), ("a", "edit", {"x": 1}), ("a", "undo")]
    assert replay(log(*entries))["a"] == DecisionState("accept", "ada", AT)
    entries += [("a", "undo"), ("a", "undo")]
    assert list(replay(log(*entries))) == ["b"]
    entries += [("a", "reject")]
    assert replay(log(*entries))["a"].decision == "reject"


@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from(["accept", "reject", "edit"])),
        max_size=6,
    )
)
def test_as_many_undos_as_decisions_leave_nothing(entries):
    undos = [(record, "undo") for record, _ in reversed(entries)]
    for done in range(len(entries) + 1):
        left = entries[: len(entries) - done]
        assert replay(log(*entries, *undos[:done])) == replay(log(*left))


def frame():
    return pd.DataFrame(
        {
            "record_id": ["a", "b", "c"],
            "question": pd.array(["Qa", "Qb", None], dtype="string"),
            "page": pd.array([1, 2, None], dtype="Int64"),
        }
    )


def test_decisions_are_laid_over_the_records_and_the_originals_stay():
    before = frame()
    shown = apply_decisions(
        before,
        log(
            ("b", "edit", {"question": "better\nQ", "page": 7}),
            ("c", "reject"),
            ("z", "accept"),
        ),
    )
    assert shown["decision"].tolist() == [pd.NA, "accept", "reject"]
    assert shown["question"].tolist() == ["Qa", "better\nQ", pd.NA]
    assert shown["page"].tolist() == [1, 7, pd.NA]
    assert shown["edited"].tolist() == [pd.NA, "question, page", pd.NA]
    assert shown["decided_by"].tolist() == [pd.NA, "ada", "ada"]
    assert shown.loc[1, "decided_at"] == pd.Timestamp(AT)
    types = {name: str(shown[name].dtype) for name in shown.columns}
    assert types["decided_at"] == "datetime64[ns, UTC]"
    assert types["page"] == "Int64"
    pd.testing.assert_frame_equal(before, frame())


def test_an_empty_log_gives_the_columns_with_their_types():
    shown = apply_decisions(frame(), [])
    assert shown["decision"].isna().all()
    assert str(shown["decided_at"].dtype) == "datetime64[ns, UTC]"
    assert len(apply_decisions(frame().head(0), [])) == 0


def test_an_edit_of_a_field_that_is_not_there_is_refused():
    with pytest.raises(FrameError, match="'answers'"):
        apply_decisions(frame(), log(("a", "edit", {"answers": "x"})))
