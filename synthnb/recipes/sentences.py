"""Split a text into sentences, each with its place in the text.

By rules, without a model: blocks first (headings, list items, table rows, code), then
the sentences of each block. ``text[s.start:s.end] == s.text`` for every sentence, they
stand in order and do not overlap. What lies between them is white space and markup
(list markers, ``#``, code fences).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from synthnb.recipes.english import words

Kind: TypeAlias = Literal["prose", "heading", "table", "code"]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and its span of characters in the text that was split."""

    start: int
    end: int
    text: str
    kind: Kind = "prose"


_ABBREVIATIONS = words(
    "al approx art bzw ca cf co corp dept dr ed eds e.g eq etc fig figs ggf gov i.e "
    "inc incl jr lt ltd max min mr mrs ms mt nr no op p pp prof rev sec sr st u.a "
    "usw vgl vol vols vs z.b"
)
_LOWER_ONLY = words("etc inc ltd co corp jr sr usw no")
"""These may end a sentence too: they are abbreviations only if no capital follows."""

_FENCE = re.compile(r"\s*(```|~~~)")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+")
_RULE = re.compile(r"\s*([-=_*])\1{2,}\s*$")
_LIST_ITEM = re.compile(r"\s*(?:[-*+•‣◦]|\(?\d{1,3}[.)]|\(?[a-zA-Z]\))\s+")
_QUOTE_MARK = re.compile(r"\s*(?:>\s?)+")
_TABLE = re.compile(r"\s*\|.*\|\s*$|[^\t]*\t[^\t]*\t")
_END = re.compile(
    r"(?P<cjk>[。！？｡]+[」』”’）》]*)"
    r"|(?P<latin>(?:[.!?…؟।۔]|\.\.\.)+[\"'”’»)\]]*)(?=\s|$)"
)
_INITIALS = re.compile(r"[A-Z](?:\.[A-Z])*")
_CAMEL = re.compile(r"[a-z]+[A-Z]|[a-z][\w-]*\.[a-z]")
"""Names that begin small and may begin a sentence: vLLM, iPhone, llama.cpp."""
_OPENERS = "\"'“‘«„([¿¡*_—-"
_FINAL = tuple(".!?…؟।۔。！？｡:;")
_HEADING_WORDS = 10
_HEADING_RATIO = 0.6


@dataclass(slots=True)
class _Block:
    start: int
    end: int
    kind: Kind


def split_sentences(text: str) -> list[Sentence]:
    """Return the sentences of ``text`` in order, each with its kind.

    Args:
        text: plain text or Markdown; lines may be wrapped.
    """
    sentences: list[Sentence] = []
    for block in _blocks(text):
        kind = block.kind
        if kind == "prose" and _is_heading(text[block.start : block.end]):
            kind = "heading"
        if kind == "prose":
            spans = _split(text, block.start, block.end)
        else:
            spans = iter([(block.start, block.end)])
        for raw_start, raw_end in spans:
            start, end = _strip(text, raw_start, raw_end)
            if start < end:
                sentences.append(Sentence(start, end, text[start:end], kind))
    return sentences


def _lines(text: str) -> Iterator[tuple[int, int]]:
    """Yield the span of each line, without its line end."""
    start = 0
    while start <= len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield start, end
        start = end + 1


def _blocks(text: str) -> list[_Block]:
    """Return the blocks: wrapped lines joined, markup lines on their own."""
    blocks: list[_Block] = []
    is_open = in_code = False
    for start, end in _lines(text):
        line = text[start:end]
        if _FENCE.match(line):
            in_code, is_open = not in_code, False
        elif in_code:
            blocks.append(_Block(start, end, "code"))
        elif not line.strip() or _RULE.match(line):
            is_open = False
        else:
            kind, mark, continues = _line_kind(line)
            is_open = is_open and continues and not _breaks(text, blocks[-1], line)
            if is_open:
                blocks[-1].end = end
            else:
                blocks.append(_Block(start + mark, end, kind))
            is_open = kind == "prose"
    return blocks


def _line_kind(line: str) -> tuple[Kind, int, bool]:
    """Return (kind, length of the markup in front, may continue the block above)."""
    if match := _HEADING.match(line):
        return "heading", match.end(), False
    if _TABLE.match(line):
        return "table", 0, False
    if match := _LIST_ITEM.match(line):
        return "prose", match.end(), False
    if match := _QUOTE_MARK.match(line):
        return "prose", match.end(), False
    return "prose", 0, True


def _breaks(text: str, block: _Block, line: str) -> bool:
    """Tell whether ``block`` so far is a heading line right above a paragraph.

    Text out of a PDF has no blank line there: a short line without a final mark, the
    next one beginning with a capital and much longer.
    """
    above = text[block.start : block.end]
    here = line.strip()
    return (
        "\n" not in above
        and _is_heading(above)
        and here[:1].isupper()
        and len(above.strip()) < _HEADING_RATIO * len(here)
    )


def _is_heading(text: str) -> bool:
    bare = text.strip().rstrip("\"'”’»)*_")
    return (
        bool(bare)
        and "\n" not in bare
        and not bare.endswith(_FINAL)
        and len(bare.split()) <= _HEADING_WORDS
    )


def _split(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield raw spans of the sentences in one block of prose."""
    begin = start
    for match in _END.finditer(text, start, end):
        if match["cjk"] or _is_boundary(text, begin, match, end):
            yield begin, match.end()
            begin = match.end()
    yield begin, end


def _is_boundary(text: str, begin: int, match: re.Match[str], end: int) -> bool:
    """Tell whether a Latin final mark ends the sentence that starts at ``begin``."""
    after = text[match.end() : min(end, match.end() + 40)].lstrip()
    if not after:
        return True
    opened = after.lstrip(_OPENERS)
    following = opened[:1] or after[:1]
    if following.islower() and not _CAMEL.match(opened):
        return False
    mark = match["latin"]
    if not mark.startswith(".") or mark.startswith(".."):
        return True
    before = text[begin : match.start()].split()
    word = before[-1].lstrip(_OPENERS) if before else ""
    if not word:
        return False
    return not _is_abbreviation(word, following)


def _is_abbreviation(word: str, following: str) -> bool:
    lowered = word.lower()
    if lowered in _ABBREVIATIONS:
        return not (lowered in _LOWER_ONLY and following.isupper())
    # an initial ("J. S. Bach", "U.S."), but not the pronoun I
    return word != "I" and bool(_INITIALS.fullmatch(word))


def _strip(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span without white space at its ends."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
