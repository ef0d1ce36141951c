from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthnb.recipes.sentences import split_sentences


def texts(text: str) -> list[str]:
    return [sentence.text for sentence in split_sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One is here. Two is there.", ["One is here.", "Two is there."]),
        (
            "Dr. Smith met Mr. J. S. Bach. They ate.",
            ["Dr. Smith met Mr. J. S. Bach.", "They ate."],
        ),
        ("It costs 3.50 euros. Cheap!", ["It costs 3.50 euros.", "Cheap!"]),
        (
            "Use a tool, e.g. a saw. Then rest.",
            ["Use a tool, e.g. a saw.", "Then rest."],
        ),
        ("Nails, screws, etc. Then rest.", ["Nails, screws, etc.", "Then rest."]),
        ("The U.S. Army came. It left.", ["The U.S. Army came.", "It left."]),
        ('He said "Stop." She did.', ['He said "Stop."', "She did."]),
        ("Really?! Yes... maybe. No.", ["Really?!", "Yes... maybe.", "No."]),
        ("It is fast. vLLM is a server.", ["It is fast.", "vLLM is a server."]),
        (
            "这是第一句。这是第二句！第三句？",
            ["这是第一句。", "这是第二句！", "第三句？"],
        ),
        ("هل هذا سؤال؟ نعم هو.", ["هل هذا سؤال؟", "نعم هو."]),
        (
            "A sentence over\ntwo lines. Next one.",
            ["A sentence over\ntwo lines.", "Next one."],
        ),
        ("", []),
        (" \n\n ", []),
    ],
)
def test_splits(text, expected):
    assert texts(text) == expected


def test_kinds_of_blocks():
    text = (
        "# Bees in winter\n\nBees form a ball. They shiver.\n\n"
        "- They eat honey in winter.\n- They stay\n  in the hive.\n\n"
        "| month | kg |\n|---|---|\n| May | 3 |\n\n```python\nx = 1. + 2\n```\n"
    )
    found = [(s.kind, s.text) for s in split_sentences(text)]
    assert found == [
        ("heading", "Bees in winter"),
        ("prose", "Bees form a ball."),
        ("prose", "They shiver."),
        ("prose", "They eat honey in winter."),
        ("prose", "They stay\n  in the hive."),
        ("table", "| month | kg |"),
        ("table", "|---|---|"),
        ("table", "| May | 3 |"),
        ("code", "x = 1. + 2"),
    ]


def test_a_heading_right_above_its_paragraph_is_not_part_of_the_sentence():
    text = "Cleaning\nThe hive is cleaned in spring when the first warm days come. Then it dries."
    assert [s.kind for s in split_sentences(text)] == ["heading", "prose", "prose"]


def test_wrapped_lines_that_begin_with_a_capital_stay_together():
    text = "The longest river of the country is the\nDanube, which is known to all."
    assert texts(text) == [text]


@given(
    st.text(alphabet=st.sampled_from(list("ab. \n!?#-|。`\"1A'\t~>")), max_size=200)
    | st.text()
)
def test_spans_are_exact_in_order_and_do_not_overlap(text):
    end = 0
    for sentence in split_sentences(text):
        assert text[sentence.start : sentence.end] == sentence.text
        assert sentence.text == sentence.text.strip()
        assert sentence.text
        assert end <= sentence.start < sentence.end
        end = sentence.end


@given(
    st.lists(st.sampled_from(["Bees fly.", "Is it so?", "No, 3.5 kg!", "Dr. Who ate."]))
)
def test_no_word_of_prose_is_lost(sentences):
    text = " ".join(sentences)
    assert " ".join(texts(text)) == text
