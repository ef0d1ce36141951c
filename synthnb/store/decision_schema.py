"""The tables of a log of decisions: two that only grow.

The triggers hold against every program that opens the file, ours included: no row is
changed, deleted or replaced.
"""

from __future__ import annotations

VERSION = 1
"""``PRAGMA user_version``; a file with a higher one is refused."""

APPLICATION = 0x736E6264
"""``PRAGMA application_id``: "snbd", so that no other database is taken for a log."""

_REFUSE = "SELECT RAISE(ABORT, 'decisions are only ever added')"

# An entry's key is its place in the log, so entries are written and read in one run and
# need no second index. "INSERT OR REPLACE" deletes without asking a delete trigger: the
# insert triggers refuse it.
TABLES = f"""
CREATE TABLE IF NOT EXISTS step(
  number INTEGER PRIMARY KEY, decided_by TEXT NOT NULL, decided_at TEXT NOT NULL,
  undoes INTEGER UNIQUE REFERENCES step(number));
CREATE TABLE IF NOT EXISTS entry(
  step INTEGER NOT NULL REFERENCES step(number), place INTEGER NOT NULL,
  record_id TEXT NOT NULL, action TEXT NOT NULL, what TEXT,
  PRIMARY KEY(step, place)) WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS step_changed BEFORE UPDATE ON step BEGIN {_REFUSE}; END;
CREATE TRIGGER IF NOT EXISTS step_deleted BEFORE DELETE ON step BEGIN {_REFUSE}; END;
CREATE TRIGGER IF NOT EXISTS step_replaced BEFORE INSERT ON step
  WHEN EXISTS (SELECT 1 FROM step
    WHERE number = NEW.number OR undoes = NEW.undoes) BEGIN {_REFUSE}; END;
CREATE TRIGGER IF NOT EXISTS entry_changed BEFORE UPDATE ON entry BEGIN {_REFUSE}; END;
CREATE TRIGGER IF NOT EXISTS entry_deleted BEFORE DELETE ON entry BEGIN {_REFUSE}; END;
CREATE TRIGGER IF NOT EXISTS entry_replaced BEFORE INSERT ON entry
  WHEN EXISTS (SELECT 1 FROM entry
    WHERE step = NEW.step AND place = NEW.place) BEGIN {_REFUSE}; END;
"""  # noqa: S608 - put together from constants only

LAST = "SELECT coalesce(max(number), 0) FROM step"
PUT_STEP = (
    "INSERT INTO step(number, decided_by, decided_at, undoes) VALUES (?, ?, ?, ?)"
)
PUT_ENTRY = (
    "INSERT INTO entry(step, place, record_id, action, what) VALUES (?, ?, ?, ?, ?)"
)
STEPS = (
    "SELECT number, decided_by, decided_at, undoes FROM step"
    " WHERE number > ? ORDER BY number"
)
ENTRIES = (
    "SELECT step, record_id, action, what FROM entry"
    " WHERE step > ? ORDER BY step, place"
)
LAST_STANDING = (
    "SELECT number FROM step s WHERE decided_by = ? AND undoes IS NULL AND NOT EXISTS"
    " (SELECT 1 FROM step u WHERE u.undoes = s.number) ORDER BY number DESC LIMIT 1"
)
