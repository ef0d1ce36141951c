"""Where a text may be cut: paragraph, sentence and line ends, and between characters.

A boundary is the position at which the next sentence *starts*; the white space before
it belongs to neither side.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import IntEnum

_BREAK = re.compile(
    # A sentence's end: its mark, what closes after it, white space. The look-behind and
    # the possessive quantifiers keep "....." linear.
    r"(?<![.!?…])(?P<stop>[.!?…؟۔।]++[\"'”’»)\]*_`]*+)(?=\s)\s+"
    # Ideographic marks need no white space behind them.
    r"|[。！？｡]++[”’」』）】]*+\s*"
    r"|\n\s*"
)
_BLOCK_START = re.compile(r"(?:#{1,6}|[-*+>•]|[0-9]{1,3}[.)])\s|\||```|~~~")
_HEADING = re.compile(r"#{1,6}\s")
_TABLE_RULE = re.compile(r"\|?\s*:?-{3,}")
_ENDS_SENTENCE = re.compile(r"[.!?…:;,。！？｡؟۔।][\"'”’»)\]*_`」』）】]*\s*\Z")
_HEADING_LENGTH = 80  # a longer line without a full stop is prose, not a heading

_WORD = re.compile(r"[^\s(\[\"'“‘*_]+\Z")
_WORD_LENGTH = 24  # no abbreviation is longer
_DOTTED = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")  # "e.g", "U.S", an initial
_TITLES = frozenset(
    ("ca", "cf", "dr", "mr", "mrs", "ms", "mt", "prof", "rev", "st", "vgl", "viz", "vs")
)
_BEFORE_NUMBER = frozenset(
    {
        *("art", "ch", "eq", "eqs", "fig", "figs", "no", "nos", "nr", "op", "p", "pp"),
        *("ref", "refs", "sec", "tab", "vol", "vols"),
    }
)
_MID_SENTENCE = frozenset(
    {
        *("al", "approx", "co", "corp", "dept", "est", "etc", "inc", "jr", "ltd"),
        *("max", "min", "sr"),
    }
)


class _Rank(IntEnum):
    LINE = 1
    SENTENCE = 2
    PARAGRAPH = 3


@dataclass(frozen=True, slots=True)
class Boundaries:
    """Sorted positions in a text at which something starts.

    Attributes:
        paragraphs: after a blank line, and before a heading.
        sentences: these, and after a sentence's end, before a list item or table row.
        lines: other line ends: wrapped lines, and what follows a heading.
    """

    paragraphs: tuple[int, ...]
    sentences: tuple[int, ...]
    lines: tuple[int, ...]


def find_boundaries(text: str) -> Boundaries:
    """Find the boundaries of ``text`` in one pass, linear in its length."""
    found: dict[_Rank, list[int]] = {rank: [] for rank in _Rank}
    for match in _BREAK.finditer(text):
        if match.end() == len(text):
            break
        if "\n" in match.group():
            found[_rank_of_line_end(text, match)].append(match.end())
        elif not (match["stop"] == "." and _is_abbreviation(text, match)):
            found[_Rank.SENTENCE].append(match.end())
    paragraphs = found[_Rank.PARAGRAPH]
    return Boundaries(
        paragraphs=tuple(paragraphs),
        sentences=tuple(sorted([*paragraphs, *found[_Rank.SENTENCE]])),
        lines=tuple(found[_Rank.LINE]),
    )


def _rank_of_line_end(text: str, match: re.Match[str]) -> _Rank:
    before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
    before += match["stop"] or ""
    if _HEADING.match(before.lstrip()):
        return _Rank.LINE  # a heading stays with what it heads
    if _HEADING.match(text, match.end()):
        return _Rank.PARAGRAPH
    if match.group().count("\n") > 1:
        return _Rank.LINE if _looks_like_heading(before) else _Rank.PARAGRAPH
    if _TABLE_RULE.match(text, match.end()) or _TABLE_RULE.match(before):
        return _Rank.LINE  # a table's head stays with its first row
    if _ENDS_SENTENCE.search(match.group()) or match["stop"]:
        return _Rank.SENTENCE
    return _Rank.SENTENCE if _BLOCK_START.match(text, match.end()) else _Rank.LINE


def _looks_like_heading(line: str) -> bool:
    """Tell whether a line that stands alone is a heading in plain text."""
    return (
        len(line) <= _HEADING_LENGTH
        and not _ENDS_SENTENCE.search(line)
        and not _BLOCK_START.match(line.lstrip())
    )


def _is_abbreviation(text: str, match: re.Match[str]) -> bool:
    """Tell whether the full stop of ``match`` belongs to the word before it."""
    start = max(0, match.start() - _WORD_LENGTH)
    word = _WORD.search(text, start, match.start())
    if word is None:
        return False
    if word.group().isdigit():  # "1. Install": the number of a list item
        return text[: word.start()].rstrip(" \t")[-1:] in {"", "\n"}
    name, following = word.group().lower(), text[match.end()]
    if name in _BEFORE_NUMBER:
        return following.isdigit()
    if name in _MID_SENTENCE:
        return following.islower()
    if len(name) == 1:  # an initial: "J. Smith"; not "a. b."
        return word.group().isupper()
    return name in _TITLES or _DOTTED.fullmatch(word.group()) is not None


def whole_character(text: str, position: int, floor: int) -> int:
    """Move ``position`` back so that no visible character is cut in two.

    Combining marks, variation selectors and zero-width joiners stay with the character
    before them (Unicode Standard Annex 29, in short).

    Args:
        text: The text.
        position: Where to cut.
        floor: The result is greater than this, or else ``position`` unchanged.

    Returns:
        The position of a cut.
    """
    cut = position
    while cut > floor and cut < len(text) and _continues(text, cut):
        cut -= 1
    return cut if cut > floor else position


def _continues(text: str, position: int) -> bool:
    joiner = "\u200d"
    return (
        unicodedata.category(text[position]).startswith("M")
        or text[position] == joiner
        or text[position - 1] == joiner
    )
