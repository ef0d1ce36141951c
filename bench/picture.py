"""Draws the benchmarks as one SVG, readable on light and on dark pages.

picture.py results.json [--peers results.jsonl] [--out benchmarks.svg] draws it again. With
the peers' file every panel that has peers is drawn from that one run, raw aiohttp and
synthnb too: bars of one panel are never of two runs.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import peers_table

_WIDTH = 760
_LABEL = 250
_BAR = 380
_ROW = 24
_SHARE = "share of the best possible pace; larger is better"
_STYLE = """
.card{fill:#fff;stroke:#d0d7de}.t{fill:#1f2328;font-weight:600}.l{fill:#1f2328}
.n{fill:#59636e}.o{fill:#8c959f}.s{fill:#0969da}.mark{stroke:#59636e}.gap{fill:#fff}
@media(prefers-color-scheme:dark){.card{fill:#0d1117;stroke:#3d444d}
.t,.l{fill:#f0f6fc}.n{fill:#9198a1}.o{fill:#656c76}.s{fill:#4493f8}.mark{stroke:#9198a1}
.gap{fill:#0d1117}}
text{font:13px system-ui,-apple-system,"Segoe UI",sans-serif}.n{font-size:12px}
.t{font-size:14px}
"""


class Bar(NamedTuple):
    """One bar: what it is, how long, and what stands behind it."""

    label: str
    value: float
    text: str

    @property
    def is_ours(self) -> bool:
        """Whether it stands out."""
        return self.label.startswith("synthnb")


class Panel(NamedTuple):
    """A group of bars on one scale."""

    title: str
    note: str
    bars: Sequence[Bar]
    most: float = 0
    """The value of a full bar; longer ones are cut and marked. 0: the largest."""
    mark: float = 0
    """Where a line stands for comparison."""


def panels(results: Mapping[str, Any], peers: Mapping[str, Any]) -> list[Panel]:
    """Return what can be drawn of the figures that are there."""
    cases = results["cases"]

    def bars(name: str, key: str, form: str) -> list[Bar]:
        if name in peers and key != "x_loop_ms":
            values = peers[name]
        else:
            rows = cases[name]["rows"] if name in cases else ()
            values = {row["label"]: row[key] for row in rows}
        return [Bar(who, value, form.format(value)) for who, value in values.items()]

    loop = bars("A64", "x_loop_ms", "{:.2f}×")
    found = [
        Panel(
            "CPU time of a request",
            "smaller is better; 64 at a time, no latency; raw aiohttp is 1",
            bars("A64", "x_cpu_ms", "{:.2f}×"),
            20,
            1,
        ),
        Panel(
            "Event-loop time of a request",
            "smaller is better: what the notebook's kernel feels; raw aiohttp is 1",
            [bar for bar in loop if not bar.label.startswith("openai")],
        ),
        Panel(
            "Every answer after 200 ms, 100 at a time",
            _SHARE,
            bars("B", "of_bound", "{:.2f}"),
            1,
        ),
        Panel(
            "Heavy tail of latencies, 64 at a time",
            _SHARE,
            bars("C", "of_bound", "{:.2f}"),
            1,
        ),
    ]
    return [panel for panel in found if panel.bars]


def drawn(results: Mapping[str, Any], peers: Mapping[str, Any] | None = None) -> str:
    """Return the picture.

    Args:
        results: what ``run.py`` wrote.
        peers: case → {client: its ratio}, as ``peers_table.ratios`` gives them.
    """
    parts: list[str] = []
    y = 12
    for panel in panels(results, peers or {}):
        drawn_panel, y = _panel(panel, y)
        parts += drawn_panel
    said = f"{results['date']}, {results['machine']['cores']} cores; the bars of a panel are of one run"
    parts.append(f'<text class="n" x="20" y="{y + 14}">{escape(said)}</text>')
    height = y + 30
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}"'
        f' viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="Benchmarks">'
    )
    card = (
        f'<rect class="card" x=".5" y=".5" width="{_WIDTH - 1}" height="{height - 1}"'
    )
    style = f"<style>{_STYLE}</style>"
    return "\n".join([head, style, f'{card} rx="8"/>', *parts, "</svg>\n"])


def _panel(panel: Panel, y: int) -> tuple[list[str], int]:
    most = panel.most or max(bar.value for bar in panel.bars)
    parts = [
        f'<text class="t" x="20" y="{y + 18}">{escape(panel.title)}</text>',
        f'<text class="n" x="20" y="{y + 36}">{escape(panel.note)}</text>',
    ]
    y += 46
    for number, bar in enumerate(panel.bars):
        parts += _bar(bar, y + number * _ROW, most)
    bottom = y + len(panel.bars) * _ROW
    if panel.mark:
        x = _LABEL + _BAR * panel.mark / most
        line = f'x1="{x:.1f}" x2="{x:.1f}" y1="{y - 2}" y2="{bottom}"'
        parts.append(f'<line class="mark" {line} stroke-dasharray="2 3"/>')
    return parts, bottom + 12


def _bar(bar: Bar, y: int, most: float) -> list[str]:
    width = _BAR * min(1, bar.value / most)
    kind = "s" if bar.is_ours else "o"
    at = f'x="{_LABEL}" y="{y + 3}" width="{width:.1f}" height="16"'
    parts = [
        _text(_LABEL - 10, y + 15, bar.label, ' text-anchor="end"'),
        f'<rect class="{kind}" {at} rx="2"/>',
        _text(_LABEL + width + 8, y + 15, bar.text),
    ]
    if bar.value > most:  # a gap says that the bar goes on
        x = _LABEL + _BAR - 26
        points = f"{x},{y + 22} {x + 8},{y} {x + 13},{y} {x + 5},{y + 22}"
        parts.insert(2, f'<polygon class="gap" points="{points}"/>')
    return parts


def _text(x: float, y: float, text: str, more: str = "") -> str:
    return f'<text class="l" x="{x:.1f}" y="{y}"{more}>{escape(text)}</text>'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("--peers", type=Path)
    parser.add_argument("--out", type=Path, default=Path("benchmarks.svg"))
    options = parser.parse_args()
    results = json.loads(options.results.read_text(encoding="utf-8"))
    peers = {}
    if options.peers:
        peers = peers_table.ratios(peers_table.read(options.peers))
    options.out.write_text(drawn(results, peers), encoding="utf-8")


if __name__ == "__main__":
    main()
