"""What a scan found: where it stands and what to do, never what it is."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

_LENGTHS = (12, 20, 40, 80, 160)


@dataclass(frozen=True, slots=True)
class Finding:
    """One key-like string in a notebook. No field holds a character of it.

    Attributes:
        path: the notebook, as it was named.
        cell: the cell's number, from 1; None for what belongs to the whole notebook.
        cell_id: the cell's id, where the notebook has ids.
        place: the part of the cell or notebook, e.g. ``"output 1, text/html"``.
        line: line within that part, from 1.
        column: character within that line, from 1.
        kind: what it looks like, e.g. ``"Hugging Face token"``.
        length: how long it is, as a class, e.g. ``"40 to 79 characters"``.
        advice: what to do about it.
    """

    path: str
    cell: int | None
    cell_id: str | None
    place: str
    line: int
    column: int
    kind: str
    length: str
    advice: str

    def __str__(self) -> str:
        """Return the finding as one line: where, then what."""
        where = f"{self.place}, line {self.line}, column {self.column}"
        if self.cell is not None:
            named = f" ({self.cell_id})" if self.cell_id else ""
            where = f"cell {self.cell}{named}, {where}"
        return f"{self.path}: {where}: {self.kind}, {self.length}"

    def to_json(self) -> dict[str, Any]:
        """Return the finding as a JSON object."""
        return asdict(self)


def length_class(length: int) -> str:
    """Return a length as a class: the exact one would narrow a short secret down."""
    if length < _LENGTHS[0]:
        return f"under {_LENGTHS[0]} characters"
    for low, high in pairwise(_LENGTHS):
        if length < high:
            return f"{low} to {high - 1} characters"
    return f"{_LENGTHS[-1]} characters or more"


def advice_for(place: str, kind: str) -> str:
    """Return what to do about a key in this part of a notebook."""
    revoke = "Change the password" if "password" in kind else "Revoke the key"
    if "part of" in kind:
        revoke = "Revoke the key if others can read this"
    return f"{revoke} where it was made; then {_removal(place)}."


def _removal(place: str) -> str:
    if place.startswith("source"):
        return (
            "take it out of the cell, read it from the environment "
            '(api_key="env:NAME"), and save'
        )
    if place.startswith("output"):
        return "clear the output and save"
    if place.startswith("attachment"):
        return "delete the attachment and save"
    if place.startswith("widget state"):
        return (
            "restart the kernel, clear all outputs and save; type keys into "
            "sn.ProviderPicker, which never saves one"
        )
    return "take it out of the notebook's metadata and save"
