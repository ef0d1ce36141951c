from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthnb.recipes.base import Parsed
from synthnb.recipes.parsing import as_text, excerpt, find_json, items, read_answer
from synthnb.records import Completion, Status

FIELDS = ("question", "answer")
PAIR = {"question": "q", "answer": "a"}


@pytest.mark.parametrize(
    "value",
    [
        [PAIR],
        PAIR,
        {"qa_pairs": [PAIR], "summary": "s"},
        {"data": [PAIR], "sources": [{"url": "x"}]},
        {"pair_1": PAIR},
        {"result": {"items": [PAIR]}},
        [{"Q": "q", "A": "a"}],
        [{" Question ": "q", "ANSWER:": "a", "other": 1}],
        [{"سؤال": "q", "جواب": "a"}],
        [{"Frage": "q", "Antwort": "a"}],
        [{"问题": "q", "答案": "a"}],
        {"answers": [{"question": "q", "answer": "a"}]},
        [1, PAIR, "x", None],
    ],
)
def test_shapes_and_aliases(value):
    assert items(value, FIELDS) == [PAIR]


def test_more_aliases_can_be_given():
    value = [{"Stichwort": "q", "Lösung": "a"}]
    assert items(value, FIELDS) == []
    found = items(value, FIELDS, {"question": ["stichwort"], "answer": ["lösung"]})
    assert found == [PAIR]


def test_a_fields_own_name_wins_over_an_alias():
    assert items([{"q": "x", "question": "q", "a": "a"}], FIELDS) == [PAIR]


@pytest.mark.parametrize(
    "value", [None, 3, "x", [], {}, [1, 2], {"a": {"b": 1}}, [[PAIR]]]
)
def test_without_a_wanted_object_there_are_no_items(value):
    found = items(value, ("question",))
    assert found == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a\nb", ("a\nb", False)),
        (["first", "second"], ("first", True)),
        (42, ("42", True)),
        (True, ("true", True)),
        ({"text": "x"}, ("x", True)),
        (None, ("", True)),
        ({}, ("", True)),
    ],
)
def test_as_text(value, expected):
    assert as_text(value) == expected


def test_the_two_sources_of_reasoning_are_joined():
    answer = read_answer(
        Completion("<think>b</think>{}", reasoning="a", finish_reason="stop")
    )
    assert (answer.reasoning, answer.text, answer.finished) == ("a\n\nb", "{}", True)


@pytest.mark.parametrize(
    ("text", "reason", "status", "word"),
    [
        ("", "stop", Status.NO_JSON, "empty"),
        ("I will not.", "stop", Status.NO_JSON, "I will not."),
        ("<think>still at", "length", Status.TRUNCATED, "max_tokens"),
        ('[{"question": "q"}]', "content_filter", Status.REFUSED, "filter"),
    ],
)
def test_failures_say_what_happened(text, reason, status, word):
    found = find_json(read_answer(Completion(text, finish_reason=reason)))
    assert isinstance(found, Parsed)
    assert found.status is status
    assert word in found.detail


def test_excerpt_is_one_short_line():
    assert excerpt("a\n b " * 100, 10) == "a b a b a…"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["q", "answer", "data", "x"]), inner, max_size=3
            )
        ),
    )
)
def test_any_json_value_gives_mappings_of_the_fields(value):
    for item in items(value, FIELDS):
        assert item
        assert set(item) <= set(FIELDS)
