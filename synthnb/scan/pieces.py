"""Takes a notebook apart into the texts that it holds, each with its place.

The whole tree is walked, not only what a format version names: what an extension or an
old version (nbformat 2 and 3) put anywhere is looked at too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from typing import Any

_BINARY = re.compile(
    r"(?:(?:image|audio|video|font)/(?!svg)|application/(?:pdf|octet-stream|zip)).*"
    r"|png|jpeg|jpg|gif|pdf",
    re.IGNORECASE,
)
_STATE = "application/vnd.jupyter.widget-state+json"
_ANSI = re.compile(r"\x1b(?:\[[0-9;:]{0,40}[A-Za-z]|\([A-Z0-9])")
_ESCAPES = {"\\u002d": "-", "\\u0020": " ", '\\"': '"', "\\x1b[": "\x1b["}
_DATA_URI = re.compile(r"(data:[a-z]{1,20}/[a-z0-9.+-]{1,60};base64,)[A-Za-z0-9+/=\s]+")
_SOURCES = ("source", "input", "code")
_ORDER = {n: i for i, n in enumerate((*_SOURCES, "outputs", "attachments", "metadata"))}
_LABEL = ("description", "placeholder")


@dataclass(frozen=True, slots=True)
class Piece:
    """One text of a notebook.

    Attributes:
        text: what is looked through.
        place: the part of the cell or notebook.
        cell: the cell's number, from 1.
        cell_id: the cell's id.
        name: the entry's own name, where the text is the value of one.
        label: what a widget calls the field whose value this is.
        password: it is what was typed into a Password widget.
    """

    text: str
    place: str
    cell: int | None = None
    cell_id: str | None = None
    name: str = ""
    label: str = ""
    password: bool = False

    def __repr__(self) -> str:
        return f"<Piece: {self.place}>"


def pieces_of(notebook: dict[str, Any]) -> Iterator[Piece]:
    """Yield every text of a notebook: its cells first, then what belongs to no cell."""
    for number, cell in enumerate(_cells(notebook), start=1):
        cell_id = cell.get("id") if isinstance(cell, dict) else None
        for piece in _pieces_of_cell(cell):
            yield Piece(
                piece.text,
                piece.place,
                number,
                cell_id if isinstance(cell_id, str) else None,
                piece.name,
                piece.label,
                piece.password,
            )
    rest = {k: v for k, v in notebook.items() if k not in {"cells", "worksheets"}}
    metadata = rest.pop("metadata", None)
    if isinstance(metadata, dict):
        metadata = dict(metadata)
        yield from _widget_state(metadata.pop("widgets", None))
    yield from texts(metadata, "metadata")
    yield from texts(rest, "notebook")
    for sheet in _worksheets(notebook):
        yield from texts({k: v for k, v in sheet.items() if k != "cells"}, "metadata")


def is_notebook(value: object) -> bool:
    """Return whether a JSON value has the form of a notebook, of any version."""
    return isinstance(value, dict) and (
        isinstance(value.get("cells"), list)
        or isinstance(value.get("worksheets"), list)
        or ("nbformat" in value and "metadata" in value)
    )


def _worksheets(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    sheets = notebook.get("worksheets")
    return (
        [s for s in sheets if isinstance(s, dict)] if isinstance(sheets, list) else []
    )


def _cells(notebook: dict[str, Any]) -> Iterator[Any]:
    for holder in (notebook, *_worksheets(notebook)):
        cells = holder.get("cells")
        yield from cells if isinstance(cells, list) else [cells] if cells else []


def _pieces_of_cell(cell: Any) -> Iterator[Piece]:
    if not isinstance(cell, dict):
        yield from texts(cell, "cell")
        return
    parts = sorted(cell.items(), key=lambda part: _ORDER.get(part[0], len(_ORDER)))
    for name, value in parts:
        if name in _SOURCES:
            yield from texts(value, "source")
        elif name == "outputs" and isinstance(value, list):
            for number, output in enumerate(value, start=1):
                yield from _pieces_of_output(output, f"output {number}")
        elif name == "attachments":
            yield from texts(value, "attachment")
        elif name == "metadata":
            yield from texts(value, "metadata")
        else:
            yield from texts({name: value}, "cell")


def _pieces_of_output(output: Any, place: str) -> Iterator[Piece]:
    if not isinstance(output, dict):
        yield from texts(output, place)
        return
    for name, value in output.items():
        if name == "data" and isinstance(value, dict):
            for mime, content in value.items():
                yield from texts({mime: content}, f"{place}, {mime}", top=mime)
        elif name in {"traceback", "evalue", "ename"}:
            yield from texts(value, f"{place}, error")
        else:
            yield from texts({name: value}, place, top=name)


def _widget_state(widgets: Any) -> Iterator[Piece]:
    place = "widget state"
    rest = dict(widgets) if isinstance(widgets, dict) else {"": widgets}
    saved = rest.get(_STATE)
    if isinstance(saved, dict) and isinstance(saved.get("state"), dict):
        for model in saved["state"].values():
            yield from _pieces_of_model(model, place)
        rest[_STATE] = {k: v for k, v in saved.items() if k != "state"}
    yield from texts(rest, place)


def _pieces_of_model(model: Any, place: str) -> Iterator[Piece]:
    kind = model.get("model_name") if isinstance(model, dict) else None
    state = model.get("state") if isinstance(model, dict) else None
    if not isinstance(kind, str) or not isinstance(state, dict):
        yield from texts(model, place)
        return
    place = f"{place}, {kind}"
    value = state.get("value")
    if isinstance(value, str) and value:
        label = " ".join(t for k in _LABEL if isinstance(t := state.get(k), str))
        typed = kind == "PasswordModel"
        yield Piece(value, place, name="value", label=label, password=typed)
        state = {k: v for k, v in state.items() if k != "value"}
    yield from texts({**model, "state": state}, place, top="state")


def texts(value: Any, place: str, *, top: str = "") -> Iterator[Piece]:
    """Yield the texts of a JSON value, names of entries too; binary data is left out."""
    waiting: list[tuple[str, Any]] = [("", value)]
    while waiting:
        name, item = waiting.pop()
        where = place if name in {"", top} else f'{place}, "{name}"'
        if isinstance(item, str):
            yield Piece(_clean(item), where, name=name)
        elif isinstance(item, list) and item and all(isinstance(x, str) for x in item):
            yield Piece(_clean(_joined(item)), where, name=name)
        elif isinstance(item, list):
            # A plot's numbers, millions of them, hold no text.
            inner = [x for x in item if isinstance(x, str | list | dict)]
            waiting.extend((name, part) for part in reversed(inner))
        elif isinstance(item, dict):
            for key in item:
                if len(key) >= _SHORTEST_NAME:
                    yield Piece(key, f"{where}, name of an entry")
            waiting.extend(reversed(list(_entries(item))))


_SHORTEST_NAME = 9
"""Of an entry that can hold a key, or a part of one."""


def _entries(item: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    is_buffer = item.get("encoding") == "base64"
    for key, value in item.items():
        binary = _BINARY.fullmatch(key) or (is_buffer and key == "data")
        if not (binary and _is_text(value)):
            yield key, value


def _is_text(value: Any) -> bool:
    return isinstance(value, str) or (
        isinstance(value, list) and all(isinstance(x, str) for x in value)
    )


def _joined(lines: list[str]) -> str:
    """Return the lines of a multi-line string; of a traceback they lack their ends."""
    whole = all(line.endswith("\n") for line in lines[:-1])
    return ("" if whole else "\n").join(lines)


def _clean(text: str) -> str:
    """Return a text without colours, escapes and embedded pictures."""
    if "&" in text:
        text = unescape(text)
    for escaped, meant in _ESCAPES.items():  # JSON within JSON, a shown Python text
        text = text.replace(escaped, meant)
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if ";base64," in text:
        text = _DATA_URI.sub(r"\1", text)
    return text
