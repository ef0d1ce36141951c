"""Measurements of the ledger: rows committed a second, and how long a commit takes."""

from __future__ import annotations

import os
import sqlite3
import tempfile
import threading
import time
from argparse import Namespace
from contextlib import closing
from pathlib import Path

from clocks import Clock, share

_GROUP = 256
"""The most that our writer commits at once; the plain one does the same."""
_PACE = 250
"""Answers a second while the time of single commits is taken."""
_TEXT = "answer " + "word " * 80
_WHEN = "2026-01-01T00:00:00.000Z"


def _rows(i: int):
    from synthnb.store import AttemptRow, ResultRow, SlotRow, StoredResult

    key = f"{i:032x}"
    slot = SlotRow(i + 1, f"row-{key}", "prompt", 0, 0, key, 1, i)
    said = StoredResult("ok", text=_TEXT, finish_reason="stop", model="stub")
    attempt = AttemptRow(i + 1, key, _WHEN, 0.1, "ok", 200, 100, 100, "", "stub")
    return slot, attempt, ResultRow(i + 1, key, said, _WHEN)


def _stored(path: Path) -> int:
    with closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT count(*) FROM result").fetchone()[0]


async def committed(options: Namespace) -> dict:
    """Slots and answers through ``RunStore``, as fast as it takes them."""
    from synthnb.store import RunStore

    rows = [_rows(i) for i in range(options.n)]
    with tempfile.TemporaryDirectory(dir=os.curdir) as folder:
        store = RunStore(Path(folder) / "run")
        store.open()
        with Clock() as clock:
            for slot, attempt, result in rows:
                store.put_slot(slot, {"i": slot.ordinal})
                store.put_attempt(attempt, result)
            store.flush()
        store.close()
        return clock.figures(options.n) | {"good": _stored(store.path)}


async def executemany(options: Namespace) -> dict:
    """The same rows into the same tables by plain ``sqlite3``, in groups of 256."""
    from synthnb.store import schema

    rows = [_rows(i) for i in range(options.n)]
    with tempfile.TemporaryDirectory(dir=os.curdir) as folder:
        path = Path(folder) / "plain.sqlite"
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=FULL")
            db.executescript(schema.TABLES)
            with Clock() as clock:
                for at in range(0, len(rows), _GROUP):
                    _insert(db, rows[at : at + _GROUP])
        return clock.figures(options.n) | {"good": _stored(path)}


def _insert(db: sqlite3.Connection, group: list) -> None:
    from synthnb.store import schema

    db.execute("BEGIN IMMEDIATE")
    db.executemany(schema.PUT_SLOT, [slot for slot, _, _ in group])
    inputs = [(slot.row_id, f'{{"i":{slot.ordinal}}}') for slot, _, _ in group]
    db.executemany(schema.PUT_INPUT, inputs)
    db.executemany(schema.PUT_ATTEMPT, [attempt for _, attempt, _ in group])
    results = [(r.slot_id, r.request_key, *r.answer, r.created_at) for *_, r in group]
    db.executemany(schema.PUT_RESULT, results)
    db.execute("COMMIT")


async def commit(options: Namespace) -> dict:
    """How long one answer takes from the hand-over until it is on disk."""
    from synthnb.store import RunStore

    handed: list[float] = []
    seconds: list[float] = []

    def saved(tickets: list[int]) -> None:
        now = time.perf_counter()
        seconds.extend(now - handed[ticket] for ticket in tickets)

    pause = threading.Event()
    with tempfile.TemporaryDirectory(dir=os.curdir) as folder:
        store = RunStore(Path(folder) / "run")
        store.open(on_commit=saved)
        with Clock() as clock:
            for i in range(options.n):
                slot, attempt, result = _rows(i)
                store.put_slot(slot, {"i": i})
                handed.append(time.perf_counter())
                store.put_attempt(attempt, result, ticket=i)
                pause.wait(1 / _PACE)
            store.flush()
        store.close()
        figures = clock.figures(options.n) | {"good": _stored(store.path)}
    for name, part in (("p50", 0.5), ("p99", 0.99), ("max", 1)):
        figures[f"commit_{name}_ms"] = share(seconds, part) * 1e3
    return figures
