"""What a rule check is given: one question-answer pair beside what it was made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from synthnb.curation.words import language


@dataclass(frozen=True)
class Pair:
    """A question and its answer, with the evidence and the text they came from.

    ``evidence`` and ``text`` are empty where the frame has none.
    """

    question: str
    answer: str
    evidence: str = ""
    text: str = ""

    @cached_property
    def language(self) -> str | None:
        """The language whose function words are used, or ``None``."""
        return language(self.text or self.evidence or f"{self.question} {self.answer}")


PairCheck: TypeAlias = Callable[[Pair], str | None]
"""Returns what is wrong with a pair, in words; ``None`` where nothing is."""


@dataclass(frozen=True, slots=True)
class Check:
    """A check of your own: a name, and a function from a row to what is wrong with it.

    Example:
        >>> short = Check(
        ...     "short", lambda row: None if len(row["answer"]) < 80 else "long"
        ... )
    """

    name: str
    function: Callable[[Mapping[str, Any]], str | None]
