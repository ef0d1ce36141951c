"""A profile as a short text, for terminals and for readers of plain notebooks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from synthnb.widgets.markup import clip, visible
from synthnb.widgets.profile_blocks import number, percent, spread
from synthnb.widgets.profile_figures import Figures, kept_line, notes, usage_line
from synthnb.widgets.profile_strips import cell_text, sentences

_NAME = 40
_LISTED = 6
_CELLS = 60
_DOCUMENTS = 8
_COLUMN = 12


def as_text(found: Figures) -> str:
    """Return the figures as lines of ``name   figures``."""
    lines = [f"Profile: {kept_line(found)}"]
    lines += [f"{name:<{_COLUMN}}  {text}" for name, text in _lines(found)]
    return "\n".join([*lines, *notes(found)])


def _lines(found: Figures) -> Iterator[tuple[str, str]]:
    for title, key, missing in _TALLIES:
        if found[key] is not None:
            yield title, _tally(found[key], missing)
    for name, length in found["lengths"].items():
        yield (
            line(name, _COLUMN),
            f"{spread(length, 'characters')}{_missing(length, 'empty')}",
        )
    if (rating := found["rating"]) is not None:
        yield "rating", f"{spread(rating, '')}{_missing(rating, 'not rated')}"
    if (twins := found["duplicates"]) is not None:
        groups = f"{twins['groups']:,} group{'' if twins['groups'] == 1 else 's'}"
        yield "duplicates", f"{twins['rows']:,} repeat another row, in {groups}"
    if (language := found["language"]) is not None and language["of"]:
        names = ", ".join(f"{name} {n:,}" for name, n in language["values"][:_LISTED])
        yield (
            "language",
            f"{names} (guessed, {language['looked_at']:,} of {language['of']:,} rows)",
        )
    if found["shares"]:
        parts = (
            f"{n} {percent(s['yes'], s['known'])}" for n, s in found["shares"].items()
        )
        yield "shares", ", ".join(parts)
    if (usage := found["usage"]) is not None:
        yield "tokens", _tokens(usage)
    if (coverage := found["coverage"]) is not None:
        yield from _coverage(coverage)


_TALLIES = (
    ("status", "status", "missing"),
    ("decision", "decision", "undecided"),
    ("finish", "finish_reason", "missing"),
    ("model", "model", "missing"),
)


def line(text: str, most: int = _NAME) -> str:
    """Return any text as one short line that cannot move a terminal's cursor."""
    return clip(visible(" ".join(text[: 4 * most].split())), most)


def _tally(counted: Mapping[str, Any], missing: str) -> str:
    parts = [f"{line(name)} {n:,}" for name, n in counted["values"][:_LISTED]]
    rest = len(counted["values"][_LISTED:]) + counted["others"]
    if rest:
        parts.append(f"{rest:,} others")
    if counted["missing"]:
        parts.append(f"{missing} {counted['missing']:,}")
    return ", ".join(parts) or "no values"


def _missing(found: Mapping[str, Any], word: str) -> str:
    return f", {found['missing']:,} {word}" if found["missing"] else ""


def _tokens(usage: Mapping[str, Any]) -> str:
    sums = f"prompt {usage['prompt']:,}, completion {usage['completion']:,}"
    return f"{sums}, {number(usage['per_kept_row'])} a kept row ({usage_line(usage)})"


def _coverage(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for i, said in enumerate(sentences(found)):
        yield "" if i else "coverage", said
    for strip in found["strips"][:_DOCUMENTS]:
        cells = " ".join(cell_text(cell) for cell in strip["cells"][:_CELLS])
        more = " …" if len(strip["cells"]) > _CELLS else ""
        yield "", f"{line(strip['source'])}: {cells}{more}"
    if (rest := len(found["strips"]) - _DOCUMENTS) > 0:
        yield "", f"… and {rest:,} more documents"
