"""Reading everything that the ledger knows of one row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from synthnb.store import schema
from synthnb.store.ledger import RunStore
from synthnb.store.rows import AttemptRow, StoredResult


class PastSlot(NamedTuple):
    """One wanted answer, with every call that was made for it."""

    sample_index: int
    round: int
    request_key: str
    generation: int
    attempts: tuple[AttemptRow, ...]
    result: StoredResult | None


def slots_of_row(store: RunStore, step: str, row_id: str) -> list[PastSlot]:
    """Return a row's slots, the rounds of a sample one after the other."""
    found: list[PastSlot] = []
    with store.reading() as db:
        for slot_id, sample, round_, key, generation in db.execute(
            schema.ROW_SLOTS, (step, row_id)
        ).fetchall():
            attempts = tuple(
                AttemptRow(*row) for row in db.execute(schema.SLOT_ATTEMPTS, (slot_id,))
            )
            row = db.execute(schema.SLOT_RESULT, (slot_id, key)).fetchone()
            result = None if row is None else StoredResult(*row)
            found.append(PastSlot(sample, round_, key, generation, attempts, result))
    return found


def samples(store: RunStore, step: str) -> Iterator[tuple[str, int]]:
    """Yield (row id, sample index) of every slot, those of earlier calls included."""
    with store.reading() as db:
        yield from db.execute(schema.STEP_SAMPLES, (step,))
