"""Looks for keys in a notebook."""

from __future__ import annotations

import bisect
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from synthnb.scan.contexts import CONTEXT_RULES, is_secret, names_a_secret
from synthnb.scan.environment import EnvironmentRules
from synthnb.scan.files import load_notebook
from synthnb.scan.finding import Finding, advice_for, length_class
from synthnb.scan.pieces import Piece, pieces_of
from synthnb.scan.rules import RULES

_Span = tuple[int, int, str]
_TAKEN = "\x00"
_LONGEST_NAME = 1024
_WIDGET = "filled Password widget"
_ASSIGNED = "value assigned to the name of a secret"


def scan_notebook(
    path: str | Path, *, environ: Mapping[str, str] | None = None
) -> tuple[Finding, ...]:
    """Find key-like strings in a saved notebook: cells, outputs, metadata, widget state.

    Examples:
        >>> import synthnb as sn
        >>> for found in sn.scan_notebook("analysis.ipynb"):
        ...     print(found, found.advice)

    Args:
        path: the notebook; any version of its format.
        environ: environment variables whose values are looked for too, where a name ends
            in ``_API_KEY``, ``_TOKEN``, ``SECRET`` or ``PASSWORD``; default: this
            process's.

    Returns:
        The findings, in the notebook's order. None of them holds a character of a key.

    Raises:
        DocumentError: the file cannot be read, or is no notebook.
    """
    scanner = _Scanner(os.environ if environ is None else environ)
    notebook = load_notebook(Path(path))
    return tuple(scanner.findings(str(path), pieces_of(notebook)))


class _Scanner:
    """All rules, those of this machine's environment too."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environment = EnvironmentRules(environ)

    def findings(self, path: str, pieces: Iterator[Piece]) -> Iterator[Finding]:
        path = self._shown(path)
        for piece in pieces:
            spans = self._spans(piece)
            if not spans:
                continue
            place = self._shown(piece.place)
            cell_id = piece.cell_id and self._shown(piece.cell_id)
            breaks = [m.start() for m in re.finditer("\n", piece.text)]
            for start, end, kind in spans:
                line = bisect.bisect_left(breaks, start)
                column = start - (breaks[line - 1] if line else -1)
                yield Finding(
                    path=path,
                    cell=piece.cell,
                    cell_id=cell_id,
                    place=place,
                    line=line + 1,
                    column=column,
                    kind=kind,
                    length=length_class(end - start),
                    advice=advice_for(piece.place, kind),
                )

    def _spans(self, piece: Piece) -> list[_Span]:
        if piece.password:
            return [(0, len(piece.text), _WIDGET)]
        spans = self._in_text(piece.text, shown=piece.place.startswith("output"))
        if not spans and (span := _assigned(piece)):
            return [span]
        return spans

    def _in_text(self, text: str, *, shown: bool) -> list[_Span]:
        """Return what the rules find, in the text's order, no place twice."""
        found = list(_without_overlap(self._environment.spans(text)))
        text = _covered(text, found)
        folded = _folded(text)
        for rule in (*RULES, *CONTEXT_RULES):
            if rule.outputs_only and not shown:
                continue
            spans = ((*span, rule.kind) for span in rule.spans(text, folded))
            new = list(_without_overlap(spans))
            if new:
                found += new
                text = _covered(text, new)
        return sorted(found)

    def _shown(self, name: str) -> str:
        """Return a name from outside without any key that it is made of."""
        for start, end, _ in reversed(self._in_text(name, shown=True)):
            name = f"{name[:start]}[key]{name[end:]}"
        return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"


def _assigned(piece: Piece) -> _Span | None:
    """Return the whole value of an entry that is named like a secret."""
    value = piece.text.strip()
    for name in (piece.name, piece.label.rstrip(": ")):
        strong = names_a_secret(name)
        if strong is not None and is_secret(value, strong=strong):
            return 0, len(piece.text), _ASSIGNED
    return None


def _without_overlap(spans: Iterator[_Span]) -> Iterator[_Span]:
    # The longer values come first; a part of one that was found is none of its own.
    taken: list[tuple[int, int]] = []
    for start, end, kind in spans:
        at = bisect.bisect(taken, (start, end))
        before = at and taken[at - 1][1] > start
        after = at < len(taken) and taken[at][0] < end
        if not before and not after:
            taken.insert(at, (start, end))
            yield start, end, kind


def _folded(text: str) -> str:
    """Return the text in small letters, each at its own place."""
    folded = text.lower()
    if len(folded) == len(text):
        return folded
    return "".join(c.lower() if c.isascii() else c for c in text)  # a Turkish İ is two


def _covered(text: str, spans: list[_Span]) -> str:
    """Return the text with what was found made unreadable for the rules that follow."""
    parts, last = [], 0
    for start, end, _ in sorted(spans):
        parts += [text[last:start], _TAKEN * (end - start)]
        last = end
    return "".join([*parts, text[last:]])
