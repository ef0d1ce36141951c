"""JSON, JSON lines and notebooks as text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from synthnb.documents.plain import clean, decode
from synthnb.errors import DocumentError
from synthnb.records import Document

_HINT = "Open it in an editor and mend it, or leave it out."
_SHOWN = 5


def read_json(data: bytes, source: str) -> Document:
    """Read a JSON file: objects as ``key: value`` paragraphs, all else indented."""
    text, notes = decode(data)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DocumentError(f"no JSON: {error}", hint=_HINT) from error
    listed = value if isinstance(value, list) else [value]
    if all(isinstance(item, dict) for item in listed):
        body = "\n\n".join(map(_paragraph, listed))
    else:
        body = json.dumps(value, ensure_ascii=False, indent=2)
    body, more = clean(body)
    return Document(source, body, (), "application/json", notes=(*notes, *more))


def read_json_lines(data: bytes, source: str) -> Document:
    """Read JSON lines as paragraphs; lines that are none are named and left out."""
    text, notes = decode(data)
    parts, bad = [], []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            bad.append(number)
            continue
        as_json = json.dumps(value, ensure_ascii=False)
        parts.append(_paragraph(value) if isinstance(value, dict) else as_json)
    if bad and not parts:
        raise DocumentError(f"line {bad[0]} is no JSON, and no other is", hint=_HINT)
    if bad:
        shown = ", ".join(map(str, bad[:_SHOWN])) + (", …" if len(bad) > _SHOWN else "")
        notes = (*notes, f"{len(bad)} lines are no JSON and were left out: {shown}")
    body, more = clean("\n\n".join(parts))
    return Document(source, body, (), "application/x-ndjson", notes=(*notes, *more))


def read_notebook(data: bytes, source: str) -> Document:
    """Read a Jupyter notebook: its texts, and its code in fences; no output."""
    text, notes = decode(data)
    try:
        cells = json.loads(text)["cells"]
        language = _language(json.loads(text))
        parts = list(_cells(cells, language))
        outputs = sum(len(cell.get("outputs", ())) for cell in cells)
    except (
        ValueError,
        RecursionError,
        LookupError,
        TypeError,
        AttributeError,
    ) as error:
        raise DocumentError("no Jupyter notebook (format 4)", hint=_HINT) from error
    body, more = clean("\n\n".join(parts))
    left_out = (f"{outputs} outputs left out",) if outputs else ()
    return Document(
        source, body, (), "application/x-ipynb+json", (*notes, *more), left_out
    )


def _cells(cells: list[Mapping[str, Any]], language: str) -> Iterator[str]:
    for cell in cells:
        given = cell["source"]
        text = ("".join(given) if isinstance(given, list) else str(given)).strip("\n")
        if not text.strip():
            continue
        if cell["cell_type"] == "code":
            fence = "`" * max(3, _longest_run(text) + 1)
            yield f"{fence}{language}\n{text}\n{fence}"
        else:
            yield text


def _language(notebook: Mapping[str, Any]) -> str:
    info = notebook.get("metadata", {}).get("language_info", {})
    name = info.get("name", "python") if isinstance(info, Mapping) else "python"
    return name if isinstance(name, str) and name.isalnum() else "python"


def _longest_run(text: str) -> int:
    longest = run = 0
    for character in text:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    return longest


def _paragraph(value: Mapping[str, Any]) -> str:
    lines = []
    for key, member in value.items():
        if member is None:
            continue
        is_text = isinstance(member, str)
        shown = member if is_text else json.dumps(member, ensure_ascii=False)
        lines.append(f"{key}: {shown}")
    return "\n".join(lines)
