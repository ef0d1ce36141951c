"""The sentences of a chunk that may be evidence, and where a quotation stands."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from synthnb.recipes.sentences import Sentence, split_sentences

MAX_SENTENCES = 60
MAX_SENTENCE_CHARS = 400
_MIN_WORDS = 5
_MIN_CJK_CHARS = 10
_MIN_QUOTE_CHARS = 3
_CJK_START = 0x2E80


@lru_cache(maxsize=256)  # each request of a slot looks at the same text
def candidates(text: str, limit: int = MAX_SENTENCES) -> tuple[Sentence, ...]:
    """Return the sentences of ``text`` that can carry a fact, in order.

    Headings, table rows, code, fragments and endless sentences are left out. Of more
    than ``limit``, evenly spread ones are taken. A text with none of them (a table, a
    list of words) gives whatever sentences it has.
    """
    sentences = split_sentences(text)
    good = [s for s in sentences if s.kind == "prose" and _is_full(s.text)]
    chosen = good or [s for s in sentences if len(s.text) <= MAX_SENTENCE_CHARS]
    if len(chosen) <= limit:
        return tuple(chosen)
    return tuple(chosen[i * len(chosen) // limit] for i in range(limit))


def one_line(text: str) -> str:
    """Return ``text`` with every run of white space as one space."""
    return " ".join(text.split())


def locate(quote: str, text: str) -> tuple[int, int] | None:
    """Return the span of ``quote`` in ``text``, or ``None``.

    Exactly, else without regard to white space, case and punctuation; then the span is
    that of the text's own characters.
    """
    quote = quote.strip()
    if not quote:
        return None
    at = text.find(quote)
    if at >= 0 and len(quote) >= _MIN_QUOTE_CHARS:
        return at, at + len(quote)
    wanted, _ = _letters(quote)
    if len(wanted) < _MIN_QUOTE_CHARS:
        return None
    have, places = _letters(text)
    at = have.find(wanted)
    while at >= 0:
        start, end = places[at], places[at + len(wanted) - 1] + 1
        if not (_in_word(text, start) or _in_word(text, end)):
            return _with_marks(quote, text, start, end)
        at = have.find(wanted, at + 1)
    return None


def _with_marks(quote: str, text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span with the marks around it, as many as the quote has itself.

    A sentence that was found over its line break keeps its full stop.
    """
    before = len(quote) - len(quote.lstrip(_marks(quote)))
    after = len(quote) - len(quote.rstrip(_marks(quote)))
    while before and start and _is_mark(text[start - 1]):
        start, before = start - 1, before - 1
    while after and end < len(text) and _is_mark(text[end]):
        end, after = end + 1, after - 1
    return start, end


def _marks(text: str) -> str:
    return "".join({c for c in text if _is_mark(c)})


def _is_mark(character: str) -> bool:
    return not (character.isalnum() or character.isspace())


def normal(text: str) -> str:
    """Return ``text`` as it is compared: letters and digits only, case folded."""
    return _letters(text)[0]


def _letters(text: str) -> tuple[str, list[int]]:
    """Return the folded letters and digits of ``text``, and where each one stands."""
    letters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        for folded in unicodedata.normalize("NFKC", character).casefold():
            if folded.isalnum():
                letters.append(folded)
                places.append(place)
    return "".join(letters), places


def _in_word(text: str, at: int) -> bool:
    """Tell whether the border at ``at`` cuts through a word (CJK has no such borders)."""
    if not 0 < at < len(text):
        return False
    left, right = text[at - 1], text[at]
    return (
        left.isalnum()
        and right.isalnum()
        and ord(left) < _CJK_START
        and ord(right) < _CJK_START
    )


def _is_full(text: str) -> bool:
    if len(text) > MAX_SENTENCE_CHARS:
        return False
    is_cjk = sum(ord(c) >= _CJK_START for c in text) > len(text) / 2
    return len(text) >= _MIN_CJK_CHARS if is_cjk else len(text.split()) >= _MIN_WORDS
