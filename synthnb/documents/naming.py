"""The short name of a file, which its rows carry as their source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path


def short_name(path: Path, anchor: Path, root: Path | None) -> str:
    """Name a file from the root or current folder, else from what was named.

    The name does not depend on the other arguments, so that adding one changes no id,
    and it shows no folder that the person did not name.
    """
    start = Path.cwd() if root is None else root
    if not path.is_relative_to(start):
        start = anchor.parent
    return path.relative_to(start).as_posix()


def with_unique_names(
    files: Sequence[tuple[Path, str]],
) -> list[tuple[Path, str]]:
    """Lengthen equal names by the folders above until they differ."""
    counts = Counter(name for _, name in files)
    found = list(files)
    while repeated := {name for name, n in counts.items() if n > 1}:
        found = [
            (path, _longer(path, name) if name in repeated else name)
            for path, name in found
        ]
        counts = Counter(name for _, name in found)
    return found


def _longer(path: Path, name: str) -> str:
    parts = path.parts
    wanted = len(Path(name).parts) + 1
    return path.as_posix() if wanted >= len(parts) else "/".join(parts[-wanted:])
