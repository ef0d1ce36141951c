"""A review as it stands in a saved notebook, without a kernel: a line and ten rows."""

from __future__ import annotations

from typing import Any

from synthnb.widgets.markup import Node, clip, to_html

_ROWS = 10
_ANSWER = 300
_STYLE = (
    "font-family:var(--jp-ui-font-family,sans-serif);"
    "font-size:var(--jp-ui-font-size1,13px);line-height:1.5;"
    "font-variant-numeric:tabular-nums"
)
_CELL = "text-align:left;vertical-align:top;overflow-wrap:anywhere;padding:2px 8px"
_MARKS = {"accept": "✓ accepted", "reject": "✗ rejected", None: "· to do"}


def summary(state: dict[str, Any]) -> str:
    """Return the counts as one line."""
    counts = state["counts"]
    return (
        f"Review · {state['total']:,} rows · {counts['accept']:,} accepted, "
        f"{counts['reject']:,} rejected, {counts['todo']:,} to do · {state['log']}"
    )


def static_html(
    state: dict[str, Any], fields: list[str], rows: list[tuple[str | None, list[str]]]
) -> str:
    """Return the block as HTML, all text in it escaped.

    Args:
        state: as the model tells it.
        fields: the columns' names.
        rows: the first rows: decision, and each field's text.
    """
    line: Node = ("div", {}, ("strong", {}, summary(state)))
    parts: list[Node] = [line]
    if rows:
        parts.append(_table(fields, rows[:_ROWS]))
    if (more := state["total"] - min(len(rows), _ROWS)) > 0:
        parts.append(("div", {}, f"and {more:,} more"))
    return to_html(("div", {"style": _STYLE}, *parts))


def _table(fields: list[str], rows: list[tuple[str | None, list[str]]]) -> Node:
    head = [("th", {"scope": "col", "style": _CELL}, n) for n in ("decision", *fields)]
    body = [
        (
            "tr",
            {},
            ("td", {"style": _CELL}, _MARKS[decision]),
            *(("td", {"style": _CELL}, clip(text, _ANSWER)) for text in texts),
        )
        for decision, texts in rows
    ]
    return ("table", {}, ("thead", {}, ("tr", {}, *head)), ("tbody", {}, *body))
