"""Writing a whole file or none."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import IO

from synthnb.errors import ExportError

_NAME_KEPT = 40


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Open a new file that becomes ``path`` when the block ends well.

    It is written under a temporary name in the same folder, flushed to the disk, and
    renamed; whoever looks sees the old file or the new one, after a power cut too. When
    the block raises, the old file stays and the temporary one is removed. Missing
    folders are made. A symbolic link keeps pointing to where it does.

    Raises:
        ExportError: the folder cannot be written to, the disk is full, or ``path`` is a
            folder.
    """
    if "\0" in str(path):
        raise ExportError("the path holds a NUL character", hint="Choose another path.")
    target = Path(os.path.realpath(path))
    # The name is cut so that a long one does not grow beyond what a folder can hold.
    temporary = target.with_name(f".{target.name[:_NAME_KEPT]}.{token_hex(4)}.tmp")
    try:
        _refuse_folder(target, path)
        target.parent.mkdir(parents=True, exist_ok=True)
        yield from _written(temporary)
        if target.exists():
            shutil.copymode(target, temporary)
        temporary.replace(target)
        _sync_folder(target.parent)
    except OSError as error:
        raise _explained(error, path) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def _refuse_folder(target: Path, path: Path) -> None:
    if target.is_dir():
        raise ExportError(
            f"{path} is a folder", hint=f"Name a file in it: {path / 'train.jsonl'}"
        )


def _written(temporary: Path) -> Iterator[IO[bytes]]:
    with temporary.open("wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Make the rename last; Windows does so by itself and cannot open a folder."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _explained(error: OSError, path: Path) -> ExportError:
    reason = error.strerror or str(error)
    hints = {
        errno.EACCES: "Choose a folder that you may write to.",
        errno.EPERM: "Choose a folder that you may write to.",
        errno.EROFS: "This file system is read-only: choose another folder.",
        errno.ENOSPC: "Free some space, or choose another disk. The old file is whole.",
        errno.EDQUOT: "Your quota is used up: free some space or choose another disk.",
        errno.ENAMETOOLONG: "Choose a shorter file name.",
        errno.ENOTDIR: "A part of the path is a file, not a folder: choose another.",
        errno.EEXIST: "A part of the path is a file, not a folder: choose another.",
    }
    hint = hints.get(error.errno or 0, "Choose another path. The old file is whole.")
    return ExportError(f"cannot write {path}: {reason}", hint=hint)
