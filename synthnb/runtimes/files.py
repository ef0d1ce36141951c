"""Files that arrive in the cache: written aside, hashed on the way, renamed when right."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Self

from synthnb.errors import ModelServerError
from synthnb.runtimes.models import models_dir

_PREFIX = "arriving-"


class Arrival:
    """A file being written under a temporary name, with its sha256 so far.

    Args:
        path: the temporary name.
        limit: bytes after which writing is refused; ``None`` for no limit.
    """

    def __init__(self, path: Path, limit: int | None = None) -> None:
        self.path = path
        self.limit = limit
        self.size = 0
        self._hash = hashlib.sha256()
        self._file: IO[bytes] | None = None

    @property
    def sha256(self) -> str:
        """The hash of what was written, in hex."""
        return self._hash.hexdigest()

    def __enter__(self) -> Self:
        """Open the temporary file."""
        self._file = self.path.open("wb")
        return self

    def write(self, piece: bytes) -> None:
        """Write and hash the next piece.

        Raises:
            ModelServerError: more bytes than the limit came.
        """
        assert self._file is not None
        self.size += len(piece)
        if self.limit is not None and self.size > self.limit:
            raise ModelServerError(
                f"the file is larger than the {self.limit} bytes it should have",
                hint="it is not the file we know; nothing was kept",
            )
        self._hash.update(piece)
        self._file.write(piece)

    def __exit__(self, *_: object) -> None:
        """Bring it to the disk and close it."""
        assert self._file is not None
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()


def keep(arrival: Arrival, target: Path, sha256: str) -> None:
    """Give the file its name if its hash is right; else delete it.

    Raises:
        ModelServerError: another hash.
    """
    if arrival.sha256 != sha256.lower():
        arrival.path.unlink(missing_ok=True)
        raise ModelServerError(
            f"{target.name}: sha256 is {arrival.sha256}, expected {sha256}; "
            "it was thrown away",
            hint="the download broke, or the file is another one; check the hash",
        )
    arrival.path.replace(target)


def hash_file(path: Path) -> str:
    """Return the sha256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def arrivals() -> Iterator[Path]:
    """Hold the cache's lock and yield an empty folder for what arrives.

    Two kernels that want the same model fetch it once, and what a killed fetch left
    behind is removed.

    Raises:
        ModelServerError: the cache cannot be written (read-only, full, ...).
    """
    import filelock

    folder = models_dir()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with filelock.FileLock(folder / ".lock"):
            for stale in folder.glob(f"{_PREFIX}*"):
                shutil.rmtree(stale, ignore_errors=True)
            with tempfile.TemporaryDirectory(prefix=_PREFIX, dir=folder) as aside:
                yield Path(aside)
    except OSError as error:
        raise ModelServerError(
            f"cannot write to the model cache {folder}: {error.strerror or error}",
            hint="make room there, or set SYNTHNB_CACHE to a folder with space",
        ) from error
