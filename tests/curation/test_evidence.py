"""Evidence that was named wrongly is found; all other rows stay as they are."""

from __future__ import annotations

import pandas as pd
import pytest

from synthnb.curation import apply_checks, locate_evidence
from synthnb.errors import FrameError

TEXT = (
    "Honey bees live in colonies. The queen lays 2,000 eggs a day. The varroa mite is the "
    "most dangerous enemy of the bees."
)
MITE = TEXT[TEXT.index("The varroa") :]
ROW = {
    "record_id": "r",
    "status": "ok",
    "question": "What is the most dangerous enemy of the bees?",
    "answer": "The varroa mite",
    "evidence": "Honey bees live in colonies.",
    "evidence_start": 100,
    "evidence_end": 128,
    "grounded": True,
    "start": 100,
    "text": TEXT,
}


def located(**changes):
    return locate_evidence(pd.DataFrame([ROW | changes])).iloc[0]


def test_the_sentence_that_holds_the_answer_is_taken_with_its_place():
    row = located()
    assert row["evidence"] == MITE
    assert row["evidence_located"]
    span = slice(row["evidence_start"] - 100, row["evidence_end"] - 100)
    assert TEXT[span] == MITE
    assert apply_checks(pd.DataFrame([row]))["checks_ok"].all()


@pytest.mark.parametrize(
    "changes",
    [
        {"evidence": MITE},
        {"answer": "The invented hornet"},
        {"answer": "2,000 eggs"},  # stands in a sentence about something else
        {"status": "truncated"},
        {"answer": None},
        {"text": ""},
    ],
)
def test_rows_that_are_right_or_beyond_help_are_left_alone(changes):
    row = located(**changes)
    assert row["evidence"] == (ROW | changes)["evidence"]
    assert row["evidence_start"] == 100
    assert not row["evidence_located"]


def test_missing_evidence_is_filled_and_places_need_the_chunk_s_own():
    row = located(evidence=None, start=None)
    assert row["evidence"] == MITE
    assert pd.isna(row["evidence_start"])


def test_the_columns_are_needed_and_the_frame_is_left_alone():
    df = pd.DataFrame([ROW])
    with pytest.raises(FrameError, match="locate_evidence needs the column 'text'"):
        locate_evidence(df.drop(columns="text"))
    locate_evidence(df)
    assert df.loc[0, "evidence"] == ROW["evidence"]
    assert len(locate_evidence(df.head(0))) == 0


def test_a_column_start_that_is_no_place_gives_no_place():
    row = located(start="2020-01-01")
    assert row["evidence"] == MITE
    assert pd.isna(row["evidence_start"])
