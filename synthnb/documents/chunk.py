"""Cut a document into chunks that fit a number of tokens.

The cut is hierarchical: at the end of a paragraph where one lies in the last part of
what fits, else of a sentence, else of a line, a word, a character. Written here because
semchunk 4.1 was measured to exceed its bound with an overlap (404 of 400 tokens) and to
fill chunks to four fifths.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from synthnb.documents.boundaries import (
    Boundaries,
    find_boundaries,
    whole_character,
)
from synthnb.documents.tokens import TokenCounter, estimate_tokens
from synthnb.errors import ConfigError
from synthnb.fingerprint import content_hash
from synthnb.records import Chunk, Document, Page

_PARAGRAPH_SHARE = 0.6  # cut at a paragraph's end if it leaves a chunk at least so full
_CHARACTERS_PER_TOKEN = 4  # where the search for a chunk's end starts; no promise
_SMALLEST_OVERLAP = 0.5  # of the wanted one, for the sake of a whole sentence
_LARGEST_OVERLAP = 1.5


def chunk_document(
    document: Document,
    *,
    chunk_tokens: int = 400,
    overlap: int = 40,
    count: TokenCounter = estimate_tokens,
) -> tuple[Chunk, ...]:
    """Cut ``document`` into chunks of at most ``chunk_tokens`` tokens.

    Every character that is not white space is in a chunk, ``text`` is the document's
    text from ``start`` to ``end``, and chunks begin and end with no white space. Each
    chunk but the first repeats the end of the one before: whole sentences of about
    ``overlap`` tokens (half to one and a half times) where there are such, else words.

    Args:
        document: What to cut; blank text gives no chunk.
        chunk_tokens: The bound, never exceeded by ``count``.
        overlap: Tokens that neighbouring chunks share; less than ``chunk_tokens``.
        count: Counts the tokens of a text. It is called about ten times a chunk.

    Returns:
        The chunks in the order of the text.

    Raises:
        ConfigError: The two numbers do not go together, or a single character has more
            tokens than ``chunk_tokens``.
    """
    _check(chunk_tokens, overlap, count)
    cutter = _Cutter(document.text, chunk_tokens, overlap, count)
    page_starts = [page.start for page in document.pages]
    return tuple(
        _chunk(document, start, end, page_starts, count)
        for start, end in cutter.spans()
    )


def chunk_rows(chunks: Iterable[Chunk]) -> list[dict[str, Any]]:
    """Return one dict a chunk, its keys the columns of the table of chunks."""
    return [asdict(chunk) for chunk in chunks]


def _check(chunk_tokens: Any, overlap: Any, count: object) -> None:
    for name, value in (("chunk_tokens", chunk_tokens), ("overlap", overlap)):
        if not isinstance(value, int) or isinstance(value, bool):
            raise ConfigError(
                f"{name} is a whole number of tokens, not {value!r:.80}",
                hint="Write chunk_tokens=400, overlap=40.",
            )
    if not callable(count):
        raise ConfigError(
            f"count is a function from a text to its tokens, not {count!r:.80}",
            hint="Leave it out, or pass e.g. lambda text: len(tokenizer.encode(text)).",
        )
    if chunk_tokens < 1:
        raise ConfigError(
            f"chunk_tokens={chunk_tokens}: a chunk holds at least one token",
            hint="Take 200 to 1000, well below the model's context.",
        )
    if not 0 <= overlap < chunk_tokens:
        raise ConfigError(
            f"overlap={overlap} does not go with chunk_tokens={chunk_tokens}: "
            "it must be at least 0 and less than a chunk",
            hint=f"Take about a tenth of a chunk: overlap={chunk_tokens // 10}.",
        )


def _chunk(
    document: Document,
    start: int,
    end: int,
    page_starts: Sequence[int],
    count: TokenCounter,
) -> Chunk:
    text = document.text[start:end]
    return Chunk(
        chunk_id=content_hash([document.source, start, end, text]),
        source=document.source,
        page=_page_at(document.pages, page_starts, start),
        start=start,
        end=end,
        text=text,
        tokens=count(text),
    )


def _page_at(
    pages: Sequence[Page], page_starts: Sequence[int], position: int
) -> int | None:
    index = bisect_right(page_starts, position) - 1
    return pages[index].number if index >= 0 else None


class _Cutter:
    """One walk over one text. Positions are characters."""

    def __init__(
        self, text: str, chunk_tokens: int, overlap: int, count: TokenCounter
    ) -> None:
        self.text = text
        self.bound = chunk_tokens
        self.overlap = overlap
        self.count = count
        self.boundaries: Boundaries = find_boundaries(text)

    def spans(self) -> Iterable[tuple[int, int]]:
        """Yield the chunks' spans, white space stripped."""
        length = len(self.text.rstrip())
        start = done = self._skip_space(0)
        while done < length:
            end = self._end(start, done, length)
            if end is None:  # the repeated words leave no room for a new one
                start = done
                continue
            yield start, self._strip(start, end)
            done = self._skip_space(end)
            start = self._overlap_start(start, done) if done < length else done

    def _end(self, start: int, done: int, length: int) -> int | None:
        """Return where a chunk from ``start`` ends best, or None for "not after done"."""
        window = self._window(start, done, length)
        if window == length and self._fits(start, length):
            return length
        for positions in (self.boundaries.sentences, self.boundaries.lines):
            end = self._last_that_fits(positions, start, done, window)
            if end is not None:
                return self._paragraph_before(start, done, end)
        return self._inside_sentence(start, done, window)

    def _window(self, start: int, done: int, length: int) -> int:
        """Return a position after ``done`` to which a chunk does not fit, or the end."""
        size = self.bound * _CHARACTERS_PER_TOKEN
        while start + size < length:
            if start + size > done and not self._fits(start, start + size):
                return start + size
            size *= 2
        return length

    def _last_that_fits(
        self, positions: Sequence[int], start: int, done: int, window: int
    ) -> int | None:
        low = bisect_right(positions, done)
        high = bisect_right(positions, window)
        best: int | None = None
        while low < high:
            middle = (low + high) // 2
            if self._fits(start, positions[middle]):
                best = positions[middle]
                low = middle + 1
            else:
                high = middle
        return best

    def _paragraph_before(self, start: int, done: int, end: int) -> int:
        """Return a paragraph's end that makes the chunk hardly shorter, or ``end``."""
        paragraphs = self.boundaries.paragraphs
        index = bisect_right(paragraphs, end) - 1
        if index < 0:
            return end
        paragraph = paragraphs[index]
        full_enough = paragraph - start >= _PARAGRAPH_SHARE * (end - start)
        if full_enough and paragraph > done and self._fits(start, paragraph):
            return paragraph
        return end

    def _inside_sentence(self, start: int, done: int, window: int) -> int | None:
        """Cut between words, or where a word is longer than a chunk, inside it."""
        best, low, high = done, done + 1, window
        while low <= high:
            middle = (low + high) // 2
            if self._fits(start, middle):
                best, low = middle, middle + 1
            else:
                high = middle - 1
        if best > done:
            cut = self._last_space(done, best) or whole_character(self.text, best, done)
            return cut if self._fits(start, cut) else best
        if start < done:
            return None
        raise ConfigError(
            f"chunk_tokens={self.bound} is less than the tokens of one character "
            f"({self.text[start]!r}: {self.count(self.text[start])})",
            hint="Take 200 to 1000, well below the model's context.",
        )

    def _last_space(self, floor: int, position: int) -> int | None:
        """Return the last position in (floor, position] that has white space at it."""
        for cut in range(min(position, len(self.text) - 1), floor, -1):
            if self.text[cut].isspace():
                return cut
        return None

    def _overlap_start(self, start: int, done: int) -> int:
        """Return where the chunk after one from ``start`` to ``done`` begins."""
        if not self.overlap:
            return done
        positions = self.boundaries.sentences
        low, high = bisect_right(positions, start), bisect_left(positions, done)
        index = low + bisect_left(
            range(low, high),
            -self.overlap,
            key=lambda i: -self._tail(positions[i], done),
        )
        near = [
            position
            for position in positions[max(low, index - 1) : min(index + 1, high)]
            if self._is_good_overlap(self._tail(position, done))
        ]
        if near:
            return min(near, key=lambda p: abs(self._tail(p, done) - self.overlap))
        return self._overlap_words(start, done)

    def _is_good_overlap(self, tokens: int) -> bool:
        """Tell whether so many repeated tokens are near enough to what was asked for."""
        most = min(_LARGEST_OVERLAP * self.overlap, (self.bound + self.overlap) // 2)
        return _SMALLEST_OVERLAP * self.overlap <= tokens <= max(most, self.overlap)

    def _overlap_words(self, start: int, done: int) -> int:
        """Return the first word, or where a word is too long, character to repeat."""
        inside = range(start + 1, done)
        index = bisect_left(inside, -self.overlap, key=lambda p: -self._tail(p, done))
        position = start + 1 + index
        for word in range(position, done):
            if self.text[word - 1].isspace() and not self.text[word].isspace():
                return word
        if position == done or self._tail(start, done) <= self.overlap:
            return done  # nothing, or a single word that fits: not to be cut in two
        return self._skip_space(whole_character(self.text, position, start))

    def _tail(self, position: int, done: int) -> int:
        return self.count(self.text[position:done].strip())

    def _fits(self, start: int, end: int) -> bool:
        return self.count(self.text[start:end].rstrip()) <= self.bound

    def _strip(self, start: int, end: int) -> int:
        return start + len(self.text[start:end].rstrip())

    def _skip_space(self, position: int) -> int:
        while position < len(self.text) and self.text[position].isspace():
            position += 1
        return position
