import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthnb.documents import estimate_tokens


def test_empty_text_has_no_tokens():
    assert estimate_tokens("") == 0


@given(st.text(min_size=1))
def test_no_other_text_has_zero_tokens(text):
    assert 1 <= estimate_tokens(text) <= len(text)


@given(st.text(), st.text())
def test_a_longer_text_never_has_fewer_tokens(text, more):
    assert estimate_tokens(text) <= estimate_tokens(text + more)


# Counted by SmolLM2's own tokenizer (llama.cpp's /tokenize).
@pytest.mark.parametrize(
    ("text", "tokens", "low", "high"),
    [
        pytest.param(
            '[\n {\n  "a": 0,\n  "b": [\n   0.0,\n   "x_y"\n  ]\n }\n]',
            32,
            0.9,
            1.1,
            id="json",
        ),
        pytest.param(
            "合成数据是由程序而不是人制作的数据。", 23, 0.5, 1.5, id="chinese"
        ),
        pytest.param(
            "Качество данных зависит от выбора источников и проверки.",
            40,
            0.5,
            1.5,
            id="russian",
        ),
    ],
)
def test_the_estimate_is_near_a_real_count(text, tokens, low, high):
    assert low * tokens <= estimate_tokens(text) <= high * tokens


def test_english_words_are_about_a_token_each():
    text = "A chunk is a piece of text that fits into one prompt. " * 20
    assert estimate_tokens(text) == 20 * 13


def test_digits_count_one_by_one():
    assert estimate_tokens("2026") == 4


def test_indentation_counts_once_a_line():
    assert estimate_tokens("if x:\n        y") == estimate_tokens("if x:\n y")
