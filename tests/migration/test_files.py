"""What synthetic-data-kit writes is read; what is written, its shapes say."""

from __future__ import annotations

import json

import pandas as pd
import pytest

import synthnb as sn
from synthnb.errors import ConfigError, DocumentError, FrameError

QUESTION = "Was heißt „grüßen“?\nAnd 日本?"
ANSWER = 'def f(x):\n    return {"a": [x]}  # ü\n\n- one\n- two'
PAIR = {"question": QUESTION, "answer": ANSWER}
CHAT = [
    {"role": "system", "content": "s"},
    {"role": "user", "content": QUESTION},
    {"role": "assistant", "content": ANSWER},
]
LONG = [
    *CHAT,
    {"role": "user", "content": "more"},
    {"role": "assistant", "content": "yes"},
]
SHAPES = {
    "qa": {"summary": "S", "qa_pairs": [PAIR, PAIR]},
    "multimodal-qa": {"qa_pairs": [PAIR, PAIR]},
    "cot": {
        "summary": "S",
        "cot_examples": [{**PAIR, "reasoning": "because"}] * 2,
        "conversations": [CHAT, CHAT],
    },
    "curate": {
        "summary": "S",
        "qa_pairs": [{**PAIR, "rating": 8}, {**PAIR, "rating": 9.5}],
        "conversations": [CHAT, CHAT],
        "metrics": {"total": 3, "filtered": 2, "retention_rate": 0.67, "avg_score": 8.8},
    },
    "filtered": {"filtered_pairs": [PAIR, PAIR], "qa_pairs": [PAIR] * 5},
    "conversations only": {"conversations": [CHAT, CHAT]},
    "alpaca": [{"instruction": QUESTION, "input": "", "output": ANSWER}] * 2,
    "ft": [{"messages": CHAT}] * 2,
    "cot-enhance": [{"conversations": CHAT, "id": 7}] * 2,
    "bare list": [PAIR, PAIR],
}  # fmt: skip


def put(path, value):
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", SHAPES)
def test_each_shape_gives_its_pairs_letter_for_letter(tmp_path, name):
    df = sn.read_sdk(put(tmp_path / "x.json", SHAPES[name]))
    assert list(df["question"]) == [QUESTION, QUESTION]
    assert list(df["answer"]) == [ANSWER, ANSWER]
    assert set(df["status"]) == {"ok"}
    assert df["record_id"].is_unique
    assert set(df["source"]) == {"x.json"}


def test_what_else_a_file_holds_travels(tmp_path):
    cot = sn.read_sdk(put(tmp_path / "cot.json", SHAPES["cot"]))
    assert list(cot["reasoning"]) == ["because"] * 2
    assert list(cot["summary"]) == ["S", "S"]
    curated = sn.read_sdk(put(tmp_path / "c.json", SHAPES["curate"]))
    assert list(curated["rating"]) == [8, 9.5]
    assert list(sn.read_sdk(put(tmp_path / "e.json", SHAPES["cot-enhance"]))["id"]) == [
        7,
        7,
    ]


@pytest.mark.parametrize("key", ["messages", "conversations"])
def test_a_longer_conversation_stays_whole(tmp_path, key):
    df = sn.read_sdk(put(tmp_path / "x.json", [{key: LONG}]))
    assert df["messages"][0] == LONG
    assert "question" not in df


def test_lines_are_read_as_save_as_writes_them(tmp_path):
    path = tmp_path / "x.jsonl"
    lines = [{**PAIR, "rating": 7}, {"messages": CHAT}]
    text = "\n".join(json.dumps(v, ensure_ascii=False) for v in lines)
    path.write_text(f"{text}\n\n", encoding="utf-8")
    df = sn.read_sdk(path)
    assert list(df["answer"]) == [ANSWER, ANSWER]
    path.write_text(f"{text}\n{{", encoding="utf-8")
    with pytest.raises(DocumentError, match="line 3"):
        sn.read_sdk(path)


def test_a_summary_alone_is_a_row(tmp_path):
    df = sn.read_sdk(put(tmp_path / "x.json", {"summary": "S"}))
    assert list(df["summary"]) == ["S"]


def test_a_folder_is_read_file_by_file(tmp_path):
    put(tmp_path / "b.json", SHAPES["qa"])
    put(tmp_path / "a.json", SHAPES["ft"])
    df = sn.read_sdk(tmp_path)
    assert list(df["source"]) == ["a.json", "a.json", "b.json", "b.json"]
    assert df["record_id"].is_unique


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"other": 1}, "none of the shapes"),
        ([1], "none of the shapes"),
        ("text", "none of the shapes"),
        ({"qa_pairs": [{"question": 3, "answer": "a"}]}, "none of the shapes"),
        ({"conversations": [[{"role": "user"}]]}, "none of the shapes"),
        ({"conversations": [[]]}, "none of the shapes"),
    ],
)
def test_another_file_is_named(tmp_path, value, told):
    with pytest.raises(DocumentError, match=told):
        sn.read_sdk(put(tmp_path / "x.json", value))


def test_nothing_there_is_told_at_once(tmp_path):
    with pytest.raises(DocumentError, match="there is no file"):
        sn.read_sdk(tmp_path / "none.json")
    with pytest.raises(DocumentError, match=r"no \.json or \.jsonl"):
        sn.read_sdk(tmp_path)


def test_an_empty_result_is_a_frame_too(tmp_path):
    df = sn.read_sdk(put(tmp_path / "x.json", {"summary": "", "qa_pairs": []}))
    assert len(df) == 0
    assert {"question", "answer"} <= set(df.columns)


@pytest.mark.parametrize("step", ["qa", "cot", "curate", "cot-enhance"])
@pytest.mark.parametrize("reasoning", [None, "because\nof that"])
def test_what_is_written_is_read_again(tmp_path, step, reasoning):
    df = pd.DataFrame([{**PAIR, "summary": "S", "rating": 8.0, "status": "ok"}] * 2)
    df["reasoning"] = reasoning
    assert sn.write_sdk(df, tmp_path / "x.json", step, total=4) == 2
    text = (tmp_path / "x.json").read_text(encoding="utf-8")
    assert "„grüßen“" in text
    assert "\\u" not in text
    back = sn.read_sdk(tmp_path / "x.json")
    assert list(back["question"]) == [QUESTION] * 2
    for answer in back["answer"]:
        assert answer.endswith(ANSWER)
    if reasoning:
        # Fault 6: curated chain-of-thought data lost its reasoning in every export.
        shown = back["reasoning"] if "reasoning" in back else back["answer"]
        assert all("because\nof that" in part for part in shown)
    if step == "curate":
        assert json.loads(text)["metrics"] == {
            "total": 4, "filtered": 2, "retention_rate": 0.5, "avg_score": 8.0,
        }  # fmt: skip
        assert list(back["rating"]) == [8, 8]


def test_their_shape_of_each_step_is_met(tmp_path):
    df = pd.DataFrame([{**PAIR, "summary": "S"}])
    sn.write_sdk(df, tmp_path / "x.json", "qa")
    assert json.loads((tmp_path / "x.json").read_text()) == {
        "summary": "S", "qa_pairs": [PAIR],
    }  # fmt: skip
    sn.write_sdk(df, tmp_path / "x.json", "summary")
    assert json.loads((tmp_path / "x.json").read_text()) == {"summary": "S"}
    sn.write_sdk(df, tmp_path / "x.json", "cot-enhance")
    (one,) = json.loads((tmp_path / "x.json").read_text())
    assert [m["role"] for m in one["conversations"]] == ["system", "user", "assistant"]


def test_failed_rows_are_left_out_and_empty_results_written(tmp_path):
    df = pd.DataFrame([{**PAIR, "status": "truncated"}])
    assert sn.write_sdk(df, tmp_path / "x.json", "qa") == 0
    assert json.loads((tmp_path / "x.json").read_text())["qa_pairs"] == []
    assert sn.write_sdk(df, tmp_path / "x.json", "curate", total=1) == 0


def test_what_cannot_be_written_is_named(tmp_path):
    with pytest.raises(ConfigError, match="no step"):
        sn.write_sdk(pd.DataFrame([PAIR]), tmp_path / "x.json", "dpo")
    with pytest.raises(FrameError, match="no answer"):
        sn.write_sdk(pd.DataFrame([{"question": "q"}]), tmp_path / "x.json", "qa")
    assert not (tmp_path / "x.json").exists()
