"""A run that ended, as a block that needs no kernel and no JavaScript.

It has to be read in three places: in the notebook, where it takes the live view's place
and height; in nbconvert's HTML; and on GitHub, which drops styles and pictures, so that
the words alone must tell all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from synthnb.engine.progress import clock
from synthnb.widgets.markup import Node
from synthnb.widgets.monitor_curves import curves
from synthnb.widgets.monitor_model import Snapshot

_FG2 = "var(--jp-ui-font-color2,#616161)"
_LINE = "var(--jp-border-color2,#e0e0e0)"
_BRAND = "var(--jp-brand-color1,#1976d2)"
# As in base.css: JupyterLab's own are too faint as text on its own background.
_MIXED = "color-mix(in srgb,{} 60%,var(--jp-ui-font-color0,#000))"
_COLOUR = {
    "ok": _MIXED.format("var(--jp-success-color1,#388e3c)"),
    "attention": _MIXED.format("var(--jp-warn-color1,#f57c00)"),
    "error": _MIXED.format("var(--jp-error-color1,#d32f2f)"),
}
SHAPE = {"ok": "✓", "attention": "▲", "error": "✗"}
"""A shape beside each colour: not everybody sees the colour."""

_CARD = (
    "box-sizing:border-box;max-width:60em;padding:8px 12px;line-height:20px;"
    "background:var(--jp-layout-color1,transparent);"
    f"border:1px solid {_LINE};border-radius:3px;font-variant-numeric:tabular-nums;"
    "font-family:var(--jp-ui-font-family,system-ui,sans-serif);"
    "font-size:var(--jp-ui-font-size1,13px);color:var(--jp-ui-font-color1,inherit)"
)
_ROW = "margin:0 0 6px;overflow-wrap:anywhere"
_CELL = "text-align:left;padding:1px 16px 1px 0;vertical-align:top"


def finished(snapshot: Snapshot) -> Node:
    """Return the block that a finished run leaves behind."""
    kind, word = _ending(snapshot)
    state = ("strong", {"style": f"color:{_COLOUR[kind]}"}, f"{SHAPE[kind]} {word}")
    return (
        "div",
        {"class": "snb-run", "style": _CARD},
        _title(snapshot),
        ("p", {"style": _ROW}, state, f" {summary(snapshot)}"),
        *_error(snapshot),
        _progress(snapshot),
        _statuses(snapshot),
        *_curves(snapshot),
        _failures(snapshot),
        *_peek(snapshot),
        _details(snapshot),
    )


def unfinished(snapshot: Snapshot) -> Node:
    """Return what stands in for the live view where no kernel is behind it."""
    text = (
        f"{snapshot['state']} when this was shown: {_counts(snapshot)}. Run the cell "
        "again: it goes on, and nothing is bought twice."
    )
    return (
        "div",
        {"class": "snb-run", "style": _CARD},
        _title(snapshot),
        ("p", {"style": _ROW}, text),
    )


def line(snapshot: Snapshot) -> str:
    """Return the whole as one line of text: ``done in 2:31 · 210 wanted, 203 ok …``."""
    return f"{_ending(snapshot)[1]} {summary(snapshot)}"


def summary(snapshot: Snapshot) -> str:
    """Return what stands behind the word that says how a run ended."""
    joint = "in" if snapshot["state"] == "done" else "after"
    parts = [f"{joint} {clock(snapshot['seconds'])}", _counts(snapshot), cost(snapshot)]
    again = "" if snapshot["state"] == "done" else "the same cell goes on from here"
    return " · ".join(filter(None, [*parts, snapshot["folder"], again]))


def cost(snapshot: Snapshot) -> str:
    """Return what the calls of this run cost, as far as that can be known."""
    if not snapshot["requests"]:
        return "nothing bought, all from the ledger" if snapshot["resumed"] else ""
    if not snapshot["tokens"]:
        return "local, no cost" if snapshot["local"] else "tokens unknown"
    least = "at least " if snapshot["unknown_usage"] else ""
    tokens = f"{least}{snapshot['tokens']:,} tokens"
    return f"{tokens}, local, no cost" if snapshot["local"] else tokens


def _ending(snapshot: Snapshot) -> tuple[str, str]:
    if snapshot["state"] == "error":
        return "error", "ended by an error"
    if snapshot["state"] == "stopped":
        return "attention", "stopped"
    return "ok", "done"


def _counts(snapshot: Snapshot) -> str:
    """Return ``210 wanted, 203 ok, 7 failed``; what was not tried is named."""
    ok = sum(s["count"] for s in snapshot["statuses"] if s["kind"] == "ok")
    failed, wanted = snapshot["done"] - ok, snapshot["wanted"]
    parts = [] if wanted is None else [f"{wanted:,} wanted"]
    parts += [f"{ok:,} ok", f"{failed:,} failed"]
    if wanted is not None and wanted > snapshot["done"]:
        parts.append(f"{wanted - snapshot['done']:,} not tried")
    return ", ".join(parts)


def _title(snapshot: Snapshot) -> Node:
    rest = "".join(f" · {t}" for t in (snapshot["recipe"], snapshot["model"]) if t)
    return (
        "p",
        {"style": _ROW},
        ("strong", {}, snapshot["name"]),
        ("span", {"style": f"color:{_FG2}"}, rest),
    )


def _error(snapshot: Snapshot) -> list[Node]:
    error = snapshot["error"]
    if error is None:
        return []
    red = {"style": f"{_ROW};color:{_COLOUR['error']};white-space:pre-wrap"}
    return [
        ("p", red, error["message"]),
        ("p", {"style": _ROW}, f"→ {error['hint']}"),
    ]


def _progress(snapshot: Snapshot) -> Node:
    done, wanted = snapshot["done"], snapshot["wanted"] or 0
    share = min(1.0, done / wanted) if wanted else 1.0
    style = f"flex:1 1 auto;min-width:0;height:8px;accent-color:{_BRAND}"
    label = f"{done:,} of {wanted:,} rows"
    bar = ("progress", {"max": 1, "value": f"{share:.4f}", "style": style,
                        "aria-label": label})  # fmt: skip
    row = f"{_ROW};display:flex;align-items:center;gap:12px"
    return ("p", {"style": row}, bar, f" {label}")


def _statuses(snapshot: Snapshot) -> Node:
    parts: list[Node | str] = []
    for status in snapshot["statuses"]:
        colour = f"color:{_COLOUR[status['kind']]}"
        text = f"{SHAPE[status['kind']]} {status['count']:,} {status['name']}"
        parts += [*([" "] if parts else []), ("span", {"style": colour}, text)]
    row = f"{_ROW};display:flex;flex-wrap:wrap;gap:0 20px"
    return ("p", {"style": row}, *(parts or ["no rows"]))


def _curves(snapshot: Snapshot) -> list[Node]:
    """A run that nobody watched has no curves."""
    style = f"display:flex;flex-wrap:wrap;gap:4px 24px;{_ROW}"
    series = snapshot["series"]
    return [("div", {"style": style}, *curves(series))] if series["rate"] else []


def _failures(snapshot: Snapshot) -> Node:
    troubles = snapshot["troubles"]
    if not troubles:
        return ("p", {"style": f"{_ROW};color:{_FG2}"}, "no failed rows")
    total = sum(t["count"] for t in troubles)
    names = ", ".join(f"{t['name']} ({t['count']:,})" for t in troubles)
    items = [_failure(trouble) for trouble in troubles]
    return (
        "details",
        {"style": _ROW},
        ("summary", {}, f"{total:,} failed: {names}"),
        ("ul", {"style": "margin:4px 0 8px;padding-left:20px"}, *items),
    )


def _peek(snapshot: Snapshot) -> list[Node]:
    """Show the latest record, as the live view did: the block keeps its height."""
    row = "margin:0;overflow:hidden;text-overflow:ellipsis;white-space:nowrap"
    return [
        (
            "p",
            {"style": row},
            ("span", {"style": f"color:{_FG2}"}, f"{'' if i else 'latest '}{name}"),
            f" {text}",
        )
        for i, (name, text) in enumerate(snapshot["peek"])
        if text
    ]


def _failure(trouble: dict[str, Any]) -> Node:
    detail = trouble["detail"] or "no detail"
    return (
        "li",
        {"style": "overflow-wrap:anywhere"},
        ("strong", {}, f"{trouble['count']:,} {trouble['name']}"),
        f": {detail} (for example row {trouble['row_id']})",
        ("div", {"style": f"color:{_FG2}"}, f"→ {trouble['next_step']}"),
    )


def _details(snapshot: Snapshot) -> Node:
    seconds = max(snapshot["seconds"], 1e-9)
    rows = [
        ("requests in this call", f"{snapshot['requests']:,}"),
        ("retries", f"{snapshot['retries']:,}"),
        ("answers from the ledger", f"{snapshot['resumed']:,}"),
        ("tokens/s over the whole run", f"{snapshot['written'] / seconds:,.0f}"),
        ("cost", cost(snapshot) or "none"),
        ("folder", snapshot["folder"]),
    ]
    counts = [(s["name"], f"{s['count']:,}") for s in snapshot["statuses"]]
    return (
        "details",
        {"style": "margin:6px 0 0"},
        ("summary", {}, "Details"),
        _table("Rows by status", ("status", "rows"), counts),
        _table("This call", ("what", "how much"), rows),
    )


def _table(
    caption: str, head: tuple[str, str], rows: Sequence[tuple[str, str]]
) -> Node:
    cell = {"style": _CELL}
    scope = {"style": f"{_CELL};color:{_FG2};font-weight:normal", "scope": "col"}
    return (
        "table",
        {"style": "border-collapse:collapse;margin:4px 0 8px"},
        ("caption", {"style": "text-align:left;font-weight:600"}, caption),
        ("thead", {}, ("tr", {}, *[("th", scope, name) for name in head])),
        (
            "tbody",
            {},
            *[("tr", {}, *[("td", cell, text) for text in row]) for row in rows],
        ),
    )
