"""The decision log: replayed, undone, laid over the records."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthnb.curation import DecisionBook, DecisionState, apply_decisions, replay
from synthnb.curation.decided_frame import (
    decisions_frame,
    strange_decisions,
    strange_texts,
)
from synthnb.errors import FrameError
from synthnb.records import Decision, Step

AT = "2026-11-30T10:00:00Z"


def log(*entries):
    """Make steps of ``(record, action, values…)``, ``("undo", number)`` or lists."""
    steps = []
    for number, entry in enumerate(entries, start=1):
        listed = entry if isinstance(entry, list) else [entry]
        if listed[0][0] == "undo":
            steps.append(Step(number, "ada", AT, (), listed[0][1]))
        else:
            told = tuple(Decision(*one) for one in listed)
            steps.append(Step(number, "ada", AT, told))
    return steps


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


def test_an_undo_takes_back_the_whole_step_that_it_names():
    entries = [
        ("a", "accept"),
        [("a", "reject"), ("b", "reject"), ("c", "accept")],
        ("b", "edit", {"x": 1}),
        ("undo", 2),
    ]
    assert replay(log(*entries)) == {
        "a": DecisionState("accept", "ada", AT),
        "b": DecisionState("accept", "ada", AT, {"x": 1}),
    }
    entries += [("undo", 2), ("undo", 99), ("undo", 4)]  # nothing more to take back
    assert list(replay(log(*entries))) == ["a", "b"]
    assert replay(log(*entries, ("undo", 1), ("undo", 3))) == {}


def test_tags_stars_and_notes_are_replaced_and_taken_away():
    def state(*entries):
        return replay(log(*entries)).get("a")

    steps = [
        [Decision("a", "annotate", tags=("x", "y"), stars=4, note="n")],
        [Decision("a", "accept", tags=("z",))],
        [Decision("a", "annotate", stars=0, note="")],
    ]
    assert state(steps[0]) == DecisionState(tags=("x", "y"), stars=4, note="n")
    assert state(*steps[:2]) == DecisionState("accept", "ada", AT, {}, ("z",), 4, "n")
    assert state(*steps) == DecisionState("accept", "ada", AT, {}, ("z",))
    assert state(*steps, ("undo", 3), ("undo", 2)) == state(steps[0])


def of_two(*more):
    return [
        Step(1, "ada", AT, (Decision("a", "accept"),)),
        Step(2, "bob", AT, (Decision("a", "reject"),)),
        *more,
    ]


def test_of_two_people_the_later_word_wins():
    assert replay(of_two())["a"].decided_by == "bob"


def test_taking_ones_own_word_back_leaves_the_others():
    undone = of_two(Step(3, "bob", AT, (), 2))
    assert replay(undone)["a"] == DecisionState("accept", "ada", AT)
    undone = of_two(Step(3, "ada", AT, (), 1))
    assert replay(undone)["a"] == DecisionState("reject", "bob", AT)


def test_each_person_has_their_own_last_step():
    book = DecisionBook(of_two())
    assert book.last_standing("ada").number == 1
    assert book.last_standing("bob").number == 2
    assert book.last_standing("eve") is None
    book.feed([Step(3, "bob", AT, (), 2)])
    assert book.last_standing("bob") is None


actions = st.tuples(
    st.sampled_from("ab"), st.sampled_from(["accept", "reject", "edit"])
)


def steps_of(script):
    """Make a log of a script in which ``None`` is an undo of the last standing step."""
    book, steps = DecisionBook(), []
    for number, entry in enumerate(script, start=1):
        last = book.last_standing("ada")
        if entry is None and last is None:
            step = Step(number, "ada", AT, (), 0)
        elif entry is None:
            step = Step(number, "ada", AT, (), last.number)
        else:
            record, action = entry
            edited = {"x": number} if action == "edit" else None
            step = Step(number, "ada", AT, (Decision(record, action, edited),))
        book.feed([step])
        steps.append(step)
    return steps, book


@settings(deadline=None)
@given(st.lists(st.one_of(st.none(), actions), max_size=12))
def test_a_book_fed_bit_by_bit_says_what_a_replay_of_what_stands_says(script):
    steps, book = steps_of(script)
    kept = []
    for step in steps:
        if step.undoes is None:
            kept.append(step)
        elif kept:
            kept.pop()
    expected = replay(kept)
    assert replay(steps) == expected
    assert {key: book.state(key) for key in "ab" if book.state(key)} == expected
    assert [step for step in steps if book.is_standing(step)] == kept


@settings(deadline=None)
@given(st.lists(actions, max_size=6))
def test_as_many_undos_as_decisions_leave_nothing(script):
    for done in range(len(script) + 1):
        left, _ = steps_of(script[: len(script) - done])
        assert replay(steps_of([*script, *[None] * done])[0]) == replay(left)


def test_feeding_says_which_records_changed():
    book = DecisionBook(log(("a", "accept"), [("b", "accept"), ("c", "reject")]))
    assert book.feed([Step(3, "ada", AT, (Decision("z", "accept"),))]) == {"z"}
    assert book.feed([Step(4, "ada", AT, (), 2)]) == {"b", "c"}
    assert book.feed([Step(5, "ada", AT, (), 2)]) == set()
    assert book.last == 5


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
            [Decision("c", "reject", tags=("x", "y"), stars=2, note="bad")],
            ("z", "accept"),
        ),
    )
    assert shown["decision"].tolist() == [pd.NA, "accept", "reject"]
    assert shown["question"].tolist() == ["Qa", "better\nQ", pd.NA]
    assert shown["page"].tolist() == [1, 7, pd.NA]
    assert shown["edited"].tolist() == [pd.NA, "question, page", pd.NA]
    assert shown["decided_by"].tolist() == [pd.NA, "ada", "ada"]
    assert shown["decision_tags"].tolist() == [pd.NA, pd.NA, "x, y"]
    assert shown["decision_stars"].tolist() == [pd.NA, pd.NA, 2]
    assert shown["decision_note"].tolist() == [pd.NA, pd.NA, "bad"]
    assert shown.loc[1, "decided_at"] == pd.Timestamp(AT)
    types = {name: str(shown[name].dtype) for name in shown.columns}
    assert types["decided_at"] == "datetime64[ns, UTC]"
    assert types["page"] == types["decision_stars"] == "Int64"
    pd.testing.assert_frame_equal(before, frame())


def test_an_empty_log_gives_the_columns_with_their_types():
    shown = apply_decisions(frame(), [])
    assert shown["decision"].isna().all()
    assert str(shown["decided_at"].dtype) == "datetime64[ns, UTC]"
    assert len(apply_decisions(frame().head(0), [])) == 0


def test_an_edit_of_a_field_that_is_not_there_is_refused():
    with pytest.raises(FrameError, match="'answers'"):
        apply_decisions(frame(), log(("a", "edit", {"answers": "x"})))
    part = frame()[1:]  # which has nothing to do with that edit
    assert len(apply_decisions(part, log(("a", "edit", {"answers": "x"})))) == 2


def test_an_undone_edit_is_taken_out_of_a_frame_that_showed_it():
    edits = [
        ("a", "edit", {"question": "Q1"}, {"question": "Qa"}),
        ("a", "edit", {"question": "Q2"}, {"question": "Q1"}),
    ]
    once = apply_decisions(frame(), log(*edits))
    assert once["question"][0] == "Q2"
    back = apply_decisions(once, log(*edits, ("undo", 2)))
    assert back["question"][0] == "Q1"
    assert back["edited"][0] == "question"
    back = apply_decisions(once, log(*edits, ("undo", 2), ("undo", 1)))
    assert back["question"][0] == "Qa"
    assert back["edited"].isna().all()


def test_what_the_owner_of_the_frame_changed_is_not_taken_out():
    edits = log(("a", "edit", {"question": "Q1"}, {"question": "Qa"}), ("undo", 1))
    mine = frame()
    mine.loc[0, "question"] = "my own"
    assert apply_decisions(mine, edits)["question"][0] == "my own"


def test_an_edit_back_to_the_original_is_no_edit():
    edits = [
        ("a", "edit", {"question": "Q1"}, {"question": "Qa"}),
        ("a", "edit", {"question": "Qa"}, {"question": "Q1"}),
    ]
    for df in (frame(), apply_decisions(frame(), log(*edits[:1]))):
        shown = apply_decisions(df, log(*edits))
        assert shown["question"][0] == "Qa"
        assert shown["edited"].isna().all()
        assert shown["decision"][0] == "accept"


def test_columns_of_the_frames_own_make_room_and_lose_nothing():
    mine = frame().assign(tags=["mine", "", "own"], decision=[1, 2, 3], edited="no")
    once = apply_decisions(mine, log(("a", "accept")))
    assert once["input_decision"].tolist() == [1, 2, 3]
    assert once["input_edited"].tolist() == ["no"] * 3
    assert once["tags"].tolist() == ["mine", "", "own"]
    assert once["decision"].tolist() == ["accept", pd.NA, pd.NA]
    tagged = Decision("a", "accept", tags=("x",))
    again = apply_decisions(once, log([tagged]))
    assert again["decision_tags"].tolist() == ["x", pd.NA, pd.NA]
    assert again["tags"].tolist() == ["mine", "", "own"]
    assert list(again.columns) == list(once.columns)


@pytest.mark.parametrize(
    ("column", "value", "dtype"),
    [
        (pd.array([1.5, 2.5, None], dtype="Float64"), 9.0, "Float64"),
        ([1, 2, 3], 7, "int64"),
        ([[1], [2], [3]], [9, {"x": 1}], "object"),
        (pd.Categorical(["x", "y", "x"]), "z", None),
        ([True, False, True], None, "boolean"),
        (["a", "b", "c"], "\ud800", None),
    ],
)
def test_an_edited_column_keeps_its_type_where_the_value_fits(column, value, dtype):
    df = frame().assign(field=column)
    shown = apply_decisions(df, log(("b", "edit", {"field": value}, {"field": "?"})))
    found = shown["field"].tolist()
    assert found[0] == df["field"].tolist()[0]
    assert found[1] == value or (value is None and found[1] is pd.NA)
    assert dtype is None or str(shown["field"].dtype) == dtype


@pytest.mark.parametrize(
    ("ids", "wanted"),
    [
        ([1, 2, 3], "2"),
        ([1.0, 2.0, 3.0], "2"),
        (pd.array([1, 2, 3], dtype="Int64"), "2"),
        (["1", "2", "3"], "2"),
    ],
)
def test_an_id_is_the_same_as_number_and_as_text(ids, wanted):
    shown = apply_decisions(frame().assign(record_id=ids), log((wanted, "reject")))
    assert shown["decision"].tolist() == [pd.NA, "reject", pd.NA]


@pytest.mark.parametrize("ids", [["a", "a", "b"], ["a", None, "b"], ["a", "", "b"]])
def test_rows_that_cannot_be_told_apart_are_refused(ids):
    with pytest.raises(FrameError, match="could not tell them apart") as caught:
        apply_decisions(frame().assign(record_id=ids), [])
    assert "df['record_id']" in caught.value.hint


def test_the_log_as_a_frame_says_who_when_and_what():
    book = DecisionBook(
        log(
            [("a", "accept"), ("b", "reject")],
            ("a", "edit", {"question": "Q1"}, {"question": "Qa"}),
            ("undo", 2),
            ("undo", 1),
        )
    )
    df = decisions_frame(book)
    assert df["step"].tolist() == [1, 1, 2, 3, 4]
    assert df["action"].tolist() == ["accept", "reject", "edit", "undo", "undo"]
    assert df["record_id"].tolist() == ["a", "b", "a", "a", pd.NA]
    assert not df["standing"].any()
    assert json.loads(df["what"][2]) == {
        "edited": {"question": "Q1"},
        "was": {"question": "Qa"},
    }
    assert json.loads(df["what"][3]) == {"undoes": 2}
    assert df["at"][0] == pd.Timestamp(AT)
    empty = decisions_frame(DecisionBook())
    assert list(empty.columns) == list(df.columns)
    assert (empty.dtypes == df.dtypes).all()


def test_decisions_of_another_log_are_counted():
    shown = apply_decisions(frame(), log(("a", "accept"), ("b", "reject")))
    assert strange_decisions(shown, DecisionBook()) == 2
    assert strange_decisions(shown, DecisionBook(log(("a", "reject")))) == 1
    undone = DecisionBook(log(("a", "accept"), ("b", "reject"), ("undo", 1)))
    assert strange_decisions(shown, undone) == 0
    assert strange_decisions(frame(), DecisionBook()) == 0


def test_edits_of_another_text_are_counted_while_they_stand():
    edits = [
        ("a", "edit", {"question": "Q1"}, {"question": "Qa"}),
        ("a", "edit", {"question": "Q2"}, {"question": "Q1"}),
    ]
    book = DecisionBook(log(*edits))
    for known in ("Qa", "Q1", "Q2"):
        df = frame()
        df.loc[df["record_id"] == "a", "question"] = known
        assert strange_texts(df, book) == 0
    df.loc[df["record_id"] == "a", "question"] = "of other prompts"
    assert strange_texts(df, book) == 1
    assert strange_texts(df[df["record_id"] != "a"], book) == 0
    assert strange_texts(df, DecisionBook(log(*edits, ("undo", 2), ("undo", 1)))) == 0
