"""The ledger's tables.

Ordinary rowid tables with a UNIQUE index: clustering on a hash key was measured four
times slower to write. ``attempt`` and ``result`` are append-only.
"""

from __future__ import annotations

VERSION = 1
"""``PRAGMA user_version``; a higher one in a file refuses to be written."""

TABLES = """
CREATE TABLE IF NOT EXISTS meta(
  key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS input(
  row_id TEXT NOT NULL UNIQUE, data TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS slot(
  id INTEGER PRIMARY KEY, row_id TEXT NOT NULL, step TEXT NOT NULL,
  sample_index INTEGER NOT NULL, round INTEGER NOT NULL, request_key TEXT NOT NULL,
  generation INTEGER NOT NULL, ordinal INTEGER NOT NULL,
  UNIQUE(row_id, step, sample_index, round));
CREATE TABLE IF NOT EXISTS attempt(
  id INTEGER PRIMARY KEY, slot_id INTEGER NOT NULL, request_key TEXT NOT NULL,
  started_at TEXT NOT NULL, seconds REAL NOT NULL, status TEXT NOT NULL,
  http_status INTEGER, prompt_tokens INTEGER, completion_tokens INTEGER,
  detail TEXT NOT NULL, endpoint TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS attempt_slot ON attempt(slot_id);
CREATE TABLE IF NOT EXISTS result(
  id INTEGER PRIMARY KEY, slot_id INTEGER NOT NULL, request_key TEXT NOT NULL,
  status TEXT NOT NULL, detail TEXT NOT NULL, text TEXT NOT NULL, reasoning TEXT,
  finish_reason TEXT, model TEXT, request_id TEXT, prompt_tokens INTEGER,
  completion_tokens INTEGER, estimated INTEGER NOT NULL, adapted TEXT NOT NULL,
  created_at TEXT NOT NULL,
  UNIQUE(slot_id, request_key));
"""

PUT_INPUT = (
    "INSERT INTO input(row_id, data) VALUES (?, ?) ON CONFLICT(row_id) DO UPDATE SET"
    " data=excluded.data WHERE data <> excluded.data"
)
PUT_SLOT = (
    "INSERT INTO slot(id, row_id, step, sample_index, round, request_key, generation,"
    " ordinal) VALUES (?,?,?,?,?,?,?,?) ON CONFLICT(id) DO UPDATE SET"
    " request_key=excluded.request_key, generation=excluded.generation,"
    " ordinal=excluded.ordinal"
)
PUT_ATTEMPT = (
    "INSERT INTO attempt(slot_id, request_key, started_at, seconds, status,"
    " http_status, prompt_tokens, completion_tokens, detail, endpoint)"
    " VALUES (?,?,?,?,?,?,?,?,?,?)"
)
PUT_RESULT = (
    "INSERT OR IGNORE INTO result(slot_id, request_key, status, detail, text,"
    " reasoning, finish_reason, model, request_id, prompt_tokens, completion_tokens,"
    " estimated, adapted, created_at) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
)
RESULT_ADAPTED = 12
"""Place of ``adapted`` among the values of ``PUT_RESULT``."""
PUT_META = "INSERT OR REPLACE INTO meta(key, value) VALUES (?, ?)"

_RESULT_COLUMNS = (
    "r.status, r.detail, r.text, r.reasoning, r.finish_reason, r.model, r.request_id,"
    " r.prompt_tokens, r.completion_tokens, r.estimated, r.adapted"
)
_SLOT_COLUMNS = "s.id, s.row_id, s.sample_index, s.round, s.request_key, s.ordinal"

# An attempt belongs to the slot's present request only where the keys agree: what an
# older prompt cost stays in the table and does not count for the new one.
_ATTEMPTS = (
    "(SELECT count(*) FROM attempt a WHERE a.slot_id = s.id"
    " AND a.request_key = s.request_key)"
)
_LAST = (
    "(SELECT a.{column} FROM attempt a WHERE a.slot_id = s.id"
    " AND a.request_key = s.request_key ORDER BY a.id DESC LIMIT 1)"
)

GENERATION_SLOTS = (
    f"SELECT {_SLOT_COLUMNS}, {_ATTEMPTS}, {_LAST.format(column='status')},"
    f" {_LAST.format(column='detail')}, {_RESULT_COLUMNS}"
    " FROM slot s LEFT JOIN result r"
    " ON r.slot_id = s.id AND r.request_key = s.request_key"
    " WHERE s.generation = ? AND s.step = ?{only}"
    " ORDER BY s.ordinal, s.sample_index, s.round"
)
ROW_SLOTS = (
    "SELECT id, sample_index, round, request_key, generation FROM slot"
    " WHERE step = ? AND row_id = ? ORDER BY sample_index, round"
)
SLOT_ATTEMPTS = (
    "SELECT slot_id, request_key, started_at, seconds, status, http_status,"
    " prompt_tokens, completion_tokens, detail, endpoint FROM attempt"
    " WHERE slot_id = ? ORDER BY id"
)
SLOT_RESULT = (
    f"SELECT {_RESULT_COLUMNS} FROM result r WHERE r.slot_id = ? AND r.request_key = ?"
)
# In the order of the table: sorting a million slots would cost more than all the rest.
STEP_SAMPLES = "SELECT row_id, sample_index FROM slot WHERE step = ? AND round = 0"
KNOWN_SLOTS = (
    "SELECT s.id, s.row_id, s.sample_index, s.round FROM slot s"
    " WHERE s.step = ? AND s.row_id IN ({marks})"
)
KNOWN_RESULTS = (
    f"SELECT r.slot_id, r.request_key, {_RESULT_COLUMNS} FROM result r"
    " JOIN slot s ON s.id = r.slot_id WHERE s.step = ? AND s.row_id IN ({marks})"
)
