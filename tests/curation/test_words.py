"""Words, numbers and languages, as the checks compare them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthnb.curation.words import (
    content_words,
    index,
    language,
    length,
    normalise,
    numbers,
    readings,
    sentence_spans,
    sentences,
    share,
    stem,
    words,
)


def test_normalised_text_has_no_case_width_or_punctuation():
    assert normalise("  What’s  the ＬＥＮＧＴＨ of it?! ") == "what's the length of it"
    assert normalise("!?.") == ""


def test_words_keep_hyphens_apostrophes_and_numbers_whole():
    assert words("The well-known bakers' 2,850 km, 19th, 3kg") == (
        *("the", "well-known", "bakers", "2,850", "km", "19", "th", "3", "kg"),
    )


def test_cjk_is_compared_by_pairs_of_characters():
    assert words("多瑙河") == ("多瑙", "瑙河")
    assert words("河") == ("河",)
    assert length("多瑙河有多长 km") == 4


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2,850", "2850", True),
        ("2.850", "2,850", True),
        ("40\u202f000", "40000", True),
        ("1'000'000", "1000000", True),
        ("1.50", "1,5", True),
        ("007", "7", True),
        ("٣", "3", True),
        ("1.5", "15", False),
        ("2850", "2851", False),
        ("1.234.567", "1234567", True),
    ],
)
def test_numbers_are_the_same_in_any_common_writing(one, other, same):
    assert bool(readings(one) & readings(other)) is same


def test_numbers_inside_words_are_no_numbers():
    assert numbers("m2, 5 m², H2O, -3.5 and 1,000.") == ["5", "3.5", "1,000"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("The river is long and it flows through ten of the countries.", "en"),
        ("Das Wasser wird nicht gechlort, weil es durch den Sand gefiltert ist.", "de"),
        ("Le pain est fait avec de la farine et de l'eau dans un four.", "fr"),
        ("El pan se hace con harina y agua en un horno que está caliente.", "es"),
        ("Река течёт через десять стран.", None),
        ("Danube", None),
        ("", None),
    ],
)
def test_the_language_is_guessed_from_function_words(text, code):
    assert language(text) == code


def test_content_words_leave_function_words_out_and_cut_elisions():
    assert content_words("What is the length of it?", "en") == ("length",)
    assert content_words("l'eau de la rivière", "fr") == ("eau", "rivière")
    assert content_words("the length", None) == ("the", "length")


def test_stems_join_the_forms_of_a_word():
    assert stem("rivers") == stem("river")
    assert stem("baked") == stem("bake") == stem("baking")
    assert stem("yes") == "yes"


def test_number_words_and_digits_are_found_for_one_another():
    assert share(("10",), index("ten countries")) == 1.0
    assert share(("ten", "cats"), index("10 dogs")) == 0.5
    assert share((), index("anything")) == 1.0


def test_sentences_end_at_marks_and_lines_not_in_numbers():
    text = 'It is 3.5 m, says Mr. X. "Is it?" A\nwrapped line!\n- item\n\nHeading'
    assert sentences(text) == [
        *("It is 3.5 m, says Mr. X.", '"Is it?"', "A\nwrapped line!", "- item"),
        "Heading",
    ]
    assert sentences("河很长。它流过。") == ["河很长。", "它流过。"]


@given(st.text(max_size=40))
def test_nothing_in_a_text_makes_them_fail(text):
    code = language(text)
    found = content_words(text, code)
    assert share(found, index(text, code)) == 1.0
    assert normalise(normalise(text)) == normalise(text)
    assert length(text) >= 0
    assert all(readings(number) for number in numbers(text))
    spans = sentence_spans(text)
    joined = "".join("".join(text[a:b].split()) for a, b in spans)
    assert joined == "".join(text.split())
