from __future__ import annotations

import pytest

from synthnb.curation.kind_checks import kind_fits
from synthnb.curation.pairs import Pair

TEXT = "The river is long. It was described by a man who lived there."


def found(question, answer, evidence):
    return kind_fits(Pair(question, answer, evidence, TEXT))


@pytest.mark.parametrize(
    ("question", "answer", "evidence", "said"),
    [
        (
            "Who invented byte pair encoding?",
            "Rico Sennrich",
            "Rico Sennrich used byte pair encoding for translation in 2015.",
            "who invented it",
        ),
        (
            "What is the difference between a review and a critique?",
            "the person who decides",
            "The reviewer is the person who decides about each example.",
            "compares nothing",
        ),
        (
            "What is a file format?",
            "a file format that stores tables by column",
            "Parquet is a file format that stores tables by column.",
            "by itself",
        ),
        (
            "How many rows does the Alpaca format have?",
            "three fields",
            "The Alpaca format has three fields.",
            "how many rows",
        ),
        (
            "Who introduced OpenAI with ChatGPT?",
            "OpenAI with the ChatGPT API",
            "The format was introduced by OpenAI with the ChatGPT API.",
            "names it again",
        ),
    ],
)
def test_a_fact_of_another_kind_is_found(question, answer, evidence, said):
    assert said in (found(question, answer, evidence) or "")


@pytest.mark.parametrize(
    ("question", "answer", "evidence"),
    [
        ("Who invented dynamite?", "Alfred Nobel", "Dynamite was patented and invented by Alfred Nobel."),
        ("Who founded the bank?", "Ada Smith", "The bank was established by Ada Smith."),
        ("Who described LoRA?", "Edward Hu", "Edward Hu described LoRA in 2021."),
        (
            "What is the difference between rye and wheat?",
            "Rye holds more minerals",
            "Rye holds more minerals than wheat.",
        ),
        ("What is the Alpaca format?", "a format with three fields", "The Alpaca format has three fields."),
        ("How many fields are there?", "three", "The format has three fields."),
        ("How many kilometres long is it?", "2,850 km", "It is 2,850 km long."),
        ("Who invented it?", "Ada Smith", ""),
        ("Wer erfand das Dynamit?", "Alfred Nobel", "Alfred Nobel lebte in Schweden."),
    ],
)  # fmt: skip
def test_a_fact_that_was_asked_for_passes(question, answer, evidence):
    assert found(question, answer, evidence) is None
