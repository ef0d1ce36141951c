"""What holds after every fault, read from the ledger's file and not from the engine.

Filled slots are among those that were asked for, a slot has one answer, what was
acknowledged is there, each answer has an attempt, the cost is the sum of the attempts,
the file is sound and private.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import stat
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from synthnb.store import RunStore

_UNIQUE = {
    "slot": ("row_id", "step", "sample_index", "round"),
    "result": ("slot_id", "request_key"),
}


class Found(NamedTuple):
    """What a ledger holds, for the test's own questions."""

    answers: dict[tuple[str, int, int], tuple[str, str]]
    """(row id, sample, round) → (status, text): answers to the slots' present requests."""
    texts: dict[str, str]
    """The input's ``text``, where it has one, → the first sample's first answer."""
    results: int
    """All answers, those to older prompts included."""
    attempts: int
    calls: int
    """Attempts that went to a server: those that cost."""
    prompt_tokens: int
    completion_tokens: int
    by_status: Counter[str]
    """Attempts by status."""


def check_invariant(
    folder: Path,
    requested: Collection[str] | None = None,
    *,
    acknowledged: int = 0,
    private: bool = True,
) -> Found:
    """Prove the invariant of a run's folder, and return what is in it.

    Args:
        folder: the run's folder; the run may still be at work.
        requested: row ids, or the rows' ``text``s, of all that was ever asked for.
        acknowledged: answers that were said to be saved.
        private: whether the run made the folder itself, which is then only its user's.
    """
    folder = Path(folder)
    # SQLite takes a snapshot: all that follows is one moment of a run at work.
    with contextlib.closing(_open(folder / "run.sqlite")) as db:
        db.execute("BEGIN")
        assert [row[0] for row in db.execute("PRAGMA quick_check")] == ["ok"]
        _check_unique(db)
        found = _found(db)
        _check_requested(db, requested)
        _check_attempts(db)
        assert found.results >= acknowledged, "an acknowledged answer is not there"
    _check_cost(folder, found)
    _check_modes(folder, private=private)
    return found


def _open(path: Path) -> sqlite3.Connection:
    assert path.exists(), f"there is no ledger at {path}"
    return sqlite3.connect(path, timeout=30, isolation_level=None)


def _check_unique(db: sqlite3.Connection) -> None:
    for table, columns in _UNIQUE.items():
        names = ", ".join(columns)
        query = f"SELECT {names} FROM {table} GROUP BY {names} HAVING count(*) > 1"
        assert db.execute(query).fetchall() == [], f"doubled in {table}"
        indexes = db.execute(f"PRAGMA index_list({table})").fetchall()
        unique = {
            tuple(row[2] for row in db.execute(f"PRAGMA index_info({index[1]})"))
            for index in indexes
            if index[2]
        }
        assert columns in unique, f"{table} has lost its UNIQUE({names})"


def _found(db: sqlite3.Connection) -> Found:
    answers = {
        (row_id, sample, round_): (status, text)
        for row_id, sample, round_, status, text in db.execute(
            "SELECT s.row_id, s.sample_index, s.round, r.status, r.text FROM slot s"
            " JOIN result r ON r.slot_id = s.id AND r.request_key = s.request_key"
        )
    }
    inputs = dict(db.execute("SELECT row_id, data FROM input"))
    texts = {
        json.loads(inputs[row_id]).get("text"): text
        for (row_id, sample, round_), (_, text) in answers.items()
        if sample == round_ == 0 and row_id in inputs
    }
    results = db.execute("SELECT count(*) FROM result").fetchone()[0]
    attempts = db.execute("SELECT count(*) FROM attempt").fetchone()[0]
    cost = db.execute(
        "SELECT count(*), coalesce(sum(prompt_tokens), 0),"
        " coalesce(sum(completion_tokens), 0) FROM attempt WHERE endpoint <> ''"
    ).fetchone()
    by_status = Counter(
        dict(db.execute("SELECT status, count(*) FROM attempt GROUP BY status"))
    )
    return Found(answers, texts, results, attempts, *cost, by_status)


def _check_requested(db: sqlite3.Connection, requested: Collection[str] | None) -> None:
    orphans = db.execute(
        "SELECT count(*) FROM result WHERE slot_id NOT IN (SELECT id FROM slot)"
    ).fetchone()[0]
    assert orphans == 0, "an answer belongs to no slot"
    if requested is None:
        return
    known = set(requested)
    for row_id, data in db.execute(
        "SELECT DISTINCT s.row_id, i.data FROM slot s JOIN result r ON r.slot_id = s.id"
        " LEFT JOIN input i ON i.row_id = s.row_id"
    ):
        text = json.loads(data).get("text") if data else None
        assert row_id in known or text in known, f"row {row_id} was never asked for"


def _check_attempts(db: sqlite3.Connection) -> None:
    free = db.execute(
        "SELECT r.slot_id, r.status FROM result r WHERE NOT EXISTS (SELECT 1 FROM"
        " attempt a WHERE a.slot_id = r.slot_id AND a.request_key = r.request_key)"
    ).fetchall()
    assert free == [], "an answer without an attempt"
    for name in ("prompt_tokens", "completion_tokens"):
        wrong = db.execute(
            f"SELECT count(*) FROM attempt WHERE {name} IS NOT NULL"
            f" AND (typeof({name}) <> 'integer' OR {name} < 0)"
        ).fetchone()[0]
        assert wrong == 0, f"{name} that cannot be"
    wrong = db.execute("SELECT count(*) FROM attempt WHERE seconds < 0").fetchone()[0]
    assert wrong == 0, "an attempt of negative length"


def _check_cost(folder: Path, found: Found) -> None:
    """Compare with what the store says; a run at work may have bought more by now."""
    cost = RunStore(folder).cost()
    ours = (found.calls, found.prompt_tokens, found.completion_tokens)
    at_work = (folder / "owner.json").exists()
    grown = at_work and all(a <= b for a, b in zip(ours, cost, strict=True))
    assert ours == cost or grown, f"the attempts' sum is {ours}, the store says {cost}"


def _check_modes(folder: Path, *, private: bool) -> None:
    if private:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700, "the folder is not private"
    for path in folder.glob("run.sqlite*"):
        with contextlib.suppress(FileNotFoundError):  # a -wal that goes just now
            mode = stat.S_IMODE(path.stat().st_mode)
            assert mode == 0o600, f"{path.name} has mode {mode:o}"
