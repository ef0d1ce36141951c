"""Tables of the peers' harness: peers_table.py results.jsonl [--out peers.md].

Reads the lines that its ``bench.py`` appends, one a run; the same client more than once
counts with its median. Ratios are to raw aiohttp in the same file.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from draws import Work, list_bound

BASE = "raw_aiohttp"
LABELS = {
    "raw_aiohttp": "raw aiohttp",
    "raw_aiohttp_uv_orjson": "raw aiohttp, uvloop, orjson",
    "oai3_default_sem": "openai, default client",
    "oai3_aio": "openai, aiohttp transport",
    "curator": "curator",
    "data_designer": "data-designer",
    "data_designer_resume": "data-designer, resume on",
    "sdk_vllm": "synthetic-data-kit, vllm",
    "sdk_api": "synthetic-data-kit, api-endpoint",
    "synthnb": "synthnb",
    "synthnb_fixed": "synthnb, adaptive=False",
}
TITLES = {
    "A64": "what a request costs: latency 0, 64 at a time",
    "B": "every answer after 200 ms, 100 at a time",
    "C": "a heavy tail of latencies, 64 at a time",
    "D": "faults: 429, 500, resets, answers that never come",
    "E": "kill -9 at half, then started again",
}

Record = Mapping[str, Any]
Runs = dict[str, dict[str, list[Record]]]
"""case → client → its runs."""


def read(path: Path) -> Runs:
    """Read the harness's lines."""
    found: Runs = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if record["work"] in TITLES:
            by_name = found.setdefault(record["work"], {})
            by_name.setdefault(record["name"], []).append(record)
    return found


def best(record: Record) -> float:
    """Return the seconds that the best possible client would take."""
    work, n, c = Work.of(record["cfg"]), record["n"], record["c"]
    if work.dist == "fixed":
        return math.ceil(n / c) * work.lat / 1e3
    return list_bound([work.seconds(i) for i in range(n)], c)


def _cpu(record: Record) -> float:
    return record["res"]["cpu"] / record["n"] * 1e3


def _pace(record: Record) -> float:
    return record["n"] / record["res"]["wall"]


def _of_best(record: Record) -> float:
    return best(record) / record["res"]["wall"]


def _middle(runs: Iterable[Record], figure: Callable[[Record], float]) -> float | None:
    values = [figure(run) for run in runs if run.get("res")]
    return statistics.median(values) if values else None


_FIGURES: dict[str, Callable[[Record], float]] = {
    "A64": _cpu,
    "B": _of_best,
    "C": _of_best,
}


def ratios(runs: Runs) -> dict[str, dict[str, float]]:
    """Return case → {client: what the picture shows}, in the order of the file.

    A64: CPU a request as a ratio to raw aiohttp; B and C: share of the best possible.
    """
    shown: dict[str, dict[str, float]] = {}
    for case, figure in _FIGURES.items():
        by_name = runs.get(case, {})
        base = _middle(by_name.get(BASE, []), figure) if case == "A64" else 1.0
        for name, its in by_name.items():
            value = _middle(its, figure)
            if value is not None and base:
                label = LABELS.get(name, name)
                shown.setdefault(case, {})[label] = value / base
    return shown


def _cells(case: str, runs: list[Record], base: list[Record]) -> list[str]:
    """Return the cells of one client after its name."""
    good = [run for run in runs if run.get("res")]
    if not good:
        why = runs[-1].get("killed") or f"ended with {runs[-1].get('rc')}"
        return [f"no result ({why})"]
    last = good[-1]
    lost = f"{last['res']['lost']}" + _wrong(last)
    if case == "E":
        names = ("delivered", "resent", "new")
        middle = [statistics.median(run[name] for run in good) for name in names]
        return [*(f"{value:g}" for value in middle), lost]
    if case == "D":
        wall = _middle(good, lambda r: r["res"]["wall"])
        return [f"{last['n']}", lost, f"{last['st']['req']}", f"{wall:.1f}"]
    value, raw = (_middle(r, _FIGURES[case]) for r in (good, base))
    ratio = f"{value / raw:.2f}" if raw else "-"
    if case == "A64":
        pace = _middle(good, _pace)
        return [f"{last['n']}", f"{value:.2f}", ratio, f"{pace:,.0f}", lost]
    wall = _middle(good, lambda r: r["res"]["wall"])
    return [f"{last['n']}", f"{wall:.2f}", f"{value:.2f}", ratio, lost]


def _wrong(record: Record) -> str:
    wrong = record["res"]["wrong"]
    return f" ({wrong} wrong)" if wrong else ""


_HEADS = {
    "A64": ["requests", "CPU ms a request", "x", "requests/s", "lost"],
    "B": ["requests", "seconds", "best possible / seconds", "x", "lost"],
    "C": ["requests", "seconds", "best possible / seconds", "x", "lost"],
    "D": ["requests", "rows lost", "requests sent", "seconds"],
    "E": ["answered before the kill", "of these sent again", "new", "lost"],
}


def document(runs: Runs) -> str:
    """Return the tables in Markdown."""
    parts: list[str] = []
    for case, title in TITLES.items():
        if case not in runs:
            continue
        heads = ["client", *_HEADS[case]]
        lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
        base = runs[case].get(BASE, [])
        for name, its in runs[case].items():
            cells = [LABELS.get(name, name), *_cells(case, its, base)]
            cells += ["-"] * (len(heads) - len(cells))
            lines.append(f"| {' | '.join(cells)} |")
        parts.append(f"## {case}: {title}\n\n" + "\n".join(lines) + "\n")
    return "\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    text = document(read(options.results))
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
