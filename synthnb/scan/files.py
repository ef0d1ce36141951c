"""Finds notebooks in folders and reads them, whatever the files turn out to be."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from synthnb.errors import DocumentError
from synthnb.scan.pieces import is_notebook

_MOST_BYTES = 2**30
_SKIPPED = frozenset({".git", "node_modules"})


def find_notebooks(
    paths: Iterable[str | Path], on_error: Callable[[OSError], None] | None = None
) -> Iterator[Path]:
    """Yield the named files, and each ``*.ipynb`` of the named folders, once.

    Checkpoints are looked at too; ``.git``, ``node_modules`` and environments that hold a
    ``pyvenv.cfg`` are not. Links to folders are not followed.

    Args:
        paths: files, taken as they are, and folders.
        on_error: told of each folder that cannot be listed.
    """
    seen: set[str] = set()
    for path in map(Path, paths):
        for found in _below(path, on_error) if path.is_dir() else (path,):
            real = os.path.realpath(found)
            if real not in seen:
                seen.add(real)
                yield found


def _below(folder: Path, on_error: Callable[[OSError], None] | None) -> Iterator[Path]:
    for place, folders, files in os.walk(folder, onerror=on_error):
        folders[:] = sorted(
            name
            for name in folders
            if name not in _SKIPPED and not Path(place, name, "pyvenv.cfg").exists()
        )
        yield from (Path(place, f) for f in sorted(files) if f.endswith(".ipynb"))


def load_notebook(path: Path) -> dict[str, Any]:
    """Return a notebook as it stands in its file; an empty file is an empty notebook.

    Raises:
        DocumentError: it cannot be read, or is no notebook. The error carries nothing of
            the file's text, as those of the standard library do.
    """
    text, problem = _read(path)
    value: Any = None
    if problem is None:
        value, problem = _parsed(text)
    if problem is None and not is_notebook(value):
        problem = "it is JSON, but no notebook"
    if problem is not None:
        raise DocumentError(
            f"{path} cannot be scanned: {problem}",
            hint="Name a saved notebook (.ipynb), or a folder that holds some.",
        )
    notebook: dict[str, Any] = value
    return notebook


# Errors of the standard library end in these two: `JSONDecodeError` and
# `UnicodeDecodeError` keep the whole text, and a traceback would show it.


def _read(path: Path) -> tuple[str, str | None]:
    """Return the file's text, or why there is none."""
    try:
        if not path.is_file():
            return "", _what_it_is(path)
        if path.stat().st_size > _MOST_BYTES:
            return "", "it is larger than 1 GiB"
        return path.read_bytes().decode("utf-8-sig"), None
    except UnicodeDecodeError:
        return "", "it is not UTF-8"
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        return "", getattr(error, "strerror", None) or "its name cannot be used"


def _parsed(text: str) -> tuple[Any, str | None]:
    """Return the text's value, or why there is none."""
    if not text.strip():
        return {"cells": []}, None
    try:
        return json.loads(text), None
    except json.JSONDecodeError as error:
        return None, f"it is no JSON (line {error.lineno})"
    except (RecursionError, ValueError):
        return None, "it is no JSON that can be read"


def _what_it_is(path: Path) -> str:
    if path.is_dir():
        return "it is a folder"
    return "it is no file" if path.exists() else "there is no such file"
