"""Every format: written, read back, and the same; with hostile text too."""

from __future__ import annotations

import csv
import json
import math
import tempfile
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthnb.errors import ConfigError, ExportError, FrameError
from synthnb.export import ExportResult, export, formats
from synthnb.frames import records_frame, rows_of

CODE = 'def f(x):\n\treturn {"a": [1, 2]}  # سؤال \\n "quoted"\r\n'


OTHERS = {"text", "dpo", "kto"}
PAIRS = [name for name in formats() if name not in OTHERS]
"""Formats of one prompt and one response a row."""


def frame(**columns):
    given = {
        "question": ["What does f do?", "Was ist größer?"],
        "answer": [CODE, "π ≈ 3,14"],
        "reasoning": ["First,\nthen <b>.", None],
        "record_id": ["r1", "r2"],
        "page": pd.array([3, None], dtype="Int64"),
    }
    return pd.DataFrame(given | columns)


def read_lines(path):
    return [json.loads(line) for line in path.read_bytes().decode().split("\n") if line]


def read_pairs(path, name):
    """Return the (prompt, response) pairs of a file, as a trainer would read them."""
    if name == "jsonl":
        return [(row["question"], row["answer"]) for row in read_lines(path)]
    if name == "prompt-completion":
        return [(row["prompt"], row["completion"]) for row in read_lines(path)]
    if name == "chatml":
        turns = [[m["content"] for m in row["messages"]] for row in read_lines(path)]
    elif name == "sharegpt":
        loaded = json.loads(path.read_bytes())
        turns = [[m["value"] for m in row["conversations"]] for row in loaded]
    elif name == "alpaca":
        loaded = json.loads(path.read_bytes())
        turns = [[row["instruction"], row["output"]] for row in loaded]
    elif name == "parquet":
        table = pq.read_table(path).to_pylist()
        turns = [[row["question"], row["answer"]] for row in table]
    else:
        with path.open(encoding="utf-8", newline="") as file:
            turns = [[row["question"], row["answer"]] for row in csv.DictReader(file)]
    return [tuple(turn[-2:]) for turn in turns]


@pytest.mark.parametrize("name", PAIRS)
def test_text_is_written_as_it_is(tmp_path, name):
    path = tmp_path / "made" / "out.dat"
    result = export(frame(), path, name)
    assert read_pairs(path, name) == [
        ("What does f do?", CODE),
        ("Was ist größer?", "π ≈ 3,14"),
    ]
    assert result == ExportResult(path, name, 2, 0, 0, 0)
    assert str(result) == f"2 rows as {name} → {path}"
    if name != "parquet":
        assert "größer" in path.read_text("utf-8")
    names = sorted(p.name for p in path.parent.iterdir())
    assert names == [".out.dat.manifest", "out.dat"]


def test_chatml_is_openai_s_messages(tmp_path):
    path = tmp_path / "train.jsonl"
    export(frame(), path, "chatml", system="Be brief.")
    assert read_lines(path)[1] == {
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Was ist größer?"},
            {"role": "assistant", "content": "π ≈ 3,14"},
        ]
    }


def test_alpaca_and_sharegpt_have_their_keys_and_may_be_lines(tmp_path):
    for name, first in (
        ("alpaca", {"instruction": "q", "input": "", "output": "a", "system": "s"}),
        (
            "sharegpt",
            {
                "conversations": [
                    {"from": "system", "value": "s"},
                    {"from": "human", "value": "q"},
                    {"from": "gpt", "value": "a"},
                ]
            },
        ),
    ):
        one = pd.DataFrame({"question": ["q"], "answer": ["a"]})
        export(one, tmp_path / "array.json", name, system="s")
        export(one, tmp_path / "lines.jsonl", name, system="s")
        assert json.loads((tmp_path / "array.json").read_text("utf-8")) == [first]
        assert read_lines(tmp_path / "lines.jsonl") == [first]


def test_reasoning_is_left_out_unless_it_is_asked_for(tmp_path):
    path = tmp_path / "x"
    for name in ("jsonl", "chatml", "alpaca", "sharegpt"):
        export(frame(), path, name)
        assert "First" not in path.read_text("utf-8")
        export(frame(), path, name, include_reasoning=True)
        assert "First" in path.read_text("utf-8")
    export(frame(), path, "chatml", include_reasoning=True)
    thought, plain = (row["messages"][-1] for row in read_lines(path))
    assert thought["content"] == f"<think>\nFirst,\nthen <b>.\n</think>\n\n{CODE}"
    assert plain["content"] == "π ≈ 3,14"
    export(
        frame(),
        path,
        "chatml",
        include_reasoning=True,
        reasoning_as="reasoning_content",
    )
    thought, plain = (row["messages"][-1] for row in read_lines(path))
    assert thought["reasoning_content"] == "First,\nthen <b>."
    assert thought["content"] == CODE
    assert "reasoning_content" not in plain


def test_provenance_is_left_out_unless_it_is_asked_for(tmp_path):
    path = tmp_path / "x"
    for name in ("chatml", "sharegpt", "alpaca"):
        export(frame(), path, name)
        assert "r1" not in path.read_text("utf-8")
        export(frame(), path, name, include_provenance=True)
        text = path.read_text("utf-8")
        rows = read_lines(path) if name == "chatml" else json.loads(text)
        assert [row["metadata"] for row in rows] == [
            {"record_id": "r1", "page": 3},
            {"record_id": "r2"},
        ]
    export(frame(), path, "jsonl", include_provenance=True)
    assert list(read_lines(path)[1]) == ["question", "answer", "record_id", "page"]
    assert read_lines(path)[1]["page"] is None


def test_rows_without_prompt_or_response_are_left_out_and_counted(tmp_path):
    df = frame(answer=[None, "a"])
    for name in ("jsonl", "chatml", "alpaca", "sharegpt"):
        result = export(df, tmp_path / "x", name)
        assert (result.rows, result.skipped) == (1, 1)
        assert len(read_pairs(tmp_path / "x", name)) == 1
    assert "1 without prompt or response left out" in str(result)
    for name in ("parquet", "csv"):
        assert export(df, tmp_path / "x", name).rows == 2
    chosen = export(df, tmp_path / "x", "jsonl", columns=["answer", "page"])
    assert (chosen.rows, chosen.skipped) == (2, 0)
    assert read_lines(tmp_path / "x") == [
        {"answer": None, "page": 3},
        {"answer": "a", "page": None},
    ]


def test_no_rows_give_empty_files_with_the_right_columns(tmp_path):
    empty = records_frame([], fields=["question", "answer"], inputs=["text"])
    for name in {*PAIRS, "text"}:
        assert export(empty, tmp_path / name, name).rows == 0
    assert (tmp_path / "jsonl").read_bytes() == b""
    assert (tmp_path / "text").read_bytes() == b""
    assert (tmp_path / "chatml").read_bytes() == b""
    assert json.loads((tmp_path / "alpaca").read_text("utf-8")) == []
    assert json.loads((tmp_path / "sharegpt").read_text("utf-8")) == []
    back = pd.read_parquet(tmp_path / "parquet")
    assert back.columns.tolist() == empty.columns.tolist()
    assert [str(t) for t in back.dtypes] == [str(t) for t in empty.dtypes]
    header = (tmp_path / "csv").read_text("utf-8").splitlines()
    assert header == [",".join(empty.columns)]


def test_the_columns_are_those_of_all_rows(tmp_path):
    rows = [
        {"question": "q", "answer": "a"},
        {"question": "q", "answer": "a", "late": 5},
    ]
    export(rows, tmp_path / "x.parquet")
    assert pd.read_parquet(tmp_path / "x.parquet")["late"].tolist() == [pd.NA, 5]
    export(rows, tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text("utf-8").startswith("question,answer,late\n")


def test_parquet_keeps_values_types_and_order(tmp_path):
    df = records_frame(
        [
            {
                "record_id": "a",
                "question": "q",
                "tags": ["x", "y"],
                "score": 1,
                "page": 2,
            },
            {"record_id": "b", "decided_at": "2026-01-01T00:00:00Z", "repaired": True},
        ],
        fields=["question", "tags", "score"],
    )
    df.index = [9, 9]
    df.attrs["dropped"] = {object(): 1}  # what pandas could not write is left behind
    export(df, tmp_path / "x.parquet")
    back = pd.read_parquet(tmp_path / "x.parquet")
    assert [str(t) for t in back.dtypes] == [str(t) for t in df.dtypes]
    assert list(rows_of(back)) == list(rows_of(df))
    export(df, tmp_path / "x.parquet", columns=["score", "record_id"])
    assert pd.read_parquet(tmp_path / "x.parquet").columns.tolist() == [
        "score",
        "record_id",
    ]


def test_csv_neutralises_formulas_and_counts_them(tmp_path):
    attacks = ["=1+1", "+1", "-2+3", "@SUM(A1)", "\tx", "\rx", "\nx", "＝1"]
    df = pd.DataFrame({"=head": [*attacks, "safe = 1"], "number": [-1.5] * 9})
    path = tmp_path / "x.csv"
    result = export(df, path)
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["'=head", "number"]
    assert [row[0] for row in rows] == [*(f"'{a}" for a in attacks), "safe = 1"]
    assert {row[1] for row in rows} == {"-1.5"}
    assert result.neutralised == 9
    assert "9 formulas neutralised" in str(result)
    plain = export(df, path, neutralise_formulas=False)
    with path.open(encoding="utf-8", newline="") as file:
        assert [row[0] for row in csv.reader(file)] == ["=head", *attacks, "safe = 1"]
    assert plain.neutralised == 0


@pytest.mark.parametrize("odd", ["user", "engine"])
@pytest.mark.parametrize("name", PAIRS)
def test_lone_surrogates_are_replaced_and_counted_pairs_are_joined(tmp_path, name, odd):
    # An object column, as pandas 2 has them: Arrow's strings refuse such text.
    pair = [["a\ud800b\ufffd", "\ud83d\ude00\udc00"]]
    df = pd.DataFrame(pair, columns=["question", "answer"], dtype=object)
    if odd == "engine":
        df = records_frame(df.to_dict("records"), fields=["question", "answer"])
    result = export(df, tmp_path / "x", name)
    assert read_pairs(tmp_path / "x", name) == [("a\ufffdb\ufffd", "\U0001f600\ufffd")]
    assert result.replaced_surrogates == 2
    assert "2 lone surrogates replaced" in str(result)


hostile = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from(
            list("\x00\r\n\t\"',=+-@{}[]<>\\\u202e\u2028\u0085\ufeff\ud800")
        ),
    ),
    max_size=20,
)


def as_exported(text):
    """Return what UTF-8 can hold of a text: lone surrogates replaced."""
    units = text.encode("utf-16-le", "surrogatepass")
    return units.decode("utf-16-le", "replace")


@pytest.mark.parametrize("name", PAIRS)
@settings(deadline=None, max_examples=40)
@given(pairs=st.lists(st.tuples(hostile, hostile), max_size=4))
def test_any_text_comes_back_as_it_was(name, pairs):
    df = pd.DataFrame(pairs, columns=["question", "answer"], dtype=object)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        result = export(df, path, name, neutralise_formulas=False)
        assert read_pairs(path, name) == [
            tuple(map(as_exported, pair)) for pair in pairs
        ]
    assert result.rows == len(pairs)
    lone = sum(
        as_exported(t).count("\ufffd") - t.count("\ufffd") for p in pairs for t in p
    )
    assert result.replaced_surrogates == lone


def test_values_that_are_no_text_are_written_as_json(tmp_path):
    df = pd.DataFrame({"question": [{"a": 1}], "answer": [["x", None]]})
    export(df, tmp_path / "x", "chatml")
    assert read_pairs(tmp_path / "x", "chatml") == [('{"a": 1}', '["x", null]')]
    export(df, tmp_path / "x", "jsonl")
    assert read_lines(tmp_path / "x") == [{"question": {"a": 1}, "answer": ["x", None]}]
    export(df, tmp_path / "x", "csv")
    assert read_pairs(tmp_path / "x", "csv") == [('{"a": 1}', '["x", null]')]


def test_what_a_format_cannot_hold_is_said_and_nothing_is_written(tmp_path):
    path = tmp_path / "x"
    with pytest.raises(ExportError, match="infinite"):
        export(frame(page=[math.inf, 1.0]), path, "jsonl", columns=["page"])
    with pytest.raises(ExportError, match=r"one type for each column.*page"):
        export(frame(page=["text", 1]), path, "parquet")
    assert list(tmp_path.iterdir()) == []


def test_the_format_comes_from_the_suffix_where_that_is_enough(tmp_path):
    known = {".jsonl": "jsonl", ".PARQUET": "parquet", ".csv": "csv", ".txt": "text"}
    for suffix, name in known.items():
        assert export(frame(), tmp_path / f"x{suffix}").format == name
    for unclear in ("x.json", "x"):
        with pytest.raises(ConfigError, match=r"format=\.\.\.: jsonl, chatml, alpaca"):
            export(frame(), tmp_path / unclear)
    with pytest.raises(ConfigError, match="no format is named 'xlsx'"):
        export(frame(), tmp_path / "x.xlsx", "xlsx")


def test_missing_columns_are_named(tmp_path):
    for arguments, said in (
        ({"prompt": "instruction"}, "'instruction'"),
        ({"format": "chatml", "response": "reply"}, "'reply'"),
        ({"columns": ["nope"]}, "'nope'"),
        ({"format": "csv", "columns": ["nope"]}, "'nope'"),
    ):
        with pytest.raises(FrameError, match=rf"export to \w+ needs the column {said}"):
            export(frame(), tmp_path / "x.jsonl", **arguments)
    with pytest.raises(FrameError, match="'reasoning'"):
        export(
            frame().drop(columns="reasoning"),
            tmp_path / "x.jsonl",
            include_reasoning=True,
        )
    assert list(tmp_path.iterdir()) == []


def test_arguments_that_a_format_has_no_place_for_are_refused(tmp_path):
    for name, arguments in (
        ("chatml", {"columns": ["question"]}),
        ("jsonl", {"system": "s"}),
        ("alpaca", {"reasoning_as": "reasoning_content"}),
    ):
        with pytest.raises(ConfigError, match=f"{name} has no place for"):
            export(frame(), tmp_path / "x", name, **arguments)


def test_other_columns_may_be_prompt_and_response(tmp_path):
    df = pd.DataFrame({"ticket": ["t"], "reply": ["r"]})
    export(df, tmp_path / "x", "chatml", prompt="ticket", response="reply")
    assert read_pairs(tmp_path / "x", "chatml") == [("t", "r")]
