"""Store: the ledger of a run on disk."""
