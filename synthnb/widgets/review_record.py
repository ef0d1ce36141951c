"""One record as the reviewer reads it: fields, source with its evidence, provenance."""

from __future__ import annotations

import re
from typing import Any

from synthnb.frames import COLUMNS, plain
from synthnb.widgets.review_rows import Rows
from synthnb.widgets.review_text import FIELD, cut, mended, text_of

AROUND = 4_000
"""The most characters that are shown before, and after, the evidence."""
_MOST_OTHERS = 24
_VALUE = 2_000
_LABELS = {
    "source": "Source",
    "page": "Page",
    "start": "First character",
    "end": "Last character",
    "chunk_id": "Chunk",
    "record_id": "Record",
    "step": "Recipe",
    "row_id": "Row",
    "sample_index": "Sample",
    "model": "Model",
    "reasoning": "Reasoning",
    "prompt_tokens": "Prompt tokens",
    "completion_tokens": "Answer tokens",
    "attempts": "Attempts",
    "finish_reason": "Finish reason",
    "repaired": "JSON repaired",
    "adapted": "Adapted",
    "grounded": "Evidence in the chunk",
}
_SHOWN_ELSEWHERE = {column.name for column in COLUMNS} | {"text", "input_text"}


def card(rows: Rows, place: int) -> dict[str, Any]:
    """Return all that is shown of one record, but for its place in the view."""
    state = rows.state(place)
    decided = None
    if state.decision:
        told = {"decision": state.decision, "by": state.decided_by}
        decided = {**told, "at": state.decided_at}
    rating = rows.row(place, None)["rating"]
    return {
        "id": rows.key(place),
        "fields": [_field(rows, place, name) for name in rows.fields],
        "source": source(rows, place),
        "rating": rating,
        "reason": _told(rows, place, "rating_reason"),
        "provenance": provenance(rows, place),
        "status": _told(rows, place, "status"),
        "detail": _told(rows, place, "detail"),
        "decided": decided,
        "tags": [mended(tag) for tag in state.tags],
        "stars": state.stars,
        "note": mended(state.note),
    }


def source(rows: Rows, place: int) -> dict[str, Any] | None:
    """Return the chunk with its evidence marked; ``None`` where there is neither.

    ``exact`` is true where the evidence stands in the chunk letter for letter, at the
    place that the record names or, where that is wrong or unknown, wherever it is found.
    ``mark`` is empty where there is no evidence, or nothing like it in the chunk.
    """
    name = next(
        (n for n in ("text", "input_text") if rows.has(n) and n not in rows.fields), ""
    )
    chunk = text_of(rows.cell(place, name)) if name else ""
    evidence = text_of(rows.cell(place, "evidence"))
    if not chunk and not evidence:
        return None
    label = _label(rows, place)
    if not chunk:
        mark = cut(evidence, AROUND)
        told = {"before": "", "mark": mark, "after": "", "exact": False}
        return {"label": label, **told}
    span, exact = _span(rows, place, chunk, evidence)
    if span is None:
        before, after = cut(chunk[:AROUND], AROUND), cut(chunk[AROUND:], AROUND)
        return {
            "label": label,
            "before": before,
            "mark": "",
            "after": after,
            "exact": False,
        }
    start, end = span
    return {
        "label": label,
        "before": _end_of(chunk[:start]),
        "mark": cut(chunk[start:end], AROUND),
        "after": cut(chunk[end:], AROUND),
        "exact": exact,
    }


def provenance(rows: Rows, place: int) -> list[list[str]]:
    """Return label and value of all that says how the record came to be."""
    found = [
        [label, cut(text_of(value), _VALUE)]
        for name, label in _LABELS.items()
        if name not in rows.fields
        and (value := rows.cell(place, name)) not in (None, "", False)
    ]
    others = [
        str(name)
        for name in rows.records.df.columns
        if name not in _SHOWN_ELSEWHERE and name not in rows.fields
    ]
    for name in others[:_MOST_OTHERS]:
        value = rows.cell(place, name)
        if value not in (None, "", []):
            found.append([cut(name, 80), cut(text_of(value), _VALUE)])
    if len(others) > _MOST_OTHERS:
        found.append(["More columns", f"{len(others) - _MOST_OTHERS} in the frame"])
    return found


def _field(rows: Rows, place: int, name: str) -> dict[str, Any]:
    now, before = rows.shown(place, name), rows.original(place, name)
    text = text_of(now)
    left = len(text) - FIELD
    return {
        "name": mended(name),
        "text": mended(text[:FIELD]),
        "was": None if now == before else mended(text_of(before)[:FIELD]),
        "cut": left if left > 0 else None,
    }


def _told(rows: Rows, place: int, name: str) -> str | None:
    value = rows.cell(place, name)
    return None if value is None else cut(text_of(value), _VALUE)


def _label(rows: Rows, place: int) -> str:
    name, page = rows.cell(place, "source"), rows.cell(place, "page")
    label = "" if name is None else cut(str(name), 300)
    if page is not None:
        label = f"{label}, page {text_of(page)}" if label else f"page {text_of(page)}"
    return label


def _span(
    rows: Rows, place: int, chunk: str, evidence: str
) -> tuple[tuple[int, int] | None, bool]:
    """Return where the evidence stands in the chunk, and whether letter for letter."""
    if not evidence.strip():
        return None, False
    offset, first, last = (
        rows.cell(place, n) for n in ("start", "evidence_start", "evidence_end")
    )
    # Columns of a person's own may bear these names and hold anything.
    if all(isinstance(n, int | float) for n in (offset, first, last)):
        start, end = int(first - offset), int(last - offset)
        if 0 <= start < end <= len(chunk) and chunk[start:end] == evidence:
            return (start, end), True
    at = chunk.find(evidence)
    if at >= 0:
        return (at, at + len(evidence)), True
    return _loosely(chunk, evidence), False


def _loosely(chunk: str, evidence: str) -> tuple[int, int] | None:
    """Find words that are parted by other white space than in the evidence."""
    if len(evidence) > AROUND:
        return None
    words = r"\s+".join(map(re.escape, evidence.split()))
    found = re.search(words, chunk, re.IGNORECASE)
    return found.span() if found else None


def _end_of(text: str) -> str:
    text = mended(text)
    return text if len(text) <= AROUND else f"…{text[1 - AROUND :]}"


def duplicate_key(rows: Rows, place: int) -> Any:
    """Return the ``record_id`` of the record that a row repeats."""
    return plain(rows.cell(place, "duplicate_of"))
