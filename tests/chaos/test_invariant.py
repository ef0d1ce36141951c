"""The invariant's own test: it holds after a run, and sees each break of it."""

from __future__ import annotations

import sqlite3

import pytest
from invariant import check_invariant

from synthnb.pipeline import generate


@pytest.fixture
async def folder(echo, puppet, tmp_path):
    target = tmp_path / "run"
    await generate(
        echo(), [{"text": f"t{i}"} for i in range(20)], puppet(), folder=target
    )
    return target


async def test_it_holds_after_a_run(folder):
    found = check_invariant(folder, {f"t{i}" for i in range(20)}, acknowledged=20)
    assert found.texts == {f"t{i}": f"t{i}" for i in range(20)}
    assert (found.results, found.attempts, found.calls) == (20, 20, 20)
    assert (found.prompt_tokens, found.completion_tokens) == (100, 140)
    assert found.by_status == {"ok": 20}


ANOTHER_ROW = "UPDATE input SET data = '{}' WHERE row_id IN (SELECT row_id FROM slot WHERE id = 3)"
NO_INDEX = (
    "CREATE TABLE r2 AS SELECT * FROM result; DROP TABLE result;"
    "ALTER TABLE r2 RENAME TO result"
)


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("DELETE FROM attempt WHERE slot_id = 3", "without an attempt"),
        ("DELETE FROM slot WHERE id = 3", "no slot"),
        ("DELETE FROM result WHERE id = 3", "is not there"),
        ("UPDATE attempt SET completion_tokens = -1", "cannot be"),
        ("UPDATE attempt SET seconds = -1", "negative"),
        (ANOTHER_ROW, "never asked for"),
        (NO_INDEX, "UNIQUE"),
    ],
)
async def test_it_sees_a_break(folder, sql, words):
    db = sqlite3.connect(folder / "run.sqlite")
    db.executescript(sql)
    db.close()
    with pytest.raises(AssertionError, match=words):
        check_invariant(folder, {f"t{i}" for i in range(20)}, acknowledged=20)


async def test_it_sees_an_open_file(folder):
    (folder / "run.sqlite").chmod(0o644)
    with pytest.raises(AssertionError, match="644"):
        check_invariant(folder)
