"""Every block of docs/testing.md does what the text says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import synthnb
from synthnb.testing import certificates

GUIDE = Path(__file__).parents[2] / "docs" / "testing.md"
BLOCKS = re.findall(
    r"^```(\w+)\n(.*?)^```$", GUIDE.read_text(), re.MULTILINE | re.DOTALL
)
SETTINGS = """[pytest]
asyncio_mode = auto
asyncio_default_fixture_loop_scope = function
filterwarnings = error
addopts = -p no:cacheprovider
"""
SOURCE = str(Path(synthnb.__file__).parents[1])


def test_the_guide_has_blocks_of_known_kinds_only():
    assert {language for language, _ in BLOCKS} == {"python", "bash"}
    assert all("\ndef test_" in code or "\nasync def test_" in code
               for language, code in BLOCKS if language == "python")  # fmt: skip


def test_the_python_blocks_pass_as_test_files(tmp_path, monkeypatch):
    codes = [code for language, code in BLOCKS if language == "python"]
    quick = [code for code in codes if ".kill()" not in code]
    assert len(quick) == len(codes) - 1
    run_as_tests(quick, tmp_path, monkeypatch)


@pytest.mark.chaos
def test_the_block_that_kills_passes(tmp_path, monkeypatch):
    run_as_tests(
        [code for _, code in BLOCKS if ".kill()" in code], tmp_path, monkeypatch
    )


def run_as_tests(codes, folder, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", SOURCE)
    monkeypatch.setenv("SYNTHNB_HOME", str(folder / "home"))
    for number, code in enumerate(codes):
        (folder / f"test_block_{number}.py").write_text(code)
    (folder / "pytest.ini").write_text(SETTINGS)
    command = [sys.executable, "-m", "pytest", "-q", "--basetemp", folder / "base"]
    if not certificates.has_openssl():
        command += ["-k", "not nobody_signed"]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    passed = int(re.search(r"(\d+) passed", done.stdout)[1])
    assert passed >= sum(code.count("def test_") for code in codes) - 1


@pytest.mark.parametrize(
    "code", [code for language, code in BLOCKS if language == "bash"]
)
def test_a_shell_block_runs(code, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", SOURCE)
    command = code.replace("python -m", f"{sys.executable} -m", 1)
    with subprocess.Popen(
        ["/bin/sh", "-c", command], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        ready = json.loads(process.stdout.readline())
        process.stdin.close()
        assert process.wait(30) == 0
    assert ready["base_url"].startswith("http://127.0.0.1:")
