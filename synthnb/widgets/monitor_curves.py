"""Two small curves: how fast answers came, and how many requests were out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from synthnb.engine.progress import clock
from synthnb.widgets.markup import Node

_WIDTH, _HEIGHT = 240, 32
_FG2 = "var(--jp-ui-font-color2,#616161)"
_LINE = "var(--jp-border-color2,#e0e0e0)"
_BRAND = "var(--jp-brand-color1,#1976d2)"


def curves(series: dict[str, Any]) -> list[Node]:
    """Return the pictures of a series; empty ones before there is anything to draw."""
    span = len(series["rate"]) * series["step"]
    return [
        _curve("answers/s", series["rate"], span),
        _curve("in flight", series["flight"], span),
    ]


def polyline(values: Sequence[float], width: int, height: int) -> str:
    """Return the points of a curve over the full width, zero at the bottom."""
    if not values:
        return ""
    points = list(values) if len(values) > 1 else [values[0], values[0]]
    top = max(points) or 1
    step = width / (len(points) - 1)
    return " ".join(
        f"{i * step:.1f},{height - 1 - value / top * (height - 3):.1f}"
        for i, value in enumerate(points)
    )


def _curve(name: str, values: Sequence[float], span: float) -> Node:
    last, most = (values[-1], max(values)) if values else (0, 0)
    words = f"{name}: {last:g}, at most {most:g}"
    picture = {
        "viewBox": f"0 0 {_WIDTH} {_HEIGHT}",
        "width": _WIDTH,
        "height": _HEIGHT,
        "role": "img",
        "aria-label": f"{words}, over {clock(span)}",
        "preserveAspectRatio": "none",
        "style": f"display:block;max-width:100%;border-bottom:1px solid {_LINE}",
    }
    pen = {
        "points": polyline(values, _WIDTH, _HEIGHT),
        "fill": "none",
        "stroke": _BRAND,
        "stroke-width": 1.5,
    }
    return (
        "figure",
        {"style": "margin:0;min-width:0"},
        ("svg", picture, ("polyline", pen)),
        ("figcaption", {"style": f"color:{_FG2}"}, words),
    )
