"""Medians, ratios, and the tables of a benchmark run."""

from __future__ import annotations

import os
import platform
import sqlite3
import statistics
import subprocess
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import psutil
from cases import Case

_PACKAGES = ("synthnb", "httptools", "aiohttp", "openai", "orjson", "jinja2", "pandas",
             "rensa", "datasketch", "uvloop")  # fmt: skip


def medians(rounds: list[dict[str, float]]) -> dict[str, float]:
    """Return the median of each figure."""
    return {key: statistics.median(r[key] for r in rounds) for key in rounds[0]}


def summary(case: Case, results: Mapping[str, list[dict[str, float]]]) -> list[dict]:
    """Return a row a measure: its medians, and ``x_<key>``, the ratios to the first."""
    rows: list[dict[str, Any]] = []
    for label, rounds in results.items():
        row: dict[str, Any] = {"label": label, **medians(rounds)}
        for column in case.columns:
            if column.ratio:
                base = (rows[0] if rows else row)[column.key]
                row[f"x_{column.key}"] = row[column.key] / base if base else None
        rows.append(row)
    return rows


def table(case: Case, rows: Iterable[Mapping[str, Any]]) -> str:
    """Return a case's table in Markdown."""
    heads = [""]
    for column in case.columns:
        heads += [column.head, "x"] if column.ratio else [column.head]
    lines = [_line(heads), "|---" * len(heads) + "|"]
    for row in rows:
        cells = [row["label"]]
        for column in case.columns:
            cells.append(format(row[column.key], column.form))
            if column.ratio:
                ratio = row[f"x_{column.key}"]
                cells.append("-" if ratio is None else f"{ratio:.2f}")
        lines.append(_line(cells))
    return "\n".join(lines)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def section(case: Case, outcome: Mapping[str, Any]) -> str:
    """Return a case's heading and table."""
    rounds = outcome["rounds"]
    said = f"medians of {rounds} rounds" if rounds > 1 else "one round"
    load = " → ".join(f"{value:.1f}" for value in outcome["load"])
    return (
        f"## {case.name}: {case.title}\n\n{outcome['n']:,} {case.unit}, {said},"
        f" load average {load}\n\n{table(case, outcome['rows'])}\n"
    )


def document(results: Mapping[str, Any], cases: Iterable[Case]) -> str:
    """Return all of ``results.md``."""
    machine = ", ".join(f"{k} {v}" for k, v in results["machine"].items())
    versions = ", ".join(f"{k} {v}" for k, v in results["versions"].items())
    head = (
        f"{results['date']}; {results['seconds']:.0f} s in all; server:"
        f" {results['server']}\n\nMachine: {machine}\n\nVersions: {versions}\n\n"
        "Columns x are ratios to the first row of the same run. Quote those, not the"
        " times: machines differ, and are noisy.\n"
    )
    done = results["cases"]
    parts = [section(case, done[case.name]) for case in cases if case.name in done]
    return "\n".join(["# Benchmarks\n", head, *parts])


def versions() -> dict[str, str]:
    """Return the version of everything that is measured."""
    found = {"Python": platform.python_version(), "SQLite": sqlite3.sqlite_version}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    if commit := _commit():
        found["commit"] = commit
    return found


def machine() -> dict[str, str]:
    """Return what the figures depend on besides the code."""
    return {
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cores": str(len(psutil.Process().cpu_affinity() or []) or os.cpu_count())
        if hasattr(psutil.Process, "cpu_affinity")
        else str(os.cpu_count()),
        "memory": f"{psutil.virtual_memory().total / 2**30:.0f} GB",
    }


def _commit() -> str:
    here = Path(__file__).parent
    try:
        return subprocess.run(
            ["git", "describe", "--always", "--dirty", "--exclude=*"],
            cwd=here, capture_output=True, text=True, check=True,
        ).stdout.strip()  # fmt: skip
    except (OSError, subprocess.CalledProcessError):
        return ""
