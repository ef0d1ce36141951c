"""The column contract: order, types, clashes, and rows of any kind."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthnb.errors import FrameError
from synthnb.frames import (
    CHUNK_COLUMNS,
    COLUMNS,
    INPUT,
    chunks_frame,
    columns_of,
    frame_of,
    input_names,
    records_frame,
    require,
    rows_of,
    typed,
)
from synthnb.records import Status

CONTRACT = {column.name: column.dtype for column in COLUMNS}


def one(**values):
    return {"record_id": "r1", "step": "qa", "row_id": "c1", **values}


def test_the_contract_names_each_column_once_with_a_meaning():
    assert len(CONTRACT) == len(COLUMNS)
    assert all(column.meaning for column in COLUMNS)
    assert set(CONTRACT.values()) <= {
        *("string", "Int64", "Float64", "boolean", "datetime64[ns, UTC]"),
    }


def test_columns_stand_in_the_contract_s_order_with_the_fields_after_end():
    made = records_frame(
        [one(answer="a", question="q", page=2, end=9, status="ok", evidence="e")],
        fields=("question", "answer", "evidence"),
        inputs=["text"],
    )
    names = list(made.columns)
    assert names[:4] == ["record_id", "step", "row_id", "sample_index"]
    assert names[names.index("end") :][:4] == ["end", "question", "answer", "evidence"]
    assert names[-1] == "text"
    known = [name for name in names if name in CONTRACT]
    assert known == [name for name in CONTRACT if name in known]


@pytest.mark.parametrize("rows", [[], [one(status=Status.OK, page=3)], [one()] * 2])
def test_types_are_those_of_the_contract_whatever_the_rows_hold(rows):
    made = records_frame(rows, fields=["question", "evidence"], inputs=["page", "text"])
    for name in made.columns:
        assert made[name].dtype == CONTRACT.get(name, "string"), name
    assert {"question", "evidence", "page", "text", "status"} <= set(made.columns)
    assert list(made.index) == list(range(len(rows)))


def test_columns_of_the_contract_that_nobody_has_are_left_out():
    made = records_frame([one(status="ok")], fields=["ticket"], inputs=["topic"])
    assert "page" not in made.columns
    assert "rating" not in made.columns


def test_field_types_come_from_the_values():
    made = records_frame(
        [
            one(score=1, share=1, good=True, tags=["a"], none=None, huge=2**70),
            one(score=None, share=0.5, good=None, tags=None, none=None, huge=1),
        ],
        fields=["score", "share", "good", "tags", "none", "huge"],
    )
    kinds = ["Int64", "Float64", "boolean", "object", "string", "object"]
    assert [str(made[n].dtype) for n in list(made.columns)[4:10]] == kinds
    assert made["huge"].tolist() == [2**70, 1]
    assert made["tags"].tolist() == [["a"], None]


def test_an_input_that_clashes_is_kept_under_a_name_of_its_own():
    made = records_frame(
        [
            one(
                status="ok",
                question="made",
                **{INPUT: {"question": "given", "status": "mine", "page": 4, "x": 1}},
            )
        ],
        fields=["question"],
    )
    row = made.iloc[0]
    assert (row["question"], row["input_question"]) == ("made", "given")
    assert (row["status"], row["input_status"]) == ("ok", "mine")
    assert (row["page"], row["x"]) == (4, 1)


def test_input_names_never_meet():
    names = input_names(["status", "input_status", "text"], ["text"])
    assert names == {
        "status": "input_input_status",
        "input_status": "input_status",
        "text": "input_text",
    }


def test_unknown_keys_of_any_row_are_kept_after_the_fields():
    made = records_frame([one(question="q"), one(odd=5)], fields=["question"])
    assert list(made.columns)[4:6] == ["question", "odd"]
    assert made["odd"].isna().tolist() == [True, False]


def test_a_user_s_column_with_a_contract_name_is_kept_as_it_is():
    made = records_frame(
        [one(start="first of May", page="iv")], inputs=["start", "page"]
    )
    assert made.loc[0, "start"] == "first of May"
    assert made.loc[0, "page"] == "iv"


def test_lists_and_times_of_the_contract_and_hostile_text():
    made = records_frame(
        [
            one(
                adapted=("json_object", "no_seed"),
                decided_at="2026-11-30T10:00:00+02:00",
                reasoning="\ud800 \x00 \u202e",
            )
        ]
    )
    assert made.loc[0, "adapted"] == "json_object, no_seed"
    assert made.loc[0, "decided_at"] == pd.Timestamp("2026-11-30T08:00:00Z")
    assert made.loc[0, "reasoning"] == "\ud800 \x00 \u202e"


def test_chunks_have_all_columns_and_types_with_no_rows_too():
    chunk = {"chunk_id": "c", "source": "a.md", "text": "t", "start": 0, "end": 1}
    for rows in ([], [chunk], [{**chunk, "language": "en"}]):
        made = chunks_frame(rows)
        assert list(made.columns)[:7] == [column.name for column in CHUNK_COLUMNS]
        for column in CHUNK_COLUMNS:
            assert made[column.name].dtype == column.dtype
    assert made.loc[0, "language"] == "en"


def test_require_names_what_is_missing_what_is_there_and_the_closest():
    frame = pd.DataFrame(columns=["questions", "text"])
    require(frame, ["text"], "qa")
    with pytest.raises(FrameError) as caught:
        require(frame, ["question", "zzz"], "deduplicate")
    said = str(caught.value)
    assert "deduplicate needs the columns 'question', 'zzz'" in said
    assert "the frame has questions, text" in said
    assert "'questions' for 'question'" in said


# --- rows of whatever a person has ----------------------------------------------------


def test_cells_become_plain_values():
    frame = pd.DataFrame(
        {
            "i": pd.array([1, None], dtype="Int64"),
            "f": [1.5, math.nan],
            "s": pd.array(["a", None], dtype="string"),
            "b": pd.array([True, None], dtype="boolean"),
            "t": pd.to_datetime(["2026-01-02", None]),
            "l": [np.array([1, 2]), None],
            "d": [{"a": np.int64(1), "b": [pd.NA]}, None],
        },
        index=[7, 7],
    )
    first, second = rows_of(frame)
    assert first == {
        "i": 1,
        "f": 1.5,
        "s": "a",
        "b": True,
        "t": "2026-01-02T00:00:00",
        "l": [1, 2],
        "d": {"a": 1, "b": [None]},
    }
    assert second == dict.fromkeys("ifsbtld")
    assert [type(first[n]) for n in "ifsb"] == [int, float, str, bool]


@dataclass
class Point:
    x: int
    tags: tuple[str, ...]


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.float64("nan"), None),
        (np.int32(3), 3),
        (np.bool_(True), True),  # noqa: FBT003
        (np.str_("a"), "a"),
        (pd.NaT, None),
        (np.datetime64("NaT", "s"), None),
        (np.datetime64("2026-01-02"), "2026-01-02"),
        (datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02T00:00:00+00:00"),
        (Status.OK, "ok"),
        (b"text", "text"),
        (b"\xff", "/w=="),
        (Point(1, ("a",)), {"x": 1, "tags": ["a"]}),
        ({1: (2, {3})}, {"1": [2, [3]]}),
    ],
)
def test_a_single_value_becomes_plain(value, plain):
    (row,) = rows_of([{"v": value}])
    assert row["v"] == plain
    assert type(row["v"]) is type(plain)


def test_strings_dataclasses_and_tables_are_rows():
    assert list(rows_of(["a", "b"])) == [{"text": "a"}, {"text": "b"}]
    assert list(rows_of(pd.Series(["a"]))) == [{"text": "a"}]
    assert list(rows_of([Point(1, ())])) == [{"x": 1, "tags": []}]
    table = pa.table({"n": [1, None], "l": [["a"], None]})
    assert list(rows_of(table)) == [{"n": 1, "l": ["a"]}, {"n": None, "l": None}]


def test_an_iterator_is_never_read_ahead():
    read = []

    def endless():
        number = 0
        while True:
            read.append(number)
            yield {"n": number}
            number += 1

    rows = rows_of(endless())
    assert read == []
    assert [next(rows)["n"], next(rows)["n"]] == [0, 1]
    assert read == [0, 1]


def test_later_changes_of_the_frame_do_not_reach_the_rows():
    frame = pd.DataFrame({"n": [1, 2, 3], "s": ["a", "b", "c"]})
    rows = rows_of(frame)
    first = next(rows)
    frame.loc[:, "n"] = 9
    frame["s"] = "z"
    frame.iloc[2, 0] = 8
    assert [first, *rows] == [
        {"n": n, "s": s} for n, s in zip((1, 2, 3), "abc", strict=True)
    ]


def test_a_list_that_grows_later_gives_the_rows_it_had():
    listed = [{"n": 1}]
    rows = rows_of(listed)
    listed.append({"n": 2})
    assert list(rows) == [{"n": 1}]


def test_two_columns_of_one_name_are_refused_at_once():
    frame = pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"])
    for call in (rows_of, columns_of, frame_of):
        with pytest.raises(FrameError, match="two columns are named 'a'"):
            call(frame)


@pytest.mark.parametrize("wrong", ["text", b"text", {"a": 1}, 5, None])
def test_what_is_no_collection_of_rows_is_refused_at_once(wrong):
    with pytest.raises(FrameError, match="not a collection of rows"):
        rows_of(wrong)


def test_a_row_that_is_none_is_named_by_its_place():
    rows = rows_of([{"a": 1}, 5])
    assert next(rows) == {"a": 1}
    with pytest.raises(FrameError, match="row 1 is int"):
        next(rows)


def test_columns_are_known_before_reading_where_they_can_be():
    assert columns_of(pd.DataFrame(columns=["a", 1])) == ("a", "1")
    assert columns_of(pa.table({"x": []})) == ("x",)
    assert columns_of([{"a": 1}, {"b": 2}]) == ("a", "b")
    assert columns_of(["x"]) == ("text",)
    assert columns_of([]) == ()
    assert columns_of(iter([{"a": 1}])) is None


def test_a_frame_of_rows_has_the_columns_of_all_of_them():
    made = frame_of([{"a": 1}, {"b": "x"}])
    assert list(made.columns) == ["a", "b"]
    assert [str(t) for t in made.dtypes] == ["Int64", "string"]
    assert list(frame_of(pd.DataFrame({0: [1]})).columns) == ["0"]


cells = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(st.characters(), max_size=8),
    st.lists(st.integers(), max_size=3),
)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["a", "b", "status", "page"]), cells, max_size=4
        ),
        max_size=5,
    )
)
def test_any_rows_make_a_frame_whose_rows_are_the_same(rows):
    made = frame_of(rows)
    again = list(rows_of(made))
    assert len(again) == len(rows)
    for before, after in zip(rows, again, strict=True):
        assert {k: v for k, v in after.items() if v is not None} == {
            k: v for k, v in before.items() if v is not None
        }


@pytest.mark.parametrize("module", ["frames", "curation", "export"])
def test_importing_loads_no_pandas(module):
    code = (
        f"import sys, synthnb.{module}; "
        "heavy = {'pandas', 'pyarrow', 'rensa', 'numpy'} & set(sys.modules); "
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("dtype", ["string", "boolean", "Int64", "Float64", ""])
def test_a_typed_column_goes_by_place_whatever_the_frame_is_indexed_by(dtype):
    df = pd.DataFrame({"n": [1, 2]}, index=[7, 7])
    cells = {"string": ["a", None], "boolean": [True, None], "": [[1], {"a": 1}]}
    values = cells.get(dtype, [1, None])
    df["new"] = typed(values, dtype)
    assert [None if v is pd.NA else v for v in df["new"]] == values


def test_what_is_no_frame_is_named_with_the_way_to_one():
    with pytest.raises(FrameError, match=r"deduplicate takes a DataFrame, not list"):
        require([{"question": "q"}], ["question"], "deduplicate")
