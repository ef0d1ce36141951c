"""Reading everything that the ledger knows of one row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from synthnb.store.ledger import RunStore
from synthnb.store.rows import StoredResult

_SLOTS = (
    "SELECT id, sample_index, round, request_key, generation FROM slot"
    " WHERE step = ? AND row_id = ? ORDER BY sample_index, round"
)
_ATTEMPTS = (
    "SELECT started_at, seconds, status, http_status, prompt_tokens,"
    " completion_tokens, detail, endpoint, request_key FROM attempt"
    " WHERE slot_id = ? ORDER BY id"
)
_RESULT = (
    "SELECT status, detail, text, reasoning, finish_reason, model, request_id,"
    " prompt_tokens, completion_tokens, estimated, adapted FROM result"
    " WHERE slot_id = ? AND request_key = ?"
)
# In the order of the table: sorting a million slots would cost more than all the rest.
_SAMPLES = "SELECT row_id, sample_index FROM slot WHERE step = ? AND round = 0"


class PastAttempt(NamedTuple):
    """One call as the ledger keeps it."""

    started_at: str
    seconds: float
    status: str
    http_status: int | None
    prompt_tokens: int | None
    completion_tokens: int | None
    detail: str
    endpoint: str
    request_key: str


class PastSlot(NamedTuple):
    """One wanted answer, with every call that was made for it."""

    sample_index: int
    round: int
    request_key: str
    generation: int
    attempts: tuple[PastAttempt, ...]
    result: StoredResult | None


def slots_of_row(store: RunStore, step: str, row_id: str) -> list[PastSlot]:
    """Return a row's slots, the rounds of a sample one after the other."""
    found: list[PastSlot] = []
    with store.reading() as db:
        for slot_id, sample, round_, key, generation in db.execute(
            _SLOTS, (step, row_id)
        ).fetchall():
            attempts = tuple(
                PastAttempt(*row) for row in db.execute(_ATTEMPTS, (slot_id,))
            )
            row = db.execute(_RESULT, (slot_id, key)).fetchone()
            result = None if row is None else StoredResult(*row)
            found.append(PastSlot(sample, round_, key, generation, attempts, result))
    return found


def samples(store: RunStore, step: str) -> Iterator[tuple[str, int]]:
    """Yield (row id, sample index) of every slot, those of earlier calls included."""
    with store.reading() as db:
        yield from db.execute(_SAMPLES, (step,))
