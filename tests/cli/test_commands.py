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
from synthnb.demo import documents_folder
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
        "chunks": 1, "documents": 1, "problems": [], "notes": [], "left_out": [],
        "out": "c.parquet",
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


@pytest.mark.parametrize("suffix", ["parquet", "jsonl", "csv"])
def test_each_kind_of_table_goes_all_the_way(folder, server, suffix):
    model = ("--url", server.base_url, "--model", "fault-model", "--json")
    chunks, records, rated = (f"{n}.{suffix}" for n in ("chunks", "records", "rated"))
    assert call("read", "river.md", "--out", chunks).exit_code == 0
    done = call("generate", chunks, "--pairs", 2, "--out", records, *model)
    assert done.exit_code == 0, done.stderr
    done = call("rate", records, "--out", rated, *model)
    assert done.exit_code == 0, done.stderr
    done = call("export", rated, "t.jsonl", "--format", "chatml", "--no-checks",
                "--duplicates", "--min-rating", 1, "--json")  # fmt: skip
    assert done.exit_code == 0, done.stderr
    assert last_json(done)["kept"] == 2


def test_a_table_of_failed_rows_keeps_them(folder):
    with FaultServer.in_thread(faults=[Fault(400, body={"error": "no"})]) as server:
        call("generate", "rows.jsonl", "--template", "{{ topic }}", "--out", "r.jsonl",
             "--url", server.base_url, "--model", "fault-model")  # fmt: skip
    assert list(pd.read_json("r.jsonl", lines=True)["status"]) == ["refused"] * 2


def test_cells_of_a_table_reach_the_prompt_as_written(folder, server):
    Path("t.csv").write_text("code,word,count\n00501,NA,1\n01234,null,\n")
    Path("t.jsonl").write_text('{"date": "2024-01-05", "modified": "yes"}\n')
    model = ("--url", server.base_url, "--model", "fault-model")
    call("generate", "t.csv", "--template", "{{ code }} {{ word }}", *model)
    call("generate", "t.csv", "--template", "{{ count or 'none' }}", *model)
    call("generate", "t.jsonl", "--template", "{{ date }}", *model)
    assert set(server.stats.by_prompt) == {
        "00501 NA", "01234 null", "1", "none", "2024-01-05"
    }  # fmt: skip


@pytest.mark.parametrize(
    "out", ["out.xlsx", "out", "a.parquet/b.parquet", "rows.jsonl"]
)
def test_a_file_that_cannot_be_written_is_named_before_a_request(folder, server, out):
    Path("a.parquet").write_text("a file, no folder")
    before = Path("rows.jsonl").read_bytes()
    result = call("generate", "rows.jsonl", "--template", "{{ topic }}", "--out", out,
                  "--url", server.base_url, "--model", "fault-model", "--json")  # fmt: skip
    assert result.exit_code == 1
    assert last_json(result)["error"] == "ConfigError"
    assert out in last_json(result)["message"]
    assert server.stats.requests == 0
    assert Path("rows.jsonl").read_bytes() == before


def test_an_export_over_its_own_records_is_refused(folder):
    result = call("export", "rows.jsonl", "./rows.jsonl", "--no-checks", "--duplicates")
    assert result.exit_code == 1
    assert "written over" in result.stderr


def test_answers_to_a_prompt_of_ones_own_can_be_exported(folder):
    frame = pd.DataFrame({"topic": ["a", "b"], "text": ["x", None]})
    frame.assign(record_id=["1", "2"], status="ok").to_parquet("in.parquet")
    result = call("export", "in.parquet", "t.jsonl", "--format", "chatml", "--no-checks",
                  "--prompt", "topic", "--response", "text", "--json")  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert last_json(result)["kept"] == 1
    assert last_json(result)["dropped"]["without prompt or response"] == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("read", "river.md", "--chunk-tokens", "5", "--json"),
        ("read", "--json"),
        ("generate", "river.md", "--nothing", "--json"),
        ("model", "pull", "--nothing", "--json"),
        ("nothing", "--json"),
        ("--nothing", "check", "--json"),
        ("check", "--json"),
        ("demo", "--out", "river.md", "--json"),
        ("generate", "rows.jsonl", "--template", " ", "--local", "--json"),
        (
            "generate",
            "rows.jsonl",
            "--template",
            "x",
            "--pairs",
            2,
            "--local",
            "--json",
        ),
        ("check", "--preset", "openai", "--key-env", "sk-CANARY-1", "--json"),
    ],
)
def test_every_error_is_one_line_of_json(folder, arguments):
    result = call(*arguments)
    assert result.exit_code in {1, 2}
    (line,) = result.stdout.splitlines()
    told = json.loads(line)
    assert told["error"] in {"UsageError", "ConfigError"}
    assert told["message"]
    assert told["next"]
    assert "CANARY" not in result.stdout + result.stderr


def test_the_models_are_listed_for_machines(folder):
    models = last_json(call("model", "list", "--json"))["models"]
    assert models[0]["name"] == "smollm2-135m-instruct"
    assert models[0]["license"] == "Apache-2.0"
    assert models[0]["bytes"] > 10**7


def test_the_version_is_shown():
    from importlib.metadata import version

    assert call("--version").stdout == f"synthnb {version('synthnb')}\n"


def shell(line, **environment):
    command = f'synthnb() {{ "{sys.executable}" -c "from synthnb.cli import main; main()" "$@"; }}'
    return subprocess.run(
        ["/bin/sh", "-c", f"{command}\n{line}"], text=True, encoding="utf-8",
        capture_output=True, timeout=60, env={**os.environ, **environment}, check=False,
    )  # fmt: skip


def test_a_terminal_without_umlauts_ends_no_command(folder):
    Path("Übung.md").write_text(TEXT)
    done = shell("synthnb read Übung.md", PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    done = shell("synthnb read Ä.md --json", PYTHONIOENCODING="ascii")
    assert "Ä.md" in json.loads(done.stdout)["message"]
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_streams_that_take_nothing_give_no_traceback(folder):
    done = shell("synthnb read river.md --json > /dev/full")
    assert done.returncode == 1
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr
    assert shell("synthnb model list >&- 2>&-").returncode == 0
    assert "Traceback" not in shell("synthnb read river.md | true").stderr
    done = shell("synthnb read none.md --json 2>&-")
    assert json.loads(done.stdout)["error"] == "DocumentError"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "holds no row"),
        ("1\n", "line 1 is no JSON object"),
        ("{\n[]\n", "line 1 is no JSON"),
    ],
)
def test_a_table_without_usable_rows_is_named(folder, text, told):
    Path("bad.jsonl").write_text(text)
    result = call(
        "generate", "bad.jsonl", "--template", "{{ a }}", "--url", "localhost:9"
    )
    assert result.exit_code == 1
    assert told in result.stderr


def test_a_table_in_another_encoding_is_named(folder):
    Path("latin.csv").write_bytes("topic\nKöln\n".encode("cp1252"))
    result = call(
        "generate", "latin.csv", "--template", "{{ topic }}", "--url", "localhost:9"
    )
    assert "UTF-8" in result.stderr


def test_no_text_of_others_moves_the_cursor(folder, server):
    Path("a\x1b[2Jb.md").write_text(TEXT)
    result = call("read", "a\x1b[2Jb.md", "none\x1b[2J.md")
    assert result.exit_code == 0
    assert "\x1b" not in result.stdout + result.stderr
    result = call("read", "none\x1b[2J.md")
    assert "\x1b" not in result.stdout + result.stderr
    with FaultServer.in_thread(faults=[Fault(400, body={"error": "\x1b[2J"})]) as other:
        result = call("generate", "rows.jsonl", "--template", "{{ topic }}",
                      "--url", other.base_url, "--model", "fault-model")  # fmt: skip
    assert "\x1b" not in result.stdout + result.stderr


def test_what_was_left_out_of_a_document_is_told(folder):
    manual = documents_folder() / "handbook.pdf"
    told = last_json(call("read", manual, "--json"))
    assert any("a short handbook" in part for part in told["left_out"])
    assert "a short handbook" in call("read", manual).stdout
