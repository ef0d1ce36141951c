"""The blocks of a profile's page: bars, a histogram, a small table, a tile.

Each is a tree of ``markup``. Bars are plain text beside a coloured span, so they can be
read where styles are dropped; a histogram is an SVG in percent and pixels, so its text
keeps its size in a cell of any width.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from synthnb.widgets.markup import Node, clip

LINE = "var(--jp-border-color2,rgba(128,128,128,.4))"
ACCENT = "var(--jp-brand-color1,#1976d2)"
QUIET = "color:var(--jp-ui-font-color2,inherit)"
KINDS = {
    "ok": ("✓", "var(--jp-success-color1,#388e3c)"),
    "attention": ("▲", "var(--jp-warn-color1,#c77700)"),
    "error": ("✗", "var(--jp-error-color1,#d32f2f)"),
}
"""Kind of a status → the shape and the colour that stand beside its word."""

_NAME = 120
_LABELLED = 11
_TOP, _AREA, _BOTTOM = 16, 64, 18
_CELL = "padding:1px 12px 1px 0;border:0;background:none"


def tile(title: str, line: str, picture: Node, table: Node) -> Node:
    """Return one picture under its title and, where there is more to say, a line."""
    return (
        "div",
        {"role": "group", "aria-label": title, "style": "min-width:0"},
        ("p", {"style": "margin:0"}, ("strong", {}, title)),
        ("p", {"style": f"margin:0 0 6px;{QUIET}"}, line or "\u00a0"),
        picture,
        fold(title, table),
    )


def fold(title: str, table: Node) -> Node:
    """Return a table behind a line that opens it."""
    label = {"style": f"{QUIET};cursor:pointer", "aria-label": f"Numbers: {title}"}
    return (
        "details",
        {"style": "margin-top:4px"},
        ("summary", label, "Numbers"),
        table,
    )


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Node:
    """Return a small table: words to the left, the numbers after them to the right."""
    top = [("th", _cell(i, head=True), name) for i, name in enumerate(head)]
    body = [
        ("tr", {}, *[("td", _cell(i), clip(text, _NAME)) for i, text in enumerate(row)])
        for row in rows
    ]
    style = "border-collapse:collapse;margin:4px 0;border:0;font-size:inherit"
    wrapped = (
        "table",
        {"style": style},
        ("thead", {"style": "border:0"}, ("tr", {}, *top)),
        ("tbody", {}, *body),
    )
    return ("div", {"style": "overflow-x:auto"}, wrapped)


def bars(
    title: str,
    pairs: Sequence[tuple[str, int]],
    total: int,
    kinds: Mapping[str, str] | None = None,
) -> Node:
    """Return a bar a value, its name before it and its rows right behind its end."""
    said = ", ".join(f"{clip(name, _NAME)} {n:,}" for name, n in pairs) or "nothing"
    most = max((n for _, n in pairs), default=0) or 1
    rows = [_bar(name, n, most, total, (kinds or {}).get(name)) for name, n in pairs]
    style = (
        "display:grid;grid-template-columns:fit-content(42%) minmax(0,1fr);"
        "gap:3px 10px;align-items:center"
    )
    return (
        "div",
        {"role": "img", "aria-label": f"{title}: {said}", "style": style},
        *rows,
    )


def _bar(name: str, n: int, most: int, total: int, kind: str | None) -> Node:
    shape, colour = KINDS.get(kind or "", ("", ACCENT))
    label = {"style": "overflow:hidden;text-overflow:ellipsis;white-space:nowrap",
             "title": clip(name, _NAME)}  # fmt: skip
    width = f"calc((100% - 8em)*{n / most:.3f})"
    bar = f"flex:none;height:10px;min-width:1px;width:{width};background:{colour}"
    return (
        "div",
        {"style": "display:contents"},
        ("span", label, f"{shape} {clip(name, _NAME)}".strip()),
        " ",
        (
            "span",
            {"style": "display:flex;align-items:center;gap:6px;min-width:0"},
            ("span", {"style": bar}),
            ("span", {"style": "white-space:nowrap"}, f"{n:,} ", _share(n, total)),
        ),
    )


def _share(n: int, total: int) -> Node:
    return ("span", {"style": QUIET}, f"({percent(n, total)})")


def percent(n: int, total: int) -> str:
    """Return a share in words that never round something to nothing, or part to all."""
    if not total:
        return "–"
    share = 100 * n / total
    if 0 < share < 1:
        return "<1 %"
    if 99 < share < 100:  # noqa: PLR2004 - per cent
        return ">99 %"
    return f"{share:.0f} %"


def number(value: float | None) -> str:
    """Return a figure as people write it: ``1,203``, ``65.5``, ``–``."""
    if value is None:
        return "–"
    if float(value).is_integer() or abs(value) >= 1000:  # noqa: PLR2004
        return f"{value:,.0f}"
    return f"{value:,.3g}"


def spread(found: Mapping[str, Any], unit: str) -> str:
    """Return a distribution in one line: ``median 42, from 12 to 140 characters``."""
    if not found["n"]:
        return "no values"
    low, high = number(found["min"]), number(found["max"])
    span = (
        f"all {low}"
        if low == high
        else f"median {number(found['median'])}, from {low} to {high}"
    )
    return f"{span} {unit}".strip()


def bin_name(part: Mapping[str, Any]) -> str:
    """Return ``7`` for a bin of one value, else ``20 to under 30``."""
    if part["lo"] == part["hi"]:
        return number(part["lo"])
    return f"{number(part['lo'])} to under {number(part['hi'])}"


def histogram(title: str, found: Mapping[str, Any], unit: str) -> Node:
    """Return the bins of a distribution as columns; few are labelled one by one."""
    bins = found["bins"]
    most = max((part["n"] for part in bins), default=0) or 1
    told = f"{found['n']:,} values, {spread(found, unit)}"
    listed = ", ".join(f"{bin_name(p)}: {p['n']:,}" for p in bins)
    height = _TOP + _AREA + _BOTTOM
    attributes = {
        "role": "img", "width": "100%", "height": height,
        "style": "display:block;overflow:visible",
    }  # fmt: skip
    axis = {"x1": "0", "x2": "100%", "y1": _TOP + _AREA + 0.5, "y2": _TOP + _AREA + 0.5,
            "style": f"stroke:{LINE}"}  # fmt: skip
    return (
        "svg",
        attributes,
        ("title", {}, f"{title}: {told}"),
        ("desc", {}, listed or "no values"),
        *[_column(part, i, len(bins), most, unit) for i, part in enumerate(bins)],
        ("line", axis),
        *_ticks(bins),
    )


def _column(part: Mapping[str, Any], i: int, count: int, most: int, unit: str) -> Node:
    height = max(_AREA * part["n"] / most, 1.0) if part["n"] else 0.0
    left, width = 100 * i / count, 100 / count
    top = _TOP + _AREA - height
    rect = {"x": f"{left + width * 0.06:.2f}%", "width": f"{width * 0.88:.2f}%",
            "y": f"{top:.1f}", "height": f"{height:.1f}",
            "style": f"fill:{ACCENT}"}  # fmt: skip
    label = count <= _LABELLED or part["n"] == most
    text = {"x": f"{left + width / 2:.2f}%", "y": f"{top - 4:.1f}",
            "text-anchor": "middle", "style": _TEXT}  # fmt: skip
    return (
        "g",
        {},
        ("title", {}, f"{bin_name(part)} {unit}: {part['n']:,}"),
        ("rect", rect),
        *([("text", text, f"{part['n']:,}")] if label and part["n"] else []),
    )


_TEXT = "fill:currentColor;font-size:11px"


def _ticks(bins: Sequence[Mapping[str, Any]]) -> list[Node]:
    """Return what stands under the columns: each value, or both ends and the middle."""
    if not bins:
        return []
    count = len(bins)
    if bins[0]["lo"] == bins[0]["hi"]:
        places = [
            (100 * (i + 0.5) / count, "middle", b["lo"]) for i, b in enumerate(bins)
        ]
    else:
        half = count // 2
        places = [(0.0, "start", bins[0]["lo"]), (100.0, "end", bins[-1]["hi"])]
        if half:
            places.insert(1, (100 * half / count, "middle", bins[half]["lo"]))
    return [
        ("text", {"x": f"{x:.2f}%", "y": _TOP + _AREA + 14, "text-anchor": anchor,
                  "style": f"{_TEXT};opacity:.8"}, number(value))
        for x, anchor, value in places
    ]  # fmt: skip


def _cell(place: int, *, head: bool = False) -> dict[str, Any]:
    side = "right" if place else "left"
    style = f"{_CELL};text-align:{side};vertical-align:top"
    if not head:
        return {"style": style}
    return {"style": f"{style};font-weight:normal;{QUIET}", "scope": "col"}
