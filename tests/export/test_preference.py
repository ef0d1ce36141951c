"""Preferences, completions and raw text, by the shapes that TRL documents."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from synthnb.errors import ConfigError, FrameError
from synthnb.export import export

HARD = 'def f():\n\treturn "ü 日本 {a}"  # \\n'
FRAME = pd.DataFrame(
    {
        "question": ["Q1?", "Q2?", None, "Q4?"],
        "chosen": [HARD, "same", "c", None],
        "rejected": ["bad", "same", "r", "r"],
    }
)
JUDGED = pd.DataFrame(
    {
        "question": ["Q1?", "Q2?", "Q3?"],
        "answer": [HARD, "no", "maybe"],
        "decision": pd.array(["accept", "reject", None], dtype="string"),
    }
)


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def user(text):
    return [{"role": "user", "content": text}]


def assistant(text):
    return [{"role": "assistant", "content": text}]


def test_dpo_is_prompt_chosen_and_rejected_as_messages(tmp_path):
    result = export(FRAME, tmp_path / "d.jsonl", "dpo", system="Be brief.")
    assert (result.rows, result.skipped) == (1, 3)
    assert lines(tmp_path / "d.jsonl") == [
        {
            "prompt": [{"role": "system", "content": "Be brief."}, *user("Q1?")],
            "chosen": assistant(HARD),
            "rejected": assistant("bad"),
        }
    ]


def test_kto_takes_pairs_apart(tmp_path):
    result = export(FRAME[:1], tmp_path / "k.jsonl", "kto")
    assert result.rows == 2
    assert lines(tmp_path / "k.jsonl") == [
        {"prompt": user("Q1?"), "completion": assistant(HARD), "label": True},
        {"prompt": user("Q1?"), "completion": assistant("bad"), "label": False},
    ]


def test_kto_takes_a_persons_decisions(tmp_path):
    result = export(JUDGED, tmp_path / "k.jsonl", "kto")
    assert (result.rows, result.skipped) == (2, 1)
    assert [row["label"] for row in lines(tmp_path / "k.jsonl")] == [True, False]


def test_completions_and_texts(tmp_path):
    export(JUDGED, tmp_path / "c.jsonl", "prompt-completion")
    assert lines(tmp_path / "c.jsonl")[0] == {"prompt": "Q1?", "completion": HARD}
    export(JUDGED, tmp_path / "t.txt")
    assert (tmp_path / "t.txt").read_text(
        encoding="utf-8"
    ) == f"{HARD}\n\nno\n\nmaybe\n"
    export(JUDGED, tmp_path / "t.jsonl", "text")
    assert [row["text"] for row in lines(tmp_path / "t.jsonl")] == [HARD, "no", "maybe"]


@pytest.mark.parametrize(
    ("name", "frame", "missing"),
    [
        ("dpo", JUDGED, "'chosen', 'rejected'"),
        ("kto", JUDGED.drop(columns="decision"), "'decision'"),
        ("text", FRAME, "'answer'"),
    ],
)
def test_what_a_format_needs_is_named(tmp_path, name, frame, missing):
    with pytest.raises(FrameError, match=missing):
        export(frame, tmp_path / "x.jsonl", name)
    assert list(tmp_path.iterdir()) == []


def test_what_a_format_has_no_place_for_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="dpo has no place for include_reasoning"):
        export(FRAME, tmp_path / "x.jsonl", "dpo", include_reasoning=True)


def test_a_conversation_is_written_as_it_is_and_a_pair_beside_it(tmp_path):
    talk = [*user("a"), *assistant(HARD), *user("b"), *assistant("c")]
    rows = [
        {"messages": talk, "question": None, "answer": None},
        {"messages": None, "question": "q", "answer": "a"},
        {"messages": [{"role": "user"}], "question": None, "answer": None},
        {"messages": [], "question": "q", "answer": None},
    ]
    result = export(pd.DataFrame(rows), tmp_path / "c.jsonl", "chatml", system="s")
    assert (result.rows, result.skipped) == (2, 2)
    system = [{"role": "system", "content": "s"}]
    assert [row["messages"] for row in lines(tmp_path / "c.jsonl")] == [
        [*system, *talk],
        [*system, *user("q"), *assistant("a")],
    ]
