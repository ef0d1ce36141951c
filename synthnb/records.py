"""Frozen values that travel through the house.

``Document`` → ``Chunk`` → ``Request`` → ``Completion`` → record; beside them
``Decision`` and ``Step``. Each step returns new values and edits none, so undo, audit and
parsing again cost nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, NamedTuple, TypeAlias

Row: TypeAlias = Mapping[str, Any]
"""One input row: column name → plain value (str, int, float, bool, None, list, dict)."""

JsonSchema: TypeAlias = Mapping[str, Any]


RECORD_COLUMNS = frozenset(
    [
        "record_id",
        "step",
        "row_id",
        "sample_index",
        "reasoning",
        "status",
        "detail",
        "finish_reason",
        "repaired",
        "adapted",
        "model",
        "prompt_tokens",
        "completion_tokens",
        "tokens_estimated",
        "attempts",
    ]
)
"""What every record has, with whatever recipe; no field of a recipe takes these names.
Their types and meanings stand in ``frames.COLUMNS``."""


class Status(StrEnum):
    """What became of a slot. Failure is a value: it is stored beside the successes."""

    OK = "ok"
    TRUNCATED = "truncated"
    NO_JSON = "no_json"
    SCHEMA = "schema"
    REFUSED = "refused"
    CONTEXT = "context"
    RATE_LIMITED = "rate_limited"
    AUTH = "auth"
    SERVER = "server"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"

    @property
    def is_answer(self) -> bool:
        """True where a (paid) answer of the model, or a final refusal, stands behind it.

        Such a slot is not asked again; the others are when the run is started again.
        """
        return self in _ANSWERS


_ANSWERS = frozenset(
    {
        Status.OK,
        Status.TRUNCATED,
        Status.NO_JSON,
        Status.SCHEMA,
        Status.REFUSED,
        Status.CONTEXT,
    }
)


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a document: its number (from 1) and its characters' span."""

    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Document:
    """A file that was read: its text, and where each page of it stands in the text."""

    source: str
    text: str
    pages: tuple[Page, ...] = ()
    media_type: str = "text/plain"
    notes: tuple[str, ...] = ()
    """What a reader of the data must know: "page 3 looks scanned", "decoded as cp1252"."""
    left_out: tuple[str, ...] = ()
    """What a reader of the text would not miss: running headers, link targets."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document. ``document.text[start:end] == text``, always."""

    chunk_id: str
    source: str
    page: int | None
    start: int
    end: int
    text: str
    tokens: int
    """An estimate unless a tokenizer was given."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Sampling:
    """Sampling parameters; ``None`` leaves the choice to the server and sends nothing."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """One chat call, as the recipe wants it.

    The client translates it into what a server understands (its dialect); the identity
    of a request (``fingerprint.request_key``) is taken from this ideal form, so that a
    learned dialect or another replica buys nothing again.
    """

    messages: tuple[Message, ...]
    sampling: Sampling = field(default_factory=Sampling)
    schema: JsonSchema | None = None
    schema_name: str = "answer"


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts. ``None`` = the server did not say and nothing was estimated."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class Completion:
    """The answer to one request, reasoning already separated from the text."""

    text: str
    reasoning: str | None = None
    finish_reason: str | None = None
    usage: Usage = field(default_factory=Usage)
    model: str | None = None
    request_id: str | None = None
    adapted: tuple[str, ...] = ()
    """What was sent differently from what was asked, e.g. ``("json_object",)``."""


class Decision(NamedTuple):
    """What a person said of one record; ``None`` = nothing about that.

    A named tuple, for a step may hold 100,000 of them.
    """

    record_id: str
    action: Literal["accept", "reject", "edit", "annotate"]
    edited: Mapping[str, Any] | None = None
    """Field → its new value."""
    was: Mapping[str, Any] | None = None
    """Field → what stood there before, so that an edit can be shown and taken back."""
    tags: tuple[str, ...] | None = None
    stars: int | None = None
    """1 to 5; 0 takes the stars away."""
    note: str | None = None
    """An empty one takes the note away."""
    seen: Mapping[str, str] | None = None
    """Field → mark of the text that was decided on, as the model wrote it."""


@dataclass(frozen=True, slots=True)
class Step:
    """One gesture of a person; the log of these is append-only."""

    number: int
    """Its place in the log, from 1."""
    decided_by: str
    decided_at: str
    """UTC, ISO 8601."""
    decisions: tuple[Decision, ...] = ()
    undoes: int | None = None
    """The step that this one takes back; it then holds no decisions of its own."""
