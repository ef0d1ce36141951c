"""Reading what synthetic-data-kit wrote, at whichever step."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from synthnb.errors import DocumentError
from synthnb.fingerprint import content_hash
from synthnb.migration.shapes import UnknownShapeError, rows_of_value

if TYPE_CHECKING:
    import pandas as pd

_LINES = frozenset({".jsonl", ".ndjson"})
_MOST_BYTES = 2_000_000_000


def read_sdk(*paths: str | os.PathLike[str]) -> pd.DataFrame:
    """Read files of synthetic-data-kit as records: one row a pair or conversation.

    Every step's files are known by their shape: ``create`` (qa, summary, cot, cot-enhance,
    multimodal-qa), ``curate``, ``save-as`` (jsonl, alpaca, ft, chatml; a folder of
    ``--storage hf`` where the package ``datasets`` is installed). Texts stay as they are,
    line ends included; the reasoning and the rating travel.

    Args:
        paths: files, or folders of them.

    Returns:
        ``record_id``, ``source`` (the file), ``question``, ``answer``, ``reasoning``,
        ``rating``, ``summary``, ``messages``, as far as the files have them, ``status``
        (``ok``), then columns of theirs.

    Raises:
        DocumentError: a file cannot be read or has none of the shapes.
    """
    import pandas as pd

    rows: list[dict[str, Any]] = []
    for path in map(Path, paths):
        for file in _files(path.expanduser()):
            rows += _rows(file)
    first = ("record_id", "source", "question", "answer", "reasoning", "rating")
    names = dict.fromkeys(name for row in rows for name in row)
    order = [n for n in (*first, "summary", "messages", "status") if n in names]
    order += [n for n in names if n not in order]
    frame = pd.DataFrame(rows, columns=order or list(first), dtype=object)
    if "rating" in frame:
        frame["rating"] = pd.to_numeric(frame["rating"], errors="coerce").astype(
            "Float64"
        )
    return frame


def _files(path: Path) -> list[Path]:
    if not path.exists():
        msg = f"there is no file {path}"
        raise DocumentError(msg, hint="Check the name.")
    if not path.is_dir() or (path / "dataset_info.json").exists():
        return [path]
    found = sorted(p for p in path.iterdir() if p.suffix in {".json", *_LINES})
    if not found:
        msg = f"there is no .json or .jsonl file in {path}"
        raise DocumentError(msg, hint="Name a folder with files of synthetic-data-kit.")
    return found


def _rows(file: Path) -> list[dict[str, Any]]:
    rows = []
    try:
        for number, row in enumerate(_values(file)):
            key = content_hash(
                [file.name, number, row.get("question"), row.get("answer")]
            )
            rows.append({"record_id": key, "source": file.name, **row, "status": "ok"})
    except UnknownShapeError as error:
        msg = f"{file} has none of the shapes that synthetic-data-kit writes"
        hint = "It is known by qa_pairs, cot_examples, conversations, messages, …"
        raise DocumentError(msg, hint=hint) from error
    except (OSError, ValueError, RecursionError) as error:
        msg = f"{file} cannot be read: {error}"
        raise DocumentError(msg, hint="Make it again with the step before.") from error
    return rows


def _values(file: Path) -> Iterator[dict[str, Any]]:
    if file.is_dir():
        for row in _of_datasets(file):
            yield from rows_of_value([row])
        return
    if file.stat().st_size > _MOST_BYTES:
        raise ValueError("it is larger than 2 GB")
    text = file.read_text(encoding="utf-8-sig")
    if file.suffix.lower() not in _LINES:
        yield from rows_of_value(json.loads(text))
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except ValueError as error:
            msg = f"line {number} is no JSON: {error}"
            raise ValueError(msg) from error
        yield from rows_of_value([value])


def _of_datasets(folder: Path) -> Iterator[dict[str, Any]]:
    try:
        from datasets import load_from_disk
    except ImportError:
        msg = f"{folder} was saved by the package datasets, which is not installed"
        raise DocumentError(msg, hint="Run: pip install datasets") from None
    for row in load_from_disk(str(folder)):
        yield dict(row)
