"""Coverage of the source: a strip a document, a cell a chunk, in the document's order.

A cell is a number on a shade, put as text: it wraps in a narrow notebook, and where
styles are dropped the row of numbers is still there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from synthnb.widgets.markup import Node, clip
from synthnb.widgets.profile_blocks import LINE, QUIET, fold, table

_SHADES = (0.14, 0.28, 0.42, 0.56)
_RGB = "25,118,210"
_NAME = 80
_EXPLAINED = 1500
"""With more cells than that their tooltips would be most of the notebook's file."""
NO_ROWS = "–"


def coverage_block(found: Mapping[str, Any], *, live: bool) -> Node:
    """Return the strips with what has to be said of them.

    Args:
        found: ``figures(...)["coverage"]``.
        live: whether cells can be pressed (then there is a kernel that listens).
    """
    strips = found["strips"]
    most = max((c["kept"] for s in strips for c in s["cells"]), default=0)
    explained = live or sum(len(s["cells"]) for s in strips) <= _EXPLAINED
    drawn = [
        _strip(strip, i, most, live=live, explained=explained)
        for i, strip in enumerate(strips)
    ]
    title = "Coverage of the source"
    return (
        "div",
        {"role": "group", "aria-label": title, "style": "margin:0 0 20px"},
        ("p", {"style": "margin:0"}, ("strong", {}, title)),
        *[
            ("p", {"style": f"margin:0 0 2px;{QUIET}"}, line)
            for line in sentences(found)
        ],
        _legend(found),
        (
            "div",
            {"style": "display:flex;flex-wrap:wrap;gap:8px 40px;margin-top:8px"},
            *drawn,
        ),
        fold(title, _table(strips)),
    )


def sentences(found: Mapping[str, Any]) -> list[str]:
    """Return in words what the strips show, and what they cannot show."""
    chunks, kept, rows = found["chunks"], found["with_kept"], found["with_rows"]
    said = [f"{kept:,} of {_many(chunks, 'chunk')} gave rows that are kept"]
    if rows > kept:
        said.append(f"{rows - kept:,} gave only rows that are not")
    if chunks > rows:
        said.append(f"{chunks - rows:,} gave none")
    lines = [f"{'; '.join(said)}."]
    if not found["all_known"]:
        lines.append(
            "Only the chunks that stand in the rows are known; with chunks= also those that gave none are shown."
        )
    if found["rows_without_chunk"]:
        lines.append(
            f"{_many(found['rows_without_chunk'], 'row')} without a chunk left out."
        )
    if found["rows_elsewhere"]:
        lines.append(
            f"{_many(found['rows_elsewhere'], 'row')} of other chunks than the given ones left out."
        )
    shown = len(found["strips"])
    if found["documents"] > shown:
        others = found["documents"] - shown
        lines.append(
            f"The {shown} documents with the least coverage; {others:,} others are not shown."
        )
    return lines


def cell_name(strip: Mapping[str, Any], cell: Mapping[str, Any]) -> str:
    """Return what one cell stands for: ``chunk 3 of 21, page 2: 2 kept of 3 rows``."""
    first, last = cell["first"], cell["last"]
    which = f"chunk {first:,}" if first == last else f"chunks {first:,} to {last:,}"
    page = "" if cell["page"] is None else f", page {cell['page']:,}"
    if not cell["rows"]:
        return f"{which} of {strip['chunks']:,}{page}: no rows"
    rows = f"{cell['kept']:,} kept of {_many(cell['rows'], 'row')}"
    empty = "" if first == last else f", {cell['empty']:,} of its chunks without"
    return f"{which} of {strip['chunks']:,}{page}: {rows}{empty}"


def cell_text(cell: Mapping[str, Any]) -> str:
    """Return what stands in a cell: the rows kept, or a dash where there were none."""
    return str(cell["kept"]) if cell["rows"] else NO_ROWS


def _strip(
    strip: Mapping[str, Any], number: int, most: int, *, live: bool, explained: bool
) -> Node:
    per = strip["per_cell"]
    count = f"{strip['with_kept']:,} of {_many(strip['chunks'], 'chunk')}"
    if per > 1:
        count += f", a cell is {per:,} chunks"
    width = len(str(most))
    cells: list[Node | str] = []
    for i, cell in enumerate(strip["cells"]):
        attributes: dict[str, Any] = {"style": _style(cell, most)}
        if explained:
            attributes["title"] = cell_name(strip, cell)
        if live:
            attributes |= {"class": "snb-cell", "role": "button", "aria-pressed": "false",
                           "tabindex": "-1" if i else "0", "data-cell": i,
                           "aria-label": cell_name(strip, cell)}  # fmt: skip
        text = cell_text(cell).rjust(width, "\u00a0")
        cells += [("span", attributes, f"\u00a0{text}\u00a0"), " "]
    name = clip(strip["source"], _NAME)
    kept = " ".join(cell_text(cell) for cell in strip["cells"])
    label = f"{name}: {count} gave kept rows. Kept rows by cell: {kept}"
    row = {
        "role": "group" if live else "img",
        "aria-label": f"{name}, {count}" if live else label,
        "data-strip": number if live else None,
        "style": "font-family:var(--jp-code-font-family,monospace);font-size:12px;line-height:22px",
    }
    return (
        "div",
        {"style": "min-width:0"},
        ("div", {"style": "overflow-wrap:anywhere"}, name, " ",
         ("span", {"style": QUIET}, count)),
        ("div", row, *cells),
    )  # fmt: skip


def _style(cell: Mapping[str, Any], most: int) -> str:
    if not cell["rows"]:
        return "outline:1px dashed;outline-offset:-1px"
    if not cell["kept"]:
        return f"outline:1px solid {LINE};outline-offset:-1px"
    place = -(-cell["kept"] * len(_SHADES) // most) - 1
    return f"background:rgba({_RGB},{_SHADES[place]})"


def _legend(found: Mapping[str, Any]) -> Node:
    one = {"kept": 1, "rows": 1}
    samples: list[tuple[str, str, str]] = [
        (_style(one, 4), "1", "rows kept, the more the stronger"),
    ]
    if found["with_rows"] > found["with_kept"]:
        samples.append((_style({"kept": 0, "rows": 1}, 1), "0", "rows, none kept"))
    if found["chunks"] > found["with_rows"]:
        samples.append((_style({"kept": 0, "rows": 0}, 1), NO_ROWS, "no rows"))
    parts: list[Node | str] = []
    for style, text, meaning in samples:
        mark = f"{style};color:var(--jp-ui-font-color1,inherit);font-family:var(--jp-code-font-family,monospace);font-size:12px"
        parts += [("span", {"style": mark}, f"\u00a0{text}\u00a0"), f" {meaning}\u2003"]
    return ("p", {"style": f"margin:4px 0 0;{QUIET}"}, *parts)


def _table(strips: Sequence[Mapping[str, Any]]) -> Node:
    rows = [
        (
            strip["source"],
            f"{strip['chunks']:,}",
            f"{strip['with_rows']:,}",
            f"{strip['with_kept']:,}",
            _spans(strip),
        )
        for strip in strips
    ]
    head = ("document", "chunks", "gave rows", "gave kept rows", "chunks without")
    return table(head, rows)


def _spans(strip: Mapping[str, Any]) -> str:
    """Return the chunks that gave nothing kept, as ``3, 7-9``."""
    if strip["per_cell"] > 1:
        return f"{strip['chunks'] - strip['with_kept']:,}"
    spans: list[list[int]] = []
    for cell in strip["cells"]:
        if cell["kept"]:
            continue
        if spans and spans[-1][1] == cell["first"] - 1:
            spans[-1][1] = cell["first"]
        else:
            spans.append([cell["first"], cell["first"]])
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in spans) or "none"


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
