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


class ResultRow(NamedTuple):
    """The answer of a slot to one request; the first one wins."""

    slot_id: int
    request_key: str
    status: str
    detail: str
    text: str
    reasoning: str | None
    finish_reason: str | None
    model: str | None
    request_id: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    estimated: bool
    adapted: str
    created_at: str


class StoredResult(NamedTuple):
    """What a read gives of a result."""

    status: str
    detail: str
    text: str
    reasoning: str | None
    finish_reason: str | None
    model: str | None
    request_id: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    estimated: bool
    adapted: str


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
