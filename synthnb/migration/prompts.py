"""Its prompts (``str.format``, literal braces doubled) as templates of ours."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

NAMES = (
    *("text", "summary", "num_pairs", "num_examples", "pairs", "conversations"),
    *("include_simple_steps", "language", "difficulty"),
)
"""What its prompts may name in braces; other braces are text, doubled or not."""
# From left to right as str.format reads it: doubled braces first.
_PART = re.compile(rf"\{{\{{|\}}\}}|\{{(?P<name>{'|'.join(NAMES)})\}}")
_SPECIAL = re.compile(r"\{(?=[{%#\0])")


def converted(prompt: str, values: Mapping[str, Any] | None = None) -> str:
    """Return a prompt as a template for ``synthnb.Prompt``.

    ``{text}`` becomes ``{{ text }}``, ``{{`` becomes ``{``. A prompt whose JSON example
    has single braces, which ends theirs with a KeyError, is read as it was meant.

    Args:
        prompt: as it stands in the file.
        values: names that are settled: they are put in, e.g. ``num_pairs``.
    """
    settled = values or {}

    def part(found: re.Match[str]) -> str:
        name = found["name"]
        if name is None:
            return found[0][0]
        return str(settled[name]) if name in settled else f"\0{name}\1"

    text = _PART.sub(part, prompt.replace("\0", "").replace("\1", ""))
    # What looks like a tag of the template and is text is written as an expression.
    text = _SPECIAL.sub("{{ '{' }}", text)
    return text.replace("\0", "{{ ").replace("\1", " }}")
