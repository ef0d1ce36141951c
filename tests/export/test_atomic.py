"""The old file or the new one, never half: kills, full disks, folders without rights."""

from __future__ import annotations

import errno
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from synthnb.errors import ExportError
from synthnb.export import atomic, export, verify
from synthnb.export.atomic import replacing

FRAME = pd.DataFrame({"question": ["q"], "answer": ["a"]})

EXPORT_LOOP = """
import sys, pandas as pd
from synthnb.export import export
path = sys.argv[1]
frames = [pd.DataFrame({"question": [f"q{n}"] * 300, "answer": [c * 40] * 300})
          for n, c in enumerate("abc")]
print("ready", flush=True)
while True:
    for frame in frames:
        export(frame, path, "jsonl")
"""


def content(path):
    return sorted(p.name for p in path.iterdir())


@pytest.mark.chaos
@pytest.mark.skipif(os.name == "nt", reason="SIGKILL")
def test_a_kill_leaves_the_old_file_or_the_new_one(tmp_path):
    path = tmp_path / "train.jsonl"
    rng = random.Random(3)
    seen = set()
    for _ in range(4):
        with subprocess.Popen(
            [sys.executable, "-c", EXPORT_LOOP, str(path)], stdout=subprocess.PIPE
        ) as process:
            assert process.stdout
            process.stdout.readline()
            while not path.exists():
                assert process.poll() is None
            for _ in range(rng.randrange(200, 2000)):
                path.stat()  # passes a moment that is never the same
            process.send_signal(signal.SIGKILL)
        lines = path.read_text("utf-8").splitlines()
        assert len(lines) == 300
        assert len(set(lines)) == 1
        seen.add(lines[0])
    assert seen


def test_an_error_while_writing_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text("old")
    for error in (RuntimeError("broken"), KeyboardInterrupt()):
        with pytest.raises(type(error)), replacing(path) as file:  # noqa: PT012
            file.write(b"half")
            raise error
        assert path.read_text() == "old"
        assert content(tmp_path) == ["x.jsonl"]


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        (errno.ENOSPC, "Free some space"),
        (errno.EDQUOT, "quota"),
        (errno.EROFS, "read-only"),
        (errno.EIO, "Choose another path"),
    ],
)
def test_a_failing_disk_leaves_the_old_file_and_says_what_to_do(
    tmp_path, monkeypatch, code, hint
):
    path = tmp_path / "x.jsonl"
    path.write_text("old")

    def fail(_):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(atomic.os, "fsync", fail)
    with pytest.raises(ExportError, match=f"cannot write .*\n.*{hint}"):
        export(FRAME, path)
    assert path.read_text() == "old"
    assert content(tmp_path) == ["x.jsonl"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_an_error_with_a_next_step(tmp_path, monkeypatch):
    open_ = Path.open
    monkeypatch.setattr(Path, "open", lambda _, mode: open_(Path("/dev/full"), mode))
    with pytest.raises(ExportError, match="No space left"):
        export(FRAME, tmp_path / "x.jsonl")


def test_the_file_and_its_folder_reach_the_disk(tmp_path, monkeypatch):
    synced = []
    fsync = os.fsync

    def watch(handle):
        synced.append("folder" if Path(f"/proc/self/fd/{handle}").is_dir() else "file")
        fsync(handle)

    monkeypatch.setattr(atomic.os, "fsync", watch)
    export(FRAME, tmp_path / "x.jsonl", manifest=False)
    if Path("/proc/self/fd").exists():
        assert synced == ["file", "folder"]


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(ExportError, match=r"is a folder\n.*Name a file in it"):
        export(FRAME, tmp_path, "jsonl")


def test_a_file_on_the_way_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(ExportError, match="a file, not a folder"):
        export(FRAME, tmp_path / "file" / "x.jsonl")


@pytest.mark.skipif(
    os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere"
)
def test_a_folder_without_rights_is_an_error_with_a_next_step(tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(
            ExportError, match=r"Permission denied\n.*that you may write to"
        ):
            export(FRAME, tmp_path / "x.jsonl")
    finally:
        tmp_path.chmod(0o700)


def test_missing_folders_are_made_and_a_long_name_is_no_trouble(tmp_path):
    path = tmp_path / "a" / "b" / f"{'x' * 240}.jsonl"
    assert export(FRAME, path).rows == 1
    assert len(content(path.parent)) == 2
    assert verify(path).ok
    with pytest.raises(ExportError, match="shorter file name"):
        export(FRAME, tmp_path / f"{'x' * 300}.jsonl")
    with pytest.raises(ExportError, match="NUL"):
        export(FRAME, tmp_path / "a\0b.jsonl")


@pytest.mark.skipif(os.name == "nt", reason="modes and links")
def test_the_mode_of_the_old_file_and_a_link_are_kept(tmp_path):
    real = tmp_path / "real.jsonl"
    real.write_text("old")
    real.chmod(0o640)
    link = tmp_path / "link.jsonl"
    link.symlink_to(real)
    export(FRAME, link)
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert "old" not in real.read_text()
    export(FRAME, tmp_path / "new.jsonl")
    mask = os.umask(0)
    os.umask(mask)
    assert (tmp_path / "new.jsonl").stat().st_mode & 0o777 == 0o666 & ~mask
