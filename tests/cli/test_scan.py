"""``synthnb scan``, as a person and as a hook before a commit call it."""

from __future__ import annotations

import json
import random
import string
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from synthnb.cli.app import app

TOP = Path(__file__).parents[2]


def call(*arguments):
    result = CliRunner().invoke(app, ["scan", *map(str, arguments)])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def told(result):
    (line,) = result.stdout.splitlines()
    return json.loads(line)


@pytest.fixture
def key():
    drawn = random.Random(7)
    return "gsk_" + "".join(
        drawn.choice(string.ascii_letters + string.digits) for _ in range(52)
    )


@pytest.fixture
def notebook(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(name, source="1 + 1"):
        cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": source}
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"nbformat": 4, "metadata": {}, "cells": [cell]}))
        return path

    return write


def test_a_clean_notebook_is_status_0(notebook):
    result = call(notebook("a.ipynb"))
    assert (result.exit_code, result.stdout) == (0, "no key found in 1 notebook\n")
    assert told(call("a.ipynb", "--json")) == {
        "findings": [], "notebooks": 1, "problems": [],
    }  # fmt: skip


def test_a_key_is_status_1_with_place_and_advice(notebook, key):
    result = call(notebook("a.ipynb", f"x = 1\nlogin('{key}')"))
    assert result.exit_code == 1
    where, advice, summary = result.stdout.splitlines()
    assert where.startswith(
        "a.ipynb: cell 1, source, line 2, column 8: Groq key, 40 to 79"
    )
    assert advice.startswith("  → Revoke the key where it was made; then take it out")
    assert summary == "1 key found in 1 notebook"
    assert not any(key[i : i + 6] in result.output for i in range(len(key) - 5))


def test_machines_hear_the_same(notebook, key):
    result = call(notebook("a.ipynb", key), "--json")
    assert result.exit_code == 1
    (found,) = told(result)["findings"]
    assert (found["path"], found["cell"], found["line"]) == ("a.ipynb", 1, 1)
    assert not any(key[i : i + 6] in result.stdout for i in range(len(key) - 5))


def test_a_folder_is_walked_with_its_checkpoints(notebook, key):
    notebook("books/clean.ipynb")
    notebook("books/.ipynb_checkpoints/a-checkpoint.ipynb", key)
    notebook("books/deep/er/b.ipynb", key)
    notebook("books/notes.txt", key)
    for name in (".git/c.ipynb", "node_modules/d.ipynb", "env/lib/e.ipynb"):
        notebook(f"books/{name}", key)
    Path("books/env/pyvenv.cfg").touch()
    result = told(call("books", "--json"))
    assert result["notebooks"] == 3
    assert [found["path"] for found in result["findings"]] == [
        "books/.ipynb_checkpoints/a-checkpoint.ipynb", "books/deep/er/b.ipynb",
    ]  # fmt: skip


def test_a_circle_of_links_is_walked_once(notebook, key):
    path = notebook("books/a.ipynb", key)
    Path("books/again").symlink_to(Path("books").resolve())
    Path("books/b.ipynb").symlink_to(path.resolve())
    result = told(call("books", "books/a.ipynb", "books/again", "--json"))
    assert result["notebooks"] == 1


def test_an_empty_folder_is_no_error(tmp_path):
    result = call(tmp_path)
    assert (result.exit_code, result.stdout) == (0, "no key found in 0 notebooks\n")


def test_what_cannot_be_read_is_status_2_and_stops_nothing(notebook, key):
    Path("broken.ipynb").write_text('{"cells": [')
    result = call("broken.ipynb", "none.ipynb", notebook("a.ipynb", key))
    assert result.exit_code == 2
    assert "broken.ipynb: cannot be scanned: it is no JSON (line 1)" in result.stdout
    assert "none.ipynb: cannot be scanned: there is no such file" in result.stdout
    assert result.stdout.endswith("1 key found in 3 notebooks, 2 not read\n")
    problems = told(call("broken.ipynb", "--json"))["problems"]
    assert problems == [
        {"path": "broken.ipynb", "message": "cannot be scanned: it is no JSON (line 1)"}
    ]


def test_no_argument_is_a_usage_error():
    result = call()
    assert result.exit_code == 2
    assert "Missing argument" in result.output


def test_names_of_others_move_no_cursor(notebook, key):
    result = call(notebook("a\x1b[2Jb.ipynb", key))
    assert result.exit_code == 1
    assert "\x1b" not in result.output


def test_the_commands_environment_is_looked_for(notebook, monkeypatch):
    monkeypatch.setenv("OUR_PASSWORD", "correct horse battery")
    result = call(notebook("a.ipynb", "'correct horse battery'"))
    assert result.exit_code == 1
    assert "environment variable OUR_PASSWORD" in result.stdout


def test_the_hook_for_other_repositories_calls_this_command(notebook, key):
    text = (TOP / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    lines = dict(
        line.strip(" -").split(": ", 1) for line in text.splitlines() if ": " in line[1:]
        and not line.startswith("#")
    )  # fmt: skip
    assert lines["id"] == "synthnb-scan"
    assert lines["types"] == "[jupyter]"
    program, *arguments = lines["entry"].split()
    assert program == "synthnb"
    done = subprocess.run(
        [sys.executable, "-m", program, *arguments, notebook("a.ipynb", key)],
        capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert "Groq key" in done.stdout
