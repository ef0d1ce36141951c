"""What a recipe is: row → requests, completion → items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from synthnb.records import Completion, Request, Row, Status


@dataclass(frozen=True, slots=True)
class Parsed:
    """What one completion gave.

    ``items`` are the usable ones, each a mapping of the recipe's ``fields``; they may be
    there beside a status other than ``ok`` (a truncated array whose first items are
    whole). ``detail`` says in a few words why the status is not ``ok``.
    """

    status: Status
    items: tuple[Mapping[str, Any], ...] = ()
    repaired: bool = False
    detail: str = ""
    reasoning: str | None = None
    items_status: Status = Status.OK
    """What the items are worth: a text that was cut off is an item, but not an ok one;
    the whole items of an array that was cut off are."""


@runtime_checkable
class Recipe(Protocol):
    """A frozen description of one generation; no I/O, no clock, no random numbers.

    The engine asks ``request`` with no earlier answers for a slot's first call, then
    again after each answer; ``None`` ends the slot. So a recipe that wants three items
    and got two asks for one more (a *top-up*), and all of it can be replayed from the
    stored answers.
    """

    @property
    def step(self) -> str:
        """Short name, part of each slot's identity: ``qa``, ``judge``, ``prompt``."""
        ...

    @property
    def fields(self) -> tuple[str, ...]:
        """The columns that this recipe adds, in order."""
        ...

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns of a row that it reads; checked before anything is paid for."""
        ...

    @property
    def wanted(self) -> int:
        """How many items one slot should give."""
        ...

    def request(
        self, row: Row, earlier: Sequence[Parsed], sample_index: int
    ) -> Request | None:
        """Return the next request for a row, or ``None`` when the slot is done.

        Args:
            row: the input row.
            earlier: what the slot's earlier answers gave, oldest first.
            sample_index: 0 … samples-1. A seed is varied by the engine, which adds
                this number to it.
        """
        ...

    def parse(
        self, row: Row, completion: Completion, earlier: Sequence[Parsed]
    ) -> Parsed:
        """Return the items of one completion; never raises for what a model wrote."""
        ...

    def to_json(self) -> dict[str, Any]:
        """Return the recipe as plain JSON values: its identity. Holds no key."""
        ...
