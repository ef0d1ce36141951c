"""The built wheel, installed in an empty environment somewhere else."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import synthnb

TOP = Path(__file__).parents[2]
SOURCE = Path(synthnb.__file__).parent

pytestmark = [pytest.mark.wheel, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation"]
    subprocess.run([*command, "--outdir", out, TOP], check=True, capture_output=True)
    (made,) = out.glob("*.whl")
    return made


def test_it_holds_every_file_of_the_package(wheel):
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    for path in SOURCE.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            assert path.relative_to(SOURCE.parent).as_posix() in held
    assert not [name for name in held if name.startswith(("tests/", "bench/"))]


def test_it_works_in_an_empty_environment(wheel, tmp_path):
    python = tmp_path / "env" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    subprocess.run(
        [python, "-m", "pip", "install", "--quiet", f"{wheel}[documents]",
         "pytest", "pytest-asyncio", "pytest-timeout", "hypothesis"],
        check=True,
    )  # fmt: skip
    command = [
        python,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-c",
        TOP / "pyproject.toml",
    ]
    parts = ("engine", "store", "frames", "recipes", "documents", "export", "cli")
    done = subprocess.run(
        [*command, *(TOP / "tests" / part for part in parts)],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    where = subprocess.run(
        [python, "-c", "import synthnb; print(synthnb.__file__)"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert str(tmp_path) in where
