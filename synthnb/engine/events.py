"""What happens in a run, as values. Calls go down, events go up.

Built for each answer where somebody listens, so they are small. ``at`` is the time of the
event in seconds since 1970; two events that differ in it alone are equal.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TypeAlias

from synthnb.engine.progress import State
from synthnb.errors import ProviderError
from synthnb.recipes.base import Parsed


@dataclass(frozen=True, slots=True)
class StateChanged:
    """The run is doing something else now."""

    state: State
    error: BaseException | None = None
    """What ended it, where the state is ``error``."""
    at: float = field(default_factory=time.time, compare=False)


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer arrived and was handed to the ledger."""

    row_id: str
    parsed: Parsed
    attempt: int = 1
    """How many calls it took, those that failed included."""
    seconds: float = 0.0
    """Of the last call."""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    request_id: str | None = None
    """The server's."""
    sample_index: int = 0
    round: int = 0
    """0 for the slot's first request, above it for its top-ups."""
    at: float = field(default_factory=time.time, compare=False)


@dataclass(frozen=True, slots=True)
class Retried:
    """An attempt failed and is made again after ``seconds``."""

    row_id: str
    error: ProviderError
    seconds: float
    sample_index: int = 0
    round: int = 0
    at: float = field(default_factory=time.time, compare=False)


@dataclass(frozen=True, slots=True)
class Held:
    """The whole pool waits: nobody answers there, or the server asked to slow down."""

    seconds: float
    error: ProviderError
    at: float = field(default_factory=time.time, compare=False)


@dataclass(frozen=True, slots=True)
class Failed:
    """A request was given up."""

    row_id: str
    error: ProviderError
    sample_index: int = 0
    round: int = 0
    at: float = field(default_factory=time.time, compare=False)


@dataclass(frozen=True, slots=True)
class Noted:
    """Something that a person should know: disk full, time-outs, a changed setting."""

    text: str
    at: float = field(default_factory=time.time, compare=False)


@dataclass(frozen=True, slots=True)
class Dropped:
    """A reader of ``run.events()`` was too slow: so many events are missing here."""

    count: int
    at: float = field(default_factory=time.time, compare=False)


Event: TypeAlias = StateChanged | Answered | Retried | Held | Failed | Noted | Dropped
