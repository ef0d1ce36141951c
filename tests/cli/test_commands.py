"""The commands, against a real server on this machine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from synthnb.cli.app import app
from synthnb.cli.console import printable
from synthnb.testing import Fault, FaultServer, fault_process

TEXT = (
    "The Danube is the second longest river in Europe. The Danube is 2,850 kilometres "
    "long. The Danube flows through ten countries. The source of the Danube lies in the "
    "Black Forest in Germany. The Danube ends in the Black Sea."
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "river.md").write_text(TEXT)
    (tmp_path / "rows.jsonl").write_text(
        '{"topic": "printers"}\n{"topic": "scanners"}\n'
    )
    return tmp_path


@pytest.fixture
def server():
    with FaultServer.in_thread() as started:
        yield started


def call(*arguments):
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def last_json(result):
    return json.loads(result.stdout.splitlines()[-1])


def test_read_writes_a_table_of_chunks(folder):
    result = call("read", "river.md", "--out", "c.parquet", "--json")
    assert result.exit_code == 0
    assert last_json(result) == {
        "chunks": 1, "documents": 1, "problems": [], "notes": [], "out": "c.parquet"
    }  # fmt: skip
    assert pd.read_parquet("c.parquet")["text"].iloc[0] == TEXT


def test_a_missing_file_is_two_lines_and_exit_status_1(folder):
    result = call("read", "nothing.md")
    assert result.exit_code == 1
    assert result.stderr.startswith("synthnb: ")
    assert "nothing.md" in result.stderr
    assert "→" in result.stderr
    assert "Traceback" not in result.stderr
    told = last_json(call("read", "nothing.md", "--json"))
    assert told["error"] == "DocumentError"
    assert told["next"]


def test_generate_then_export_and_again_without_a_request(folder, server):
    arguments = ("generate", "river.md", "--url", server.base_url, "--model", "fault-model",
                 "--pairs", 2, "--name", "river", "--json")  # fmt: skip
    result = call(*arguments)
    told = last_json(result)
    assert result.exit_code == 0, result.stderr
    assert told["wanted"] == 2
    assert told["requests"] >= 1
    assert Path(told["run"]).name == "river"
    again = last_json(call(*arguments))
    assert again["requests"] == 0
    assert again["ok"] == told["ok"]
    result = call("export", "records.parquet", "t.jsonl", "--format", "chatml",
                  "--no-checks", "--json")  # fmt: skip
    assert result.exit_code == 0, result.stderr
    kept = last_json(result)["kept"]
    lines = Path("t.jsonl").read_text().splitlines()
    assert len(lines) == kept
    assert all("messages" in json.loads(line) for line in lines)


def test_a_prompt_over_the_rows_of_a_table(folder, server):
    result = call("generate", "rows.jsonl", "--template", "Write about {{ topic }}.",
                  "--url", server.base_url, "--model", "fault-model", "--json")  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert set(server.stats.by_prompt) == {
        "Write about printers.",
        "Write about scanners.",
    }
    frame = pd.read_parquet("records.parquet")
    assert list(frame["topic"]) == ["printers", "scanners"]


def test_rate_adds_ratings(folder, server):
    frame = pd.DataFrame(
        {"record_id": ["a", "b"], "question": ["q?", "r?"], "answer": ["x", "y"],
         "status": ["ok", "timeout"]}
    )  # fmt: skip
    frame.to_parquet("in.parquet")
    result = call("rate", "in.parquet", "--url", server.base_url, "--model", "fault-model",
                  "--json")  # fmt: skip
    assert result.exit_code == 0, result.stderr
    rated = pd.read_parquet("rated.parquet")
    assert rated["rating"].notna().tolist() == [True, False]
    assert server.stats.requests == 1


def test_check_ends_with_0_only_when_all_went_well(folder, server):
    good = call("check", server.base_url, "--json")
    assert good.exit_code == 0
    assert last_json(good)["ok"] is True
    bad = call("check", "http://127.0.0.1:9")
    assert bad.exit_code == 1
    assert "FAILED" in bad.stdout


def test_a_run_without_one_good_row_is_no_success(folder):
    with FaultServer.in_thread(faults=[Fault(400, body={"error": "no"})]) as server:
        result = call("generate", "rows.jsonl", "--template", "{{ topic }}",
                      "--url", server.base_url, "--model", "fault-model")  # fmt: skip
    assert result.exit_code == 1
    assert "2 refused" in result.stdout


def test_two_models_at_once_are_refused(folder):
    result = call("generate", "rows.jsonl", "--local", "--url", "localhost:8000")
    assert result.exit_code == 1
    assert "--url and --local name different models" in result.stderr


@pytest.mark.parametrize("name", ["rows.txt", "none.parquet"])
def test_a_table_that_is_none_is_named(folder, name):
    result = call("export", name, "out.jsonl", "--format", "chatml")
    assert result.exit_code == 1
    assert name in result.stderr


def test_ctrl_c_stops_kindly_and_the_command_goes_on_later(folder):
    rows = "".join(f'{{"topic": "#R{i}#"}}\n' for i in range(3000))
    (folder / "many.jsonl").write_text(rows)
    with fault_process("--latency", "0.05", "--max-seconds", "120") as server:
        command = [sys.executable, "-m", "synthnb", "generate", "many.jsonl"]
        command += ["--template", "{{ topic }}", "--url", server.base_url, "--json"]
        command += ["--model", "fault-model", "--concurrency", "4"]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, env=dict(os.environ)
        )
        deadline = time.monotonic() + 30
        while server.stats()["requests"] < 20 and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=30)
        told = json.loads(out.splitlines()[-1])
        assert process.returncode == 130
        assert told["state"] == "stopped"
        assert told["ok"] == told["requests"] == server.stats()["requests"] < 3000


def test_models_are_listed_with_size_and_licence(folder, monkeypatch):
    monkeypatch.setenv("SYNTHNB_CACHE", str(folder / "cache"))
    listed = call("model", "list")
    assert listed.exit_code == 0
    assert "smollm2-135m-instruct" in listed.stdout
    assert "Apache-2.0" in listed.stdout


def test_a_model_file_is_taken_into_the_cache_and_a_wrong_one_is_not(
    folder, monkeypatch
):
    monkeypatch.setenv("SYNTHNB_CACHE", str(folder / "cache"))
    (folder / "mine.gguf").write_bytes(b"GGUF and more")
    told = last_json(call("model", "pull", "mine.gguf", "--json"))
    assert Path(told["path"]).read_bytes() == b"GGUF and more"
    (folder / "wrong.gguf").write_bytes(b"no model")
    wrong = call("model", "pull", "wrong.gguf")
    assert wrong.exit_code == 1
    assert "wrong.gguf" in wrong.stderr


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ü 试", "plain ü 试"),
        ("a\nb\t c", "a b c"),
        ("\x1b[31mred\x1b[0m", "�[31mred�[0m"),
        ("a\u202eb\x00\x07", "a�b��"),
    ],
)
def test_text_of_a_model_cannot_steer_the_terminal(text, shown):
    assert printable(text) == shown
