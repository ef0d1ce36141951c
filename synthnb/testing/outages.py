"""A server that is away for a while."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Away: TypeAlias = "int | Literal['refuse', 'drop']"


@dataclass(frozen=True, slots=True)
class Outage:
    """A restart in the middle of a run. What is in flight is cut, as by a kill.

    Attributes:
        after: chat requests that arrive before it; the next one meets it.
        seconds: how long. ``None`` lasts until ``server.up()``.
        how: ``"refuse"`` (no process: connections are refused), ``"drop"`` (a proxy
            without its server: accepted, then closed) or a status that every path gets
            (a gateway: 502, 503); with a status nothing is cut.
        model: the server comes back with this model instead (in its list and answers).
    """

    after: int
    seconds: float | None = 1.0
    how: Away = "refuse"
    model: str | None = None
