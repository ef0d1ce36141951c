"""Take a model's inline reasoning out of its answer.

Four forms are met: ``<think>…</think>answer``; the closing tag alone (the chat template
has already written the opening one); an opening tag that is never closed (the answer
was cut while the model was thinking); and an empty block. ``<thinking>`` and
``<reasoning>`` are written by some models and mean the same.
"""

from __future__ import annotations

import re

from synthnb.recipes.json_scan import scan

_NAMES = "think|thinking|reasoning"
_LEADING = re.compile(rf"\s*<({_NAMES})>(.*?)</\1>", re.DOTALL | re.IGNORECASE)
_OPEN = re.compile(rf"\s*<({_NAMES})>(.*)\Z", re.DOTALL | re.IGNORECASE)
_CLOSE = re.compile(rf"</({_NAMES})>", re.IGNORECASE)
_JSON = re.compile(r"\{\s*\"|\[\s*\{")
_ANY_OPEN = re.compile(rf"<({_NAMES})>", re.IGNORECASE)


def split_reasoning(text: str) -> tuple[str | None, str]:
    """Return (reasoning or ``None``, the answer without it).

    Only a block in front of the answer is reasoning: a tag inside a JSON string further
    down is text of the answer and stays. The answer is returned without white space at
    its start; where nothing was found, ``text`` comes back unchanged.
    """
    if "<" not in text:  # most answers; each pattern would look for one
        return None, text
    parts: list[str] = []
    rest = text
    while match := _LEADING.match(rest):
        parts.append(match[2].strip())
        rest = rest[match.end() :]
    if match := _OPEN.match(rest):
        parts.append(match[2].strip())
        rest = ""
    elif not parts and (found := _orphan_close(rest)):
        parts.append(rest[: found[0]].strip())
        rest = rest[found[1] :]
    if not parts:
        return None, text
    return "\n\n".join(part for part in parts if part) or None, rest.lstrip()


def _orphan_close(text: str) -> tuple[int, int] | None:
    """Return the span of a closing tag that has no opening one, if it ends reasoning."""
    match = _CLOSE.search(text)
    if match is None:
        return None
    before = text[: match.start()]
    starts_as_answer = before.lstrip().startswith(("{", "[", "```"))
    if starts_as_answer or _ANY_OPEN.search(before) or _in_json(text, match.start()):
        return None
    return match.span()


def _in_json(text: str, place: int) -> bool:
    """Tell whether JSON that opens before ``place`` is still open there."""
    for start in _JSON.finditer(text, 0, place):
        result = scan(text, start.start())
        if result.is_cut or (result.end is not None and result.end > place):
            return True
    return False
