"""What trainers read the files with: their own code where it installs, else its rules."""

from __future__ import annotations

import json

import pandas as pd
import pytest

import synthnb as sn
from synthnb.errors import ConfigError, ExportError

datasets = pytest.importorskip(
    "datasets", reason="a test dependency; see pyproject.toml"
)

# Its progress bars would leave a thread behind, for the whole session.
datasets.disable_progress_bars()
pytest.importorskip("tqdm").tqdm.monitor_interval = 0
CODE = 'def f(x):\n\treturn {"a": [1]}  # ü 日本 \\n\r\n'
FRAME = pd.DataFrame(
    {
        "question": ["What?", "Was ist größer?"],
        "answer": [CODE, "π"],
        "reasoning": pd.array(["First.\nThen.", None], dtype="string"),
        "chosen": [CODE, "good"],
        "rejected": ["bad", "worse"],
        "model": ["m", "m"],
        "step": ["qa", "qa"],
        "source": ["a.md", "b.md"],
    }
)


@pytest.fixture(autouse=True)
def offline(monkeypatch, tmp_path):
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "cache"))


def load(kind, path, tmp_path):
    files = {"train": str(path)}
    cache = str(tmp_path / "cache")
    return datasets.load_dataset(kind, data_files=files, cache_dir=cache)["train"]


def said(messages):
    return [(m["role"], m["content"]) for m in messages]


@pytest.mark.parametrize(
    ("name", "suffix"),
    [
        ("jsonl", ".jsonl"),
        ("chatml", ".jsonl"),
        ("alpaca", ".json"),
        ("alpaca", ".jsonl"),
        ("sharegpt", ".json"),
        ("prompt-completion", ".jsonl"),
        ("dpo", ".jsonl"),
        ("kto", ".jsonl"),
        ("text", ".jsonl"),
    ],
)
def test_load_dataset_reads_each_json_format(tmp_path, name, suffix):
    path = tmp_path / f"t{suffix}"
    sn.export(FRAME, path, name)
    rows = list(load("json", path, tmp_path))
    assert len(rows) == (4 if name == "kto" else 2)
    first = rows[0]
    found = {
        "jsonl": lambda: first["answer"],
        "chatml": lambda: first["messages"][-1]["content"],
        "alpaca": lambda: first["output"],
        "sharegpt": lambda: first["conversations"][-1]["value"],
        "prompt-completion": lambda: first["completion"],
        "dpo": lambda: first["chosen"][-1]["content"],
        "kto": lambda: first["completion"][-1]["content"],
        "text": lambda: first["text"],
    }[name]()
    assert found == CODE


def test_load_dataset_reads_tables(tmp_path):
    sn.export(FRAME, tmp_path / "t.parquet")
    assert load("parquet", tmp_path / "t.parquet", tmp_path)["answer"][0] == CODE
    sn.export(FRAME, tmp_path / "t.csv")
    assert load("csv", tmp_path / "t.csv", tmp_path)["question"][1] == "Was ist größer?"


def test_a_folder_of_exports_is_not_disturbed_by_manifests(tmp_path):
    sn.export(FRAME, tmp_path / "data" / "train.jsonl", "chatml")
    loaded = datasets.load_dataset(
        str(tmp_path / "data"), cache_dir=str(tmp_path / "cache")
    )
    assert loaded["train"].num_rows == 2
    assert loaded["train"].column_names == ["messages"]


def test_a_dataset_folder_loads_by_its_card_with_its_splits(tmp_path):
    frame = FRAME.assign(split=["train", "test"])
    frame.attrs["dropped"] = {"duplicate": 1234}
    result = sn.export_dataset(
        frame, tmp_path / "rivers", licence="cc-by-4.0", language="en"
    )
    assert dict(result.rows) == {"train": 1, "test": 1}
    loaded = datasets.load_dataset(str(result.path), cache_dir=str(tmp_path / "cache"))
    assert set(loaded) == {"train", "test"}
    assert loaded["train"]["answer"][0] == CODE
    card = (result.path / "README.md").read_text(encoding="utf-8")
    for text in ("# rivers", "- Model: m", "- Recipe: qa", "- Documents: 2",
                 "1,234 duplicate", '"cc-by-4.0"', "| train | 1 |"):  # fmt: skip
        assert text in card
    assert sn.verify(result.path / "data").ok
    head = card.split("---")[1]
    import yaml

    assert yaml.safe_load(head)["configs"][0]["data_files"][1] == {
        "split": "test", "path": "data/test.parquet",
    }  # fmt: skip


def test_what_a_dataset_folder_cannot_be_is_told(tmp_path):
    with pytest.raises(ConfigError, match="licence"):
        sn.export_dataset(FRAME, tmp_path / "d", licence=" ")
    with pytest.raises(ConfigError, match="'dev'"):
        sn.export_dataset(FRAME.assign(split="dev"), tmp_path / "d", licence="mit")
    assert not (tmp_path / "d").exists()
    sn.export_dataset(FRAME, tmp_path / "d", licence="mit")
    with pytest.raises(ExportError, match=r"data/train\.parquet"):
        sn.export_dataset(FRAME.assign(split="test"), tmp_path / "d", licence="mit")


def test_openai_s_rules_for_fine_tuning_hold(tmp_path):
    """The published checks of chat examples: roles, contents, an answer at the end."""
    path = tmp_path / "t.jsonl"
    sn.export(FRAME, path, "chatml", system="s", include_reasoning=True)
    for line in path.read_text(encoding="utf-8").splitlines():
        example = json.loads(line)
        assert set(example) == {"messages"}
        for message in example["messages"]:
            assert set(message) <= {"role", "content", "name", "weight", "tool_calls"}
            assert message["role"] in {"system", "user", "assistant", "tool"}
            assert isinstance(message["content"], str)
            assert message["content"]
        assert example["messages"][-1]["role"] == "assistant"


def test_trl_s_conversational_shapes_hold(tmp_path):
    """TRL tells a conversation by a list of dicts with ``role`` and ``content``."""
    sn.export(FRAME, tmp_path / "d.jsonl", "dpo")
    row = load("json", tmp_path / "d.jsonl", tmp_path)[0]
    assert said(row["prompt"]) == [("user", "What?")]
    assert said(row["chosen"]) == [("assistant", CODE)]
    assert said(row["rejected"]) == [("assistant", "bad")]
    sn.export(FRAME, tmp_path / "k.jsonl", "kto")
    row = load("json", tmp_path / "k.jsonl", tmp_path)[1]
    assert (said(row["completion"]), row["label"]) == ([("assistant", "bad")], False)


def test_llama_factory_s_and_axolotl_s_documented_shapes_hold(tmp_path):
    sn.export(FRAME, tmp_path / "a.json", "alpaca")
    for row in json.loads((tmp_path / "a.json").read_text(encoding="utf-8")):
        assert {"instruction", "input", "output"} <= set(row)
        assert all(isinstance(v, str) for v in row.values())
    sn.export(FRAME, tmp_path / "s.json", "sharegpt")
    for row in json.loads((tmp_path / "s.json").read_text(encoding="utf-8")):
        turns = [turn["from"] for turn in row["conversations"]]
        # Odd places are the human's, even ones the model's.
        assert turns == ["human", "gpt"]
        assert all(isinstance(turn["value"], str) for turn in row["conversations"])


def test_synthetic_data_kit_s_arrow_folder_goes_out_and_comes_in(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from synthnb.cli.app import app

    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.json").write_text(
        json.dumps({"qa_pairs": [{"question": "Q?", "answer": CODE}]})
    )
    result = CliRunner().invoke(
        app, ["save-as", "p.json", "-f", "ft", "--storage", "hf", "-o", "final"]
    )
    assert result.exit_code == 0
    (folder,) = (tmp_path / "final").iterdir()
    assert datasets.load_from_disk(str(folder)).num_rows == 1
    df = sn.read_sdk(folder)
    assert list(df["answer"]) == [CODE]
