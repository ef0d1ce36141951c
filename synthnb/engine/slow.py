"""Tells when somebody's own code holds up the loop, by the name of what did it."""

from __future__ import annotations

from collections.abc import Callable

SLOW_SECONDS = 0.5
"""From here on a person feels it: cells, buttons and all other answers wait."""


class SlowCalls:
    """Notes each of the caller's functions once; cheap enough for every call of them."""

    def __init__(self, note: Callable[[str], None]) -> None:
        """Take what is told, e.g. ``Run``'s way to emit a note."""
        self._note = note
        self._told: set[str] = set()

    def took(self, what: str, seconds: float) -> None:
        """Say it, the first time that ``what`` was slow.

        Args:
            what: the function, as its author knows it: ``"MyRecipe.parse()"``.
            seconds: how long the loop stood still for it.
        """
        if seconds < SLOW_SECONDS or what in self._told:
            return
        self._told.add(what)
        self._note(
            f"{what} took {seconds:.1f} s, and everything else waited for it: keep slow "
            "work out of it, or do it on the frame after the run"
        )
