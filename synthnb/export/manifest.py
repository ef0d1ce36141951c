"""What an export is, said beside it: checksum, counts, recipe, versions.

The name begins with a dot: ``datasets.load_dataset`` takes every other file of a folder for
data. It names no path of the machine and holds nothing of a row.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from synthnb.errors import ExportError
from synthnb.export.atomic import replacing
from synthnb.fingerprint import content_hash

SUFFIX = ".manifest"
_FORM = 1
_PACKAGES = ("synthnb", "pandas", "pyarrow")
_BLOCK = 1 << 20
_LONGEST, _CUT = 240, 50
"""Bytes of a name to which the suffix can still be added; characters that are kept."""


@dataclass(frozen=True, slots=True)
class Verified:
    """What ``verify`` found.

    Attributes:
        files: names of the files that were checked.
        problems: what does not agree, in words; empty where all is as it was exported.
    """

    files: tuple[str, ...]
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether every file is the one that was exported."""
        return not self.problems

    def __str__(self) -> str:
        """Return it as text: a line a problem."""
        if self.problems:
            return "\n".join(self.problems)
        return f"{len(self.files)} of {len(self.files)} files are as they were exported"


def write_manifest(
    target: Path, counts: Mapping[str, Any], attrs: Mapping[str, Any]
) -> Path:
    """Write the manifest of a file that was just exported.

    Args:
        target: the file.
        counts: format, rows and what was left out or changed.
        attrs: those of the frame: ``run_folder``, ``dropped``, where they are there.

    Raises:
        ExportError: it cannot be written.
    """
    digest, size = _digest(target)
    value = {
        "manifest": _FORM,
        "file": target.name,
        "sha256": digest,
        "bytes": size,
        **counts,
        **_origin(attrs),
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {"python": platform.python_version(), **_versions()},
    }
    place = manifest_of(target)
    with replacing(place) as file:
        file.write(json.dumps(value, ensure_ascii=False, indent=2).encode() + b"\n")
    return place


def manifest_of(target: Path) -> Path:
    """Return where the manifest of a file stands; a very long name is cut."""
    name = target.name
    if len(os.fsencode(name)) > _LONGEST:
        name = f"{name[:_CUT]}-{content_hash(name)}"
    return target.with_name(f".{name}{SUFFIX}")


def verify(path: str | os.PathLike[str]) -> Verified:
    """Check that exported files are what was exported.

    Args:
        path: a file, its manifest, or a folder of them.

    Raises:
        ExportError: there is no manifest there.
    """
    place = Path(path).expanduser()
    if place.is_dir():
        manifests = sorted(place.glob(f".*{SUFFIX}"))
    else:
        manifests = [place if place.suffix == SUFFIX else manifest_of(place)]
    found = [m for m in manifests if m.is_file()]
    if not found:
        msg = f"there is no manifest {'in' if place.is_dir() else 'beside'} {place}"
        hint = "synthnb.export writes one beside each file; was it moved without?"
        raise ExportError(msg, hint=hint)
    problems = [problem for m in found if (problem := _problem(m))]
    names = (m.name.removeprefix(".").removesuffix(SUFFIX) for m in found)
    return Verified(tuple(names), tuple(problems))


def _problem(place: Path) -> str:
    try:
        said = json.loads(place.read_text(encoding="utf-8"))
        wanted = said["sha256"], said["bytes"]
        # The name only: a manifest sends nobody to another folder.
        target = place.with_name(Path(said["file"]).name)
    except (OSError, ValueError, KeyError, TypeError):
        return f"{place.name}: it is no manifest of synthnb's"
    try:
        digest, size = _digest(target)
    except OSError as error:
        return f"{target.name}: it cannot be read: {error.strerror or error}"
    if size != wanted[1]:
        return f"{target.name}: it has {size:,} bytes, exported were {wanted[1]:,}"
    if digest != wanted[0]:
        return f"{target.name}: it was changed since it was exported"
    return ""


def _digest(path: Path) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
            size += len(block)
    return digest.hexdigest(), size


def _origin(attrs: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is known of how the rows came about; a path only by its last name."""
    origin: dict[str, Any] = {}
    if isinstance(dropped := attrs.get("dropped"), Mapping):
        origin["dropped"] = {str(reason): int(n) for reason, n in dropped.items()}
    folder = attrs.get("run_folder")
    if not isinstance(folder, str):
        return origin
    origin["run"] = Path(folder).name
    try:
        frozen = json.loads((Path(folder) / "recipe.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return origin
    if isinstance(frozen, dict):
        origin["recipe"] = content_hash(frozen.get("recipe", frozen), size=16)
        origin |= {k: frozen[k] for k in ("model",) if isinstance(frozen.get(k), str)}
    return origin


def _versions() -> dict[str, str]:
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
