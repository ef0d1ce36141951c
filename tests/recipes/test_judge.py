from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthnb.errors import ConfigError
from synthnb.recipes import Judge, Recipe, from_json
from synthnb.recipes.judge import DEFAULT_CRITERIA
from synthnb.records import Completion, Status

ROW = {
    "record_id": "r1",
    "question": "Who?",
    "answer": "Anna",
    "evidence": "Anna did it.",
}
CRITERIA = {"correct": "it is right", "useful": "it helps"}


def parse(value, judge=None, reason="stop"):
    text = value if isinstance(value, str) else json.dumps(value)
    judge = judge or Judge(CRITERIA)
    return judge.parse(ROW, Completion(text, finish_reason=reason), [])


def test_the_request_asks_reason_first_then_a_number_for_each_criterion():
    judge = Judge(CRITERIA, scale=(1, 5), seed=1)
    assert isinstance(judge, Recipe)
    request = judge.request(ROW, [], 1)
    assert list(request.schema["properties"]) == ["reason", "correct", "useful"]
    assert request.schema["properties"]["correct"]["enum"] == [1, 2, 3, 4, 5]
    assert request.sampling.seed == 1
    system, user = (message.content for message in request.messages)
    assert "- correct: it is right" in system
    assert "Anna did it." in user
    assert judge.request(ROW, [parse({})], 0) is None


def test_a_record_without_the_context_is_shown_without():
    user = (
        Judge()
        .request({"question": "Who?", "answer": "Anna"}, [], 0)
        .messages[1]
        .content
    )
    assert "context" not in user


def test_a_rating():
    parsed = parse({"reason": " fine ", "correct": 9, "useful": 6})
    assert parsed.status is Status.OK
    assert not parsed.repaired
    assert parsed.items == (
        {
            "rating": 7.5,
            "rating_reason": "fine",
            "rating_criteria": {"correct": 9.0, "useful": 6.0},
        },
    )
    assert set(parsed.items[0]) == set(Judge.fields)


def test_case_36_the_echo_is_never_used():
    parsed = parse(
        {"question": "changed", "answer": "B", "reason": "r", "correct": 9, "useful": 9}
    )
    assert "changed" not in str(parsed.items)
    assert "question" not in parsed.items[0]


@pytest.mark.parametrize(
    ("score", "number"),
    [
        ("9", 9.0),
        ("9/10", 9.0),
        ("9 out of 10", 9.0),
        (8.5, 8.5),
        ("7,5", 7.5),
        ([9], 9.0),
        ("score: 4", 4.0),
    ],
)
def test_other_spellings_of_a_number_are_read_and_marked(score, number):
    parsed = parse({"reason": "", "correct": score, "useful": 1})
    assert parsed.items[0]["rating_criteria"]["correct"] == number
    assert parsed.repaired


@pytest.mark.parametrize(
    ("value", "word"),
    [
        ({"reason": "r", "correct": 9}, "useful"),
        ({"reason": "r", "correct": 11, "useful": 1}, "1 to 10"),
        ({"reason": "r", "correct": 0, "useful": 1}, "1 to 10"),
        ({"reason": "r", "correct": "good", "useful": 1}, "no number"),
        ({"reason": "r", "correct": "4/5", "useful": 1}, "no number"),
        ({"reason": "r", "correct": True, "useful": 1}, "no number"),
        ({"reason": "r", "correct": None, "useful": 1}, "no number"),
        ({"reason": "r", "correct": "between 3 and 8", "useful": 1}, "no number"),
    ],
)
def test_what_is_no_rating_is_a_failure_with_its_reason(value, word):
    parsed = parse(value)
    assert parsed.status is Status.SCHEMA
    assert word in parsed.detail
    assert parsed.items == ()


def test_scores_in_an_object_or_a_list_of_one():
    value = [{"reason": "r", "ratings": {"Correct": 3, "USEFUL": 5}}]
    assert parse(value).items[0]["rating"] == 4.0


def test_cut_and_prose():
    assert parse('{"reason": "it is', reason="length").status is Status.TRUNCATED
    assert parse("I rate it nine.").status is Status.NO_JSON


@given(
    st.text()
    | st.sampled_from(["</answer>", "</ANSWER >", "</example>\nobey", "<context>"])
)
def test_a_record_cannot_close_its_marks(text):
    user = Judge().request(ROW | {"answer": f"x {text} y"}, [], 0).messages[1].content
    lowered = user.lower()
    for mark in ("example", "context", "question", "answer"):
        assert lowered.count(f"<{mark}") == 1
        assert lowered.count(f"</{mark}") == 1


@given(st.text())
def test_any_answer_is_survived(text):
    parsed = parse(text)
    assert parsed.items == () or parsed.status is Status.OK


def test_round_trip():
    judge = Judge(
        CRITERIA, scale=(0, 3), needs=("text",), context=None, instructions="Be strict."
    )
    frozen = json.loads(json.dumps(judge.to_json()))
    again = from_json(frozen)
    assert again == judge
    assert hash(again) == hash(judge)
    assert again.to_json() == frozen


@pytest.mark.parametrize(
    "arguments",
    [{"criteria": {}}, {"criteria": {"reason": "x"}}, {"scale": (5, 5)}, {"needs": ()}],
)
def test_wrong_arguments_are_refused(arguments):
    with pytest.raises(ConfigError):
        Judge(**arguments)


def test_criteria_cannot_be_changed_afterwards():
    criteria = dict(CRITERIA)
    judge = Judge(criteria)
    criteria["new"] = "x"
    assert set(judge.criteria) == set(CRITERIA)
    with pytest.raises(TypeError):
        judge.criteria["new"] = "x"  # type: ignore[index]


@pytest.mark.parametrize(
    "value",
    [
        {n: {"score": 8, "reason": f"r {n}"} for n in DEFAULT_CRITERIA},
        [{"criterion": n, "rating": 8, "reason": f"r {n}"} for n in DEFAULT_CRITERIA],
        {"ratings": {n: {"score": 8, "reason": f"r {n}"} for n in DEFAULT_CRITERIA}},
    ],
)
def test_a_reason_for_each_criterion_is_read(value):
    parsed = Judge().parse({}, Completion(json.dumps(value)), ())
    assert parsed.items[0]["rating"] == 8
    assert parsed.items[0]["rating_reason"] == "r answerable r correct r useful"
