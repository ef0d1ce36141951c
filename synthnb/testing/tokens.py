"""The fault server's tokens: one for four characters, everywhere the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

CHARACTERS: Final = 4
"""Of one token."""


def count_tokens(text: str) -> int:
    """Estimate the tokens of a text; never 0."""
    return len(text) // CHARACTERS + 1


def prompt_tokens(body: Mapping[str, Any]) -> int:
    """Estimate the tokens of the messages."""
    messages = body.get("messages") or []
    return sum(len(str(message.get("content"))) for message in messages) // 4 + 1


def wanted_tokens(body: Mapping[str, Any]) -> int:
    """Return the most tokens that the request lets an answer have; 0 where unsaid."""
    wanted = body.get("max_completion_tokens") or body.get("max_tokens")
    return wanted if isinstance(wanted, int) else 0
