"""The review desk's figures over many rows: review.py [--rows N]. Prints a table.

Each figure is the median of several tries in this process; decisions are timed with and
without the disk's part, which is the ``fsync`` of the log.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

TEXT = "The quick brown fox jumps over the lazy dog near the river Danube. " * 12


def build(n: int) -> pd.DataFrame:
    """Return ``n`` rows as a run gives them, rated, some of them duplicates."""
    random = np.random.default_rng(1)
    starts = random.integers(0, 50_000, n)
    ids = [f"{i:016x}" for i in range(n)]
    leaders = [ids[i // 2] if i % 40 == 1 else None for i in range(n)]
    ratings = pd.array(random.integers(1, 11, n).astype(float), dtype="Float64")
    ratings[random.random(n) < 0.02] = pd.NA
    return pd.DataFrame(
        {
            "record_id": pd.array(ids, dtype="string"),
            "step": "qa",
            "source": pd.array([f"book-{i % 40}.pdf" for i in range(n)], dtype="string"),
            "page": pd.array(starts // 2000 + 1, dtype="Int64"),
            "start": pd.array(starts, dtype="Int64"),
            "question": [f"What does fox number {i} jump over near the river?" for i in range(n)],
            "answer": [f"Over the lazy dog number {i * 7919 % n}." for i in range(n)],
            "evidence": "The quick brown fox jumps over the lazy dog near the river Danube.",
            "evidence_start": pd.array(starts, dtype="Int64"),
            "evidence_end": pd.array(starts + 66, dtype="Int64"),
            "status": pd.array(
                ["truncated" if i % 50 == 0 else "ok" for i in range(n)], dtype="string"
            ),
            "rating": ratings,
            "rating_reason": "answers the question from the text",
            "duplicate_of": pd.array(leaders, dtype="string"),
            "text": TEXT,
        }
    )  # fmt: skip


class Table:
    """Times calls and prints them beside what they may take."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, float, float | None]] = []

    def time(self, name, call, limit=None, tries=5, before=None):
        seconds = []
        for i in range(tries):
            if before is not None:
                before(i)
            start = time.perf_counter()
            result = call(i)
            seconds.append(time.perf_counter() - start)
        self.rows.append((name, statistics.median(seconds) * 1e3, limit))
        return result

    def show(self) -> None:
        print("| operation | ms (median) | may take |\n|---|---|---|")
        for name, ms, limit in self.rows:
            may = "" if limit is None else f"{limit * 1e3:,.0f}"
            late = " **late**" if limit is not None and ms > limit * 1e3 else ""
            print(f"| {name} | {ms:,.1f}{late} | {may} |")


def measure(df: pd.DataFrame, folder: Path) -> Table:
    from synthnb.curation.decided_frame import apply_decisions
    from synthnb.records import Decision
    from synthnb.reviewing import decide
    from synthnb.store.decisions import DecisionLog
    from synthnb.widgets.review_model import ReviewModel

    table, n = Table(), len(df)
    ReviewModel(df.head(10), folder=folder / "warm").open()  # imports are paid once
    model = table.time(
        "construct", lambda i: ReviewModel(df, folder=folder / f"new{i}"), 0.5
    )
    fresh = iter([ReviewModel(df, folder=folder / f"new{i}") for i in range(5)])
    table.time("open", lambda _: next(fresh).open(), 0.3)
    table.time(
        "rows, a page of 100", lambda i: model.rows(i * 1000, i * 1000 + 100), 0.02, 50
    )
    table.time("record", lambda i: model.record(i * 37), 0.02, 200)
    table.time("next undecided", lambda i: model.next(i * 31), 0.02, 200)
    table.time(
        "decide, disk and all",
        lambda i: model.decide(model.records.keys[i], "accept"),
        None,
        200,
    )
    keys, alone = model.records.keys, DecisionLog(folder / "alone")
    table.time(
        "the write of it alone",
        lambda i: alone.append([Decision(keys[i], "accept")], by="me"),
        None,
        200,
    )
    part = table.rows[-2][1] - table.rows[-1][1]
    table.rows.append(("decide, without the write", part, 0.02))
    table.time(
        "first text search", lambda _: model.set_filter({"text": "number 4711"}), 0.5, 1
    )
    words = [
        "fox 123",
        "danube",
        "dog number 9",
        "nothing of the kind",
        "river over 77",
    ]
    table.time("text search", lambda i: model.set_filter({"text": words[i]}), 0.5)
    model.set_filter({"text": ""})
    for key in ("rating", "length", "source", "decided"):
        table.time(
            f"sort by {key}",
            lambda i, key=key: model.set_filter(
                {"sort": key, "descending": i % 2 == 0}
            ),
            0.5,
        )
    model.set_filter({"sort": "order", "descending": False})
    table.time(
        "filter undecided", lambda _: model.set_filter({"decision": "undecided"}), 0.5
    )
    model.set_filter({"decision": ""})
    table.time("judge at a threshold", lambda i: model.judge(3 + i), 0.1)
    table.time("accept and reject all by threshold", lambda _: model.bulk(6), 2, 1)
    table.time("undo of that", lambda _: model.undo(), 2, 1)
    model.bulk(6)
    table.time(
        "open with all decided",
        lambda _: ReviewModel(df, folder=folder / "new4").open(),
        0.8,
        3,
    )
    copy = folder / "copy"
    table.time(
        "construct with all decided, log read anew",
        lambda i: ReviewModel(df, folder=copy / str(i)),
        1.5,
        3,
        lambda i: shutil.copytree(folder / "new4", copy / str(i)),
    )
    table.time(
        "frame with all decisions",
        lambda _: apply_decisions(model.records.df, model.live.book),
        2,
        3,
    )
    table.time(
        "sn.decide(df, id, ...)",
        lambda i: decide(df, model.records.keys[i], "accept", folder=folder / "new3"),
        2,
        3,
    )
    print(f"{n:,} rows, {os.cpu_count()} cores")
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(build(options.rows), Path(folder)).show()


if __name__ == "__main__":
    main()
