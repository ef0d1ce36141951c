"""Follow the brackets of JSON through a text, knowing what is inside a string."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_TOKEN = re.compile(r'[{}\[\]"]')
_STRING_END = re.compile(r'(?:[^"\\]|\\.)*+"', re.DOTALL)
_PAIRS = {"}": "{", "]": "["}


@dataclass(slots=True)
class Frame:
    """A bracket that is still open, with the spans of the whole brackets in it."""

    opener: str
    start: int
    children: list[tuple[int, int]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Scan:
    """Where the brackets that open at a place end.

    ``end`` is behind the closing bracket, or ``None``; then ``is_cut`` tells whether the
    text ended before it (with ``open_frames`` from the outermost in), or whether a
    closing bracket of the wrong kind came. ``reached`` is where the scan stopped.
    """

    end: int | None
    reached: int
    is_cut: bool = False
    open_frames: tuple[Frame, ...] = ()


def scan(text: str, start: int) -> Scan:
    """Follow the bracket at ``text[start]`` to its end. Linear in the text's length."""
    frames: list[Frame] = []
    position = start
    while match := _TOKEN.search(text, position):
        bracket, position = match[0], match.end()
        if bracket == '"':
            closing = _STRING_END.match(text, position)
            if closing is None:
                break
            position = closing.end()
        elif bracket in _PAIRS:
            if not frames or frames[-1].opener != _PAIRS[bracket]:
                return Scan(None, position)
            closed = frames.pop()
            if not frames:
                return Scan(position, position)
            frames[-1].children.append((closed.start, position))
        else:
            frames.append(Frame(bracket, match.start()))
    return Scan(None, len(text), is_cut=True, open_frames=tuple(frames))
