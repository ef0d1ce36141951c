"""How recipes put material and wishes into a prompt."""

from __future__ import annotations

import re

_MARK = re.compile(r"<(/?)(?=passage\b)", re.IGNORECASE)


def between_marks(text: str) -> str:
    """Return a text between marks that it cannot close itself."""
    inside = _MARK.sub(r"‹\1", text)
    return f"<passage>\n{inside}\n</passage>"


def closing(language: str | None, style: str, instructions: str) -> str:
    """Return the wishes of the caller, as the last sentences of a system prompt."""
    parts = [
        f"Write in {language}." if language else "Write in the passage's language."
    ]
    parts += [f"Style: {style}."] if style else []
    parts += [instructions] if instructions else []
    return " " + " ".join(parts)
