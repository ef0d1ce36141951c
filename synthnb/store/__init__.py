"""Store: the ledger of a run on disk."""

from synthnb.store.ledger import RunStore
from synthnb.store.rows import AttemptRow, ResultRow, SlotRow, StoredResult, StoredSlot

__all__ = [
    "AttemptRow",
    "ResultRow",
    "RunStore",
    "SlotRow",
    "StoredResult",
    "StoredSlot",
]
