"""A table where no kernel is behind it: its first rows, as HTML and as text."""

from __future__ import annotations

from synthnb.widgets.markup import Node, clip, visible
from synthnb.widgets.profile_blocks import LINE, QUIET
from synthnb.widgets.table_model import TableModel

_ROWS = 10
_CELL = 120
_WORD = 24
_WORDS = 6
_STYLE = (
    "padding:2px 12px 2px 0;vertical-align:top;max-width:30em;overflow-wrap:anywhere"
)


def static_block(model: TableModel) -> Node:
    """Return the first rows of what is shown; every text is escaped by ``to_html``."""
    columns = [model.columns[place] for place in model.chosen]
    sides = ["right" if c.kind == "number" else "left" for c in columns]
    head = [
        ("th", {"scope": "col", "style": f"{_STYLE};text-align:{side}"}, clip(c.label, _CELL))
        for c, side in zip(columns, sides, strict=True)
    ]  # fmt: skip
    body = [("tr", {}, *_cells(row, sides)) for row in model.rows(0, _ROWS)]
    font = (
        "font-family:var(--jp-ui-font-family,system-ui,sans-serif);"
        "font-size:var(--jp-ui-font-size1,13px);color:var(--jp-ui-font-color1,inherit);"
        "font-variant-numeric:tabular-nums;overflow-x:auto"
    )
    return (
        "div",
        {"class": "snb-table-static", "style": font},
        ("p", {"style": f"margin:0 0 4px;{QUIET}"}, summary(model)),
        (
            "table",
            {"style": f"border-collapse:collapse;border:1px solid {LINE};margin:0"},
            ("thead", {}, ("tr", {}, *head)),
            ("tbody", {}, *body),
        ),
    )


def summary(model: TableModel) -> str:
    """Return what of the frame is shown: ``10 of 1,203 rows, 8 of 26 columns``."""
    shown = min(_ROWS, model.matching)
    rows = (
        f"first {shown:,} of {model.matching:,}"
        if shown < model.matching
        else f"{shown:,}"
    )
    text = f"{rows} row{'' if model.matching == 1 else 's'}"
    if model.text:
        text += f" with {clip(model.text, _WORD)!r}, of {model.total:,} in all"
    if model.sort is not None:
        order = "descending" if model.descending else "ascending"
        name = clip(model.columns[model.sort].label, _WORD)
        text += f", sorted by {name}, {order}"
    if len(model.chosen) < len(model.columns):
        text += f", {len(model.chosen)} of {len(model.columns)} columns"
    return text


def static_text(model: TableModel) -> str:
    """Return the first rows as lines of text that cannot move a terminal's cursor."""
    places = model.chosen[:_WORDS]
    head = [_word(model.columns[place].label) for place in places]
    rows = [
        [_word("–" if cell is None else cell) for cell in row[: len(places)]]
        for row in model.rows(0, _ROWS)
    ]
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        for line in (head, *rows)
    ]
    return "\n".join([f"Table: {summary(model)}", *map(str.rstrip, lines)])


def _word(text: str) -> str:
    return clip(visible(" ".join(text.split())), _WORD)


def _cells(row: list[str | None], sides: list[str]) -> list[Node]:
    return [
        ("td", {"style": f"{_STYLE};text-align:{side}"}, "–" if cell is None else clip(cell, _CELL))
        for cell, side in zip(row, sides, strict=True)
    ]  # fmt: skip
