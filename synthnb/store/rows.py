"""The rows that go into a ledger and come out of it."""

from __future__ import annotations

from typing import NamedTuple


class SlotRow(NamedTuple):
    """One wanted answer; ``round`` counts a slot's top-up requests from 0."""

    id: int
    row_id: str
    step: str
    sample_index: int
    round: int
    request_key: str
    generation: int
    ordinal: int


class AttemptRow(NamedTuple):
    """One call that was made, whatever came of it: the truth about cost."""

    slot_id: int
    request_key: str
    started_at: str
    seconds: float
    status: str
    http_status: int | None
    prompt_tokens: int | None
    completion_tokens: int | None
    detail: str
    endpoint: str


class StoredResult(NamedTuple):
    """The answer of a slot to one request, or why there can be none."""

    status: str
    detail: str = ""
    text: str = ""
    reasoning: str | None = None
    finish_reason: str | None = None
    model: str | None = None
    request_id: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    estimated: bool = False
    adapted: str = ""


class ResultRow(NamedTuple):
    """An answer on its way into the ledger; the first one of a slot wins."""

    slot_id: int
    request_key: str
    answer: StoredResult
    created_at: str


class StoredSlot(NamedTuple):
    """A slot as it stands in the ledger, with the answer to its present request."""

    id: int
    row_id: str
    sample_index: int
    round: int
    request_key: str
    ordinal: int
    result: StoredResult | None
    attempts: int
    last_status: str | None
    last_detail: str | None
