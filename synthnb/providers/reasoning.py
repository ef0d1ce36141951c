"""Separates a model's reasoning from its answer, in each form that servers use.

1. ``message.reasoning``; 2. ``message.reasoning_content``; 3. inline
``<think>…</think>`` (or ``<thinking>``, ``[THINK]``) before the answer; 4. only a closing
``</think>``, where the chat template put the opening tag into the prompt.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

_NAMES = "think|thinking|thought|reasoning"
_OPENING = re.compile(
    rf"\s*(?:<(?P<tag>{_NAMES})>|(?P<square>\[THINK\]))", re.IGNORECASE
)
_CLOSING = re.compile(rf"</(?:{_NAMES})>|\[/THINK\]", re.IGNORECASE)


def separate(content: str, message: Mapping[str, Any]) -> tuple[str, str | None]:
    """Return ``(text, reasoning)`` of an answer.

    Args:
        content: the message's content as text.
        message: the message as the server sent it, for its reasoning fields.
    """
    given = _field(message)
    # Nearly all answers hold no tag at all: two searches in C decide that.
    if "</" not in content and "<" not in content[:20] and "[" not in content[:20]:
        return content, given
    text, inline = _inline(content)
    if inline is None:
        return text, given
    return text, f"{given}\n{inline}" if given else inline


def _field(message: Mapping[str, Any]) -> str | None:
    for name in ("reasoning", "reasoning_content"):
        value = message.get(name)
        if isinstance(value, str) and value.strip():
            return value.strip()
    return None


def _inline(content: str) -> tuple[str, str | None]:
    thoughts: list[str] = []
    place = 0
    while opening := _OPENING.match(content, place):
        closing = _closing_of(opening).search(content, opening.end())
        if closing is None:  # cut off while it still thought: there is no answer
            thoughts.append(content[opening.end() :].strip())
            place = len(content)
            break
        thoughts.append(content[opening.end() : closing.start()].strip())
        place = closing.end()
    if thoughts:
        return content[place:].lstrip(), "\n".join(filter(None, thoughts)) or None
    return _closing_only(content)


@cache
def _closing_mark(name: str) -> re.Pattern[str]:
    return re.compile(name, re.IGNORECASE)


def _closing_of(opening: re.Match[str]) -> re.Pattern[str]:
    tag = opening["tag"]
    return _closing_mark(rf"</{tag.lower()}>" if tag else r"\[/THINK\]")


def _closing_only(content: str) -> tuple[str, str | None]:
    closing = _CLOSING.search(content)
    # Inside JSON or a code block the tag is a part of the answer, not its end of thought.
    if closing is None or content.lstrip()[:1] in {"{", "[", "`", '"'}:
        return content, None
    before = content[: closing.start()].strip()
    return content[closing.end() :].lstrip(), before or None
