from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthnb.recipes.answers import tasks
from synthnb.recipes.english import is_english
from synthnb.recipes.phrases import phrases


def best(sentence):
    task = tasks([sentence])[0]
    return task.openings, task.answers


@pytest.mark.parametrize(
    ("sentence", "opening", "answer"),
    [
        ("The canal was opened in 1992 after many years.", "When", "in 1992"),
        (
            "The press was built by Johannes Gutenberg in Mainz.",
            "Who",
            "Johannes Gutenberg",
        ),
        ("Andrei Broder described the method long ago.", "Who", "Andrei Broder"),
        (
            "Leaves look green because chlorophyll reflects green light.",
            "Why",
            "because chlorophyll reflects green light",
        ),
        (
            "A chain should be oiled about every 300 kilometres.",
            "How often",
            "about every 300 kilometres",
        ),
        (
            "An epoch is one pass over all training examples.",
            "What is",
            "one pass over all training examples",
        ),
        ("The heap should be turned with a fork.", "What", "with a fork"),
    ],
)
def test_the_best_question_about_a_sentence(sentence, opening, answer):
    openings, answers = best(sentence)
    assert opening in openings
    assert answer in answers


def test_the_subject_in_front_is_no_answer():
    assert all(
        "Lithium batteries" not in t.answers
        for t in tasks(["Lithium batteries age by heat in 3 years."])
    )


def test_a_sentence_without_a_phrase_may_be_asked_anything():
    (task,) = tasks(["Go!"])
    assert task.answers == ()
    assert "What" in task.openings


def test_clear_sentences_come_first_and_each_before_any_comes_twice():
    pointing = "It was opened in 1871 by the old king."
    clear = "The tunnel was opened in 1871 by Anna Miller."
    dull = "The tunnel leads from the valley to the town."
    order = [task.sentence for task in tasks([pointing, dull, clear])]
    assert order[0] == clear
    assert set(order[:3]) == {pointing, clear, dull}
    assert len(order) > 3


@given(
    st.text()
    | st.lists(
        st.sampled_from(
            [
                "The",
                "in",
                "1992",
                "by",
                "Anna",
                "and",
                "because",
                "is",
                "heat,",
                "3",
                "of",
            ]
        )
    ).map(" ".join)
)
def test_answers_stand_in_their_sentence(text):
    sentence = " ".join(text.split())
    for task in tasks([sentence] if sentence else []):
        assert all(answer in sentence for answer in task.answers)


@given(st.text())
def test_phrases_are_verbatim_and_unique(text):
    sentence = " ".join(text.split())
    found = phrases(sentence)
    assert all(phrase and phrase in sentence for phrase in found)
    assert len(set(found)) == len(found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The heart of an adult beats about 100,000 times a day.", True),
        ("Das Herz eines Erwachsenen schlägt etwa 100.000 Mal am Tag.", False),
        ("心脏每天跳动约十万次。", False),
        ("", False),
    ],
)
def test_english_is_recognised(text, expected):
    assert is_english(text) is expected
