from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthnb.recipes.evidence import MAX_SENTENCE_CHARS, candidates, locate, normal

TEXT = "The Danube is “long”.\nIt flows\nto the Black Sea. Größe zählt. 多瑙河很长。"


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("It flows\nto the Black Sea.", "It flows\nto the Black Sea."),
        ("it flows to the black sea", "It flows\nto the Black Sea"),
        ('The Danube is "long"', "The Danube is “long”"),
        ('The Danube is "long".', "The Danube is “long”."),
        ("It flows to the Black Sea.", "It flows\nto the Black Sea."),
        ("GRÖSSE zählt", "Größe zählt"),
        ("多瑙河很长", "多瑙河很长"),
        ("  Black Sea ", "Black Sea"),
    ],
)
def test_a_quotation_is_located(quote, found):
    span = locate(quote, TEXT)
    assert span is not None
    assert TEXT[slice(*span)] == found


@pytest.mark.parametrize("quote", ["", "…", "The Rhine is long.", "anub is", "it", "1"])
def test_what_is_not_there_is_not_located(quote):
    assert locate(quote, TEXT) is None


@given(st.text(), st.integers(0, 40), st.integers(0, 40))
def test_every_long_quotation_that_stands_there_is_located(text, start, size):
    quote = text[start : start + size].strip()
    span = locate(quote, text)
    if len(quote) >= 3:
        assert span is not None
    if span is not None:
        assert normal(text[slice(*span)]) == normal(quote)


def test_candidates_leave_out_headings_tables_code_and_fragments():
    text = (
        "# The river Danube in Europe\n\nThe Danube is a very long river. Yes.\n\n"
        "| a | b | c | d | e | f |\n\n```\nfor all of the x in y\n```\n"
        + "long " * (MAX_SENTENCE_CHARS // 4)
        + "."
    )
    assert [s.text for s in candidates(text)] == ["The Danube is a very long river."]


def test_candidates_are_spread_when_there_are_too_many():
    text = " ".join(f"This is the sentence number {n}." for n in range(100))
    numbers = [int(s.text.split()[-1][:-1]) for s in candidates(text, 10)]
    assert numbers == list(range(0, 100, 10))


def test_a_text_of_fragments_gives_what_it_has():
    assert [s.text for s in candidates("Salt. Water. Flour.")] == [
        "Salt.",
        "Water.",
        "Flour.",
    ]
