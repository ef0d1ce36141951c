from __future__ import annotations

import sqlite3

import pytest

from synthnb.store import schema
from synthnb.store.batches import batches

SQL = "INSERT INTO t(a, b) VALUES (?,?) ON CONFLICT(a) DO UPDATE SET b=excluded.b"


@pytest.fixture
def db():
    found = sqlite3.connect(":memory:")
    found.execute("CREATE TABLE t(a INTEGER UNIQUE, b TEXT)")
    yield found
    found.close()


@pytest.mark.parametrize("number", [0, 1, 3, 4, 63, 64, 65, 256, 341])
def test_every_row_arrives_in_its_order(db, number):
    rows = [(n, f"v{n}") for n in range(number)]
    for statement, values in batches(SQL, rows):
        db.execute(statement, values)
    assert db.execute("SELECT a, b FROM t ORDER BY rowid").fetchall() == rows


def test_the_later_of_two_rows_with_one_key_wins_within_a_statement(db):
    rows = [(n % 3, f"v{n}") for n in range(64)]
    ((statement, values),) = batches(SQL, rows)
    db.execute(statement, values)
    assert dict(db.execute("SELECT a, b FROM t")) == {0: "v63", 1: "v61", 2: "v62"}


def test_few_statements_are_made_for_any_number_of_rows():
    made = [s for n in range(400) for s, _ in batches(SQL, [(1, "a")] * n)]
    assert len(set(made)) == 4
    assert max(made.count(s) for s in set(made)) < len(made)


@pytest.mark.parametrize(
    "sql",
    [schema.PUT_SLOT, schema.PUT_INPUT, schema.PUT_ATTEMPT, schema.PUT_RESULT],
)
def test_no_table_of_the_ledger_is_too_wide_for_any_sqlite(sql):
    width = sql.partition("VALUES")[2].partition(")")[0].count("?")
    assert all(len(values) <= 999 for _, values in batches(sql, [(0,) * width] * 400))
