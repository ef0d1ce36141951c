"""Lines of a page → paragraphs: what a PDF does not say about its own text.

A PDF places glyphs; that a line goes on in the next one has to be seen from sizes,
distances and right edges. Sentences must come out whole, since a small model copies
them: no line end inside a sentence, no page header in its middle.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from synthnb.records import Page

_SAME_SIZE = 0.12  # relative difference of type sizes that is still one text
_WIDEST_LEADING = 1.6  # line distance in type sizes; more is a gap
_LOOSE = 1.25  # distance in the page's usual line distances; more is a gap
_WORD_MARGIN = 1.15  # how wide a word may be against the mean of its line
_MARGIN_SHARE = 0.12  # of the page's height: where headers and footers stand
_SAME_PLACE = 3.0  # points
_SENTENCE_END = re.compile(r"[.!?…:。！？][\"'”’»)\]]*\Z")
_ITEM = re.compile(r"[•▪◦‣●○–*-]\s|\(?[0-9]{1,3}[.)]\s")
_RANGE = re.compile(r"\w-\Z")  # "2020-" before "2021"
_LETTERS = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


@dataclass(frozen=True, slots=True)
class Line:
    """A line as placed on a page, in points; ``bottom`` is its base line's height.

    ``hyphen`` says that a hyphen (left out of ``text``) ended the line.
    """

    text: str
    left: float
    right: float
    bottom: float
    size: float
    hyphen: bool = False


@dataclass(frozen=True, slots=True)
class PageLines:
    """The lines of one page in reading order."""

    number: int
    height: float
    lines: tuple[Line, ...]


def without_margins(
    pages: Sequence[PageLines],
) -> tuple[tuple[PageLines, ...], tuple[str, ...]]:
    """Leave out running headers, footers and page numbers.

    A line is one if it stands near the top or bottom edge and the same line, digits
    aside, stands at the same height on at least half of the pages, two or more.

    Returns:
        The pages without them, and a note for each that was left out.
    """
    places: dict[tuple[str, int], list[Line]] = {}
    for page in pages:
        for line in page.lines:
            if _in_margin(line, page.height):
                places.setdefault(_margin_key(line), []).append(line)
    needed = max(2, (len(pages) + 1) // 2)
    running = {key: lines for key, lines in places.items() if len(lines) >= needed}
    kept = tuple(
        replace(
            page,
            lines=tuple(
                line
                for line in page.lines
                if not (_in_margin(line, page.height) and _margin_key(line) in running)
            ),
        )
        for page in pages
    )
    notes = tuple(
        f"running header or footer left out on {len(lines)} pages: {lines[0].text!r}"
        for lines in running.values()
    )
    return kept, notes


def _in_margin(line: Line, height: float) -> bool:
    margin = _MARGIN_SHARE * height
    return line.bottom < margin or line.bottom > height - margin


def _margin_key(line: Line) -> tuple[str, int]:
    return re.sub(r"\d+", "#", line.text), round(line.bottom / _SAME_PLACE)


def flow(pages: Sequence[PageLines]) -> tuple[str, tuple[Page, ...]]:
    """Join the lines of all pages to a text of paragraphs.

    A paragraph that goes on over the end of a page is not broken there.

    Returns:
        The text, and each page's span in it; a page without lines has an empty one.
    """
    joiner = _Joiner(line for page in pages for line in page.lines)
    spans = []
    for page in pages:
        start = end = None
        for block in _blocks(page.lines):
            begin = joiner.add(block)
            start = begin if start is None else start
            end = joiner.length
        if start is None or end is None:
            start = end = joiner.length
        spans.append(Page(page.number, start, end))
    return joiner.text(), tuple(spans)


def _blocks(lines: Sequence[Line]) -> list[list[Line]]:
    """Group lines of one size that follow each other at the usual distance."""
    usual = _usual_distance(lines)
    blocks: list[list[Line]] = []
    for line in lines:
        if blocks and _follows(blocks[-1][-1], line, usual):
            blocks[-1].append(line)
        else:
            blocks.append([line])
    return blocks


def _usual_distance(lines: Sequence[Line]) -> float:
    """Return the commonest distance of lines in type sizes, 1.2 if there is none."""
    distances = Counter(
        round((above.bottom - line.bottom) / line.size, 1)
        for above, line in pairwise(lines)
        if line.size > 0
        and 0 < (above.bottom - line.bottom) / line.size <= _WIDEST_LEADING
        and _same_size(above, line)
    )
    return distances.most_common(1)[0][0] if distances else 1.2


def _same_size(one: Line, other: Line) -> bool:
    return abs(one.size - other.size) <= _SAME_SIZE * max(one.size, other.size)


def _follows(above: Line, line: Line, usual: float) -> bool:
    if not _same_size(above, line):
        return False
    return 0 < above.bottom - line.bottom <= _LOOSE * usual * line.size


def _goes_on(above: Line, line: Line) -> bool:
    """Tell whether a sentence runs on at the top of the next column or page."""
    if line.bottom < above.bottom or not _same_size(above, line):
        return False
    unfinished = not _SENTENCE_END.search(above.text)
    return above.hyphen or (unfinished and line.text[:1].islower())


class _Joiner:
    """Builds the text, block by block."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self._parts: list[str] = []
        self.length = 0
        self._last: Line | None = None
        self._words = _unbroken_words(lines)

    def text(self) -> str:
        return "".join(self._parts)

    def add(self, block: Sequence[Line]) -> int:
        """Append a block and return where its text starts."""
        right = max(line.right for line in block)
        first = block[0]
        last = self._last
        if last is None:
            begin = self._append("", first.text)
        elif _goes_on(last, first):
            begin = self._append(self._joint(last, first), first.text)
        else:
            begin = self._append("-\n\n" if last.hyphen else "\n\n", first.text)
        for above, line in pairwise(block):
            self._append(self._between(above, line, right), line.text)
        self._last = block[-1]
        return begin

    def _append(self, joint: str, text: str) -> int:
        self._parts += [joint, text]
        self.length += len(joint) + len(text)
        return self.length - len(text)

    def _between(self, above: Line, line: Line, right: float) -> str:
        """Return what stands between two lines of a block with this right edge."""
        if above.hyphen or _RANGE.search(above.text):
            return self._joint(above, line)
        finished = _SENTENCE_END.search(above.text) is not None
        if _ITEM.match(line.text):
            return "\n"
        if _word_would_have_fitted(above, line, right):
            return "\n\n" if finished else "\n"
        if finished and line.left - above.left > line.size / 2:
            return "\n\n"  # an indented first line
        return " "

    def _joint(self, above: Line, line: Line) -> str:
        """Return "", "-" or " ": how a word, or two, stand across a line's end."""
        if not above.hyphen:
            return "" if _RANGE.search(above.text) else " "
        head = re.search(r"\S*\Z", above.text)
        tail = re.match(r"[^\W\d_]*", line.text)
        before = head.group() if head else ""
        after = tail.group() if tail else ""
        return "" if self._is_one_word(before, after) else "-"

    def _is_one_word(self, before: str, after: str) -> bool:
        """Tell a hyphenated word from a compound, by the document's own words."""
        head, tail = before.lower().lstrip("\"'(“‘["), after.lower()
        if head + tail in self._words:
            return True
        if f"{head}-{tail}" in self._words:
            return False
        compound = head in self._words and tail in self._words
        return not compound and head.isalpha() and after.isalpha() and after.islower()


def _unbroken_words(lines: Iterable[Line]) -> frozenset[str]:
    """Return the words of a document, those aside that a line's end breaks."""
    words: set[str] = set()
    broken = False
    for line in lines:
        found = _LETTERS.findall(line.text.lower())
        words.update(found[broken : len(found) - line.hyphen])
        broken = line.hyphen
    return frozenset(words)


def _word_would_have_fitted(above: Line, line: Line, right: float) -> bool:
    """Tell whether the break after ``above`` was meant, not forced by the width."""
    first_word = line.text.split(" ", 1)[0]
    letter = (line.right - line.left) / max(1, len(line.text))
    needed = (len(first_word) * _WORD_MARGIN + 1) * letter
    return above.right + needed <= right
