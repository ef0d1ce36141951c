"""Which columns are reviewed."""

from __future__ import annotations

import pandas as pd
import pytest

from synthnb.curation import keep
from synthnb.errors import FrameError
from synthnb.frames import records_frame
from synthnb.reviewing.fields import field_columns


def frame(*columns):
    return pd.DataFrame({name: ["x"] for name in columns})


def test_a_runs_fields_are_told_from_its_inputs_by_their_place():
    df = records_frame(
        [{"record_id": "a", "step": "p", "status": "ok", "joke": "j", "answer": "a"}],
        fields=["joke", "answer"],
        inputs=["topic", "text", "tokens"],
    )
    df = df.assign(checks_ok=True, rating=3.0, rating_criteria="x")
    assert field_columns(df) == ["answer", "joke"]


def test_what_the_run_names_counts_and_goes_through_keep():
    df = frame("record_id", "topic", "answer", "status")
    df.attrs["fields"] = ["topic", "gone"]
    assert field_columns(df) == ["topic"]
    assert field_columns(keep(df, status=None)) == ["topic"]


@pytest.mark.parametrize(
    ("columns", "fields"),
    [
        (["answer", "question", "topic"], ["question", "answer", "topic"]),
        (["output", "instruction", "text"], ["instruction", "output"]),
        (["completion", "prompt"], ["prompt", "completion"]),
        (["x", "messages", "tokens", "input_x", "checks_ok"], ["messages", "x"]),
        (["record_id", "text", "tokens"], ["text"]),
        (["record_id", "page"], ["page"]),
        (["record_id"], []),
    ],
)
def test_of_any_other_frame_all_columns_but_what_is_known_to_be_none(columns, fields):
    assert field_columns(frame(*columns)) == fields


def test_a_person_may_name_them():
    df = frame("a", "b", "c")
    assert field_columns(df, ["c", "a", "c"]) == ["c", "a"]
    assert field_columns(df, "b") == ["b"]
    with pytest.raises(FrameError, match="'d'"):
        field_columns(df, ["d"])


def test_what_a_recipe_writes_about_its_evidence_is_not_edited():
    df = pd.DataFrame(
        columns=["record_id", "question", "answer", "evidence", "evidence_start"]
    )
    df.attrs["fields"] = ["question", "answer", "evidence", "evidence_start"]
    assert field_columns(df) == ["question", "answer"]
