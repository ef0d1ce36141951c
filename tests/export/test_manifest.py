from __future__ import annotations

import hashlib
import json

import pandas as pd
import pytest
from typer.testing import CliRunner

import synthnb as sn
from synthnb.cli.app import app
from synthnb.errors import ExportError
from synthnb.testing import FaultServer

FRAME = pd.DataFrame({"question": ["q", None], "answer": ["ä", "b"]})


def said(path):
    return json.loads((path.parent / f".{path.name}.manifest").read_text("utf-8"))


def test_a_manifest_says_what_was_exported(tmp_path):
    path = tmp_path / "train.jsonl"
    frame = FRAME.copy()
    frame.attrs["dropped"] = {"duplicate": 3}
    sn.export(frame, path, "chatml")
    value = said(path)
    assert value["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert value["bytes"] == path.stat().st_size
    assert (value["file"], value["format"]) == ("train.jsonl", "chatml")
    assert (value["rows"], value["skipped"]) == (1, 1)
    assert value["dropped"] == {"duplicate": 3}
    assert value["columns"] == ["question", "answer"]
    assert value["versions"]["pandas"] == pd.__version__
    assert str(tmp_path) not in json.dumps(value)


async def test_it_names_run_recipe_and_model_and_no_key(tmp_path):
    key = "sk-CANARY-in-the-manifest"
    async with FaultServer(require_key=key) as server:
        provider = sn.Provider(server.base_url, "fault-model", key)
        recipe = sn.Prompt("Say {{ text }}")
        df = await sn.generate(recipe, [{"text": "a"}], provider, name="told")
    path = tmp_path / "t.jsonl"
    sn.export(df, path, prompt="text")
    value = said(path)
    assert value["run"] == "told"
    assert len(value["recipe"]) == 32
    text = json.dumps(value)
    assert key not in text
    assert server.base_url not in text


def test_what_was_changed_moved_or_lost_is_found(tmp_path):
    paths = [tmp_path / name for name in ("a.jsonl", "b.csv", "c.parquet")]
    for path in paths:
        sn.export(FRAME, path)
    found = sn.verify(tmp_path)
    assert found.ok
    assert str(found) == "3 of 3 files are as they were exported"
    data = bytearray(paths[0].read_bytes())
    data[5] ^= 1
    paths[0].write_bytes(data)
    paths[1].write_bytes(paths[1].read_bytes() + b"x\n")
    paths[2].unlink()
    problems = sn.verify(tmp_path).problems
    assert [p.partition(":")[0] for p in problems] == ["a.jsonl", "b.csv", "c.parquet"]
    assert "was changed" in problems[0]
    assert "bytes" in problems[1]
    assert "cannot be read" in problems[2]


def test_an_export_again_brings_its_manifest_up_to_date(tmp_path):
    path = tmp_path / "t.jsonl"
    sn.export(FRAME, path)
    first = said(path)["sha256"]
    sn.export(FRAME.assign(answer="new"), path)
    assert said(path)["sha256"] != first
    assert sn.verify(path).ok
    assert sn.verify(tmp_path / ".t.jsonl.manifest").ok


@pytest.mark.parametrize("text", ["", "{", "[]", '{"sha256": 1}', '{"file": "../x"}'])
def test_a_manifest_that_is_none_is_told(tmp_path, text):
    (tmp_path / ".t.jsonl.manifest").write_text(text)
    assert "no manifest" in sn.verify(tmp_path / "t.jsonl").problems[0]


def test_nothing_to_verify_is_an_error_with_the_next_step(tmp_path):
    for place in (tmp_path, tmp_path / "none.jsonl"):
        with pytest.raises(ExportError, match="there is no manifest"):
            sn.verify(place)


def test_none_is_written_where_none_is_wanted(tmp_path):
    sn.export(FRAME, tmp_path / "t.jsonl", manifest=False)
    assert [p.name for p in tmp_path.iterdir()] == ["t.jsonl"]


def test_the_command_leaves_with_1_when_something_differs(tmp_path):
    path = tmp_path / "t.jsonl"
    sn.export(FRAME, path)
    assert CliRunner().invoke(app, ["verify", str(path)]).exit_code == 0
    path.write_text("other")
    result = CliRunner().invoke(app, ["verify", str(path), "--json"])
    assert result.exit_code == 1
    assert json.loads(result.stdout)["files"] == ["t.jsonl"]
