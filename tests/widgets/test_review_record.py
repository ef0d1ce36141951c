"""One record: its texts, its source with the evidence marked, how it came to be."""

from __future__ import annotations

import pandas as pd
import pytest

from synthnb.widgets.review_model import ReviewModel
from synthnb.widgets.review_text import title_of

CHUNK = (
    "It rises in Germany. It flows about 2,850 kilometres. It ends in the Black Sea."
)
EVIDENCE = "It flows about 2,850 kilometres."


@pytest.fixture
def card(tmp_path):
    def card(i=0, **columns):
        n = max((len(v) for v in columns.values() if isinstance(v, list)), default=1)
        base = {"record_id": [f"r{k}" for k in range(n)], "question": "q"}
        df = pd.DataFrame({**base, **columns})
        return ReviewModel(df, folder=tmp_path / "run", by="ada").record(i)

    return card


def source(card, **columns):
    return card(text=CHUNK, source="a/handbook.pdf", page=3, **columns)["source"]


def test_the_evidence_is_marked_where_the_record_says_it_stands(card):
    # The same sentence twice: only the place tells which one is meant.
    twice = f"{EVIDENCE} Then again. {EVIDENCE}"
    at = twice.rindex(EVIDENCE)
    found = card(
        text=twice,
        source="a/handbook.pdf",
        page=3,
        start=1000,
        evidence=EVIDENCE,
        evidence_start=1000 + at,
        evidence_end=1000 + at + len(EVIDENCE),
    )["source"]
    assert found == {
        "label": "a/handbook.pdf, page 3",
        "before": twice[:at],
        "mark": EVIDENCE,
        "after": "",
        "exact": True,
    }


@pytest.mark.parametrize(
    "places",
    [
        {},
        {"start": 0, "evidence_start": 3, "evidence_end": 30},
        {"start": 0, "evidence_start": 9999, "evidence_end": 99999},
        {"start": 500, "evidence_start": 21, "evidence_end": 53},
        {"start": None, "evidence_start": None, "evidence_end": None},
        {"start": "monday", "evidence_start": 21, "evidence_end": 53},
    ],
)
def test_a_wrong_place_is_searched_for(card, places):
    found = source(card, evidence=EVIDENCE, **places)
    assert (found["mark"], found["exact"]) == (EVIDENCE, True)
    assert found["before"] + found["mark"] + found["after"] == CHUNK


def test_evidence_is_found_with_other_white_space_and_case(card):
    found = source(card, evidence="it flows  about\n2,850 KILOMETRES.")
    assert found["mark"] == EVIDENCE
    assert not found["exact"]


@pytest.mark.parametrize("evidence", [None, "", " ", "nowhere in it", "(.*)+$"])
def test_without_evidence_the_whole_chunk_is_shown(card, evidence):
    found = source(card, evidence=evidence)
    assert (found["mark"], found["exact"]) == ("", False)
    assert found["before"] + found["after"] == CHUNK


def test_evidence_without_a_chunk_is_shown_by_itself(card):
    found = card(evidence=EVIDENCE, page=2)["source"]
    assert found["label"] == "page 2"
    assert (found["before"], found["mark"], found["after"]) == ("", EVIDENCE, "")
    assert card(evidence=None)["source"] is None
    assert card(input_text=CHUNK)["source"]["before"] == CHUNK


def test_a_long_chunk_is_cut_around_the_evidence(card):
    long = "a" * 10_000 + EVIDENCE + "z" * 10_000
    found = card(text=long, evidence=EVIDENCE)["source"]
    assert found["mark"] == EVIDENCE
    assert len(found["before"]) == len(found["after"]) == 4000
    assert found["before"].startswith("…a")
    assert found["after"].endswith("z…")
    whole = card(text="w" * 9000)["source"]
    assert (len(whole["before"]), len(whole["after"])) == (4000, 4000)
    assert whole["after"].endswith("…")
    assert len(card(text=long, evidence=long)["source"]["mark"]) == 4000


def test_nested_values_are_shown_as_indented_json(card):
    told = card(messages=[[{"role": "user", "content": "hi \u00e9"}]])
    assert told["fields"][0]["name"] == "messages"
    assert told["fields"][0]["text"].splitlines()[2:4] == [
        '    "role": "user",',
        '    "content": "hi é"',
    ]
    assert told["row"]["title"] == "hi é"


def test_provenance_says_how_the_record_came_to_be(card):
    told = card(
        step="qa",
        model="m-1",
        attempts=2,
        repaired=True,
        adapted=None,
        prompt_tokens=120,
        status="truncated",
        detail="stopped at 256 tokens",
        rating=4,
        rating_reason="too short",
        checks_failed="short_answer",
        topic="rivers",
        text=CHUNK,
    )
    found = dict(told["provenance"])
    assert found["Recipe"] == "qa"
    assert found["Model"] == "m-1"
    assert found["Attempts"] == "2"
    assert found["JSON repaired"] == "true"
    assert found["Prompt tokens"] == "120"
    assert found["checks_failed"] == "short_answer"
    assert "Adapted" not in found
    assert CHUNK not in found.values()
    assert (told["status"], told["detail"]) == ("truncated", "stopped at 256 tokens")
    assert (told["rating"], told["reason"]) == (4, "too short")


def test_many_columns_are_counted_not_listed(card):
    found = card(**{f"checks_{i}": "x" for i in range(40)})["provenance"]
    assert found[-1] == ["More columns", "16 in the frame"]


def test_a_duplicate_names_what_it_repeats(card):
    pair = {"question": ["first", "second"]}
    assert card(1, duplicate_of=[None, "r0"], **pair)["duplicate"] == {
        "id": "r0",
        "i": 0,
        "title": "first",
    }
    assert card(0, duplicate_of=[None, "r0"], **pair)["duplicate"] is None
    told = card(1, duplicate_of=[None, "gone"], **pair)["duplicate"]
    assert (told["id"], told["i"]) == ("gone", None)
    assert "not in this frame" in told["title"]
    numbers = card(1, record_id=[1, 2], duplicate_of=[None, 1.0], **pair)["duplicate"]
    assert numbers["id"] == "1"


def test_a_record_is_named_by_whatever_text_it_has(card):
    assert (
        card(question=[" \n "], answer=["the\nanswer"])["row"]["title"] == "the answer"
    )
    assert card(question=[None], detail=["why not"])["row"]["title"] == "why not"
    assert card(question=[None])["row"]["title"] == "record r0"


@pytest.mark.parametrize(
    ("value", "title"),
    [
        ("a\r\n\tb", "a b"),
        ("x" * 200, "x" * 159 + "…"),
        ("y" * 160, "y" * 160),
        (["a"], '[ "a" ]'),
        ([{"from": "human", "value": "hi"}], "hi"),
        ([{"role": "system", "content": "s"}, {"role": "user", "content": "u"}], "u"),
        (
            [{"role": "user", "content": None}],
            '[ { "role": "user", "content": null } ]',
        ),
        ([], "[]"),
        (3.5, "3.5"),
        (None, ""),
    ],
)
def test_titles_are_one_short_line(value, title):
    assert title_of(value) == title
