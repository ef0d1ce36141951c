"""Words of a text, as the checks and the search for duplicates compare them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from synthnb.curation.vocabulary import NUMBER_WORDS, STOP_WORDS

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\u0e00-\u0e7f"
_CJK_RUN = re.compile(f"[{_CJK}]+")
_NUMBER = r"\d+(?:[.,'’\u00a0\u202f]\d+)*"
_TOKEN = re.compile(rf"[{_CJK}]+|{_NUMBER}|[^\W_]+(?:['’-][^\W_]+)*")
_DIGITS = re.compile(rf"(?<![^\W_]){_NUMBER}")
_GROUPED = re.compile(r"\d{1,3}(?:[.,'’\u00a0\u202f]\d{3})+")
_SENTENCE_END = re.compile(
    r"""
    (?<!\bMr)(?<!\bMrs)(?<!\bDr)(?<!\bSt)(?<!\bNo)(?<!\bNr)(?<!\be\.g)(?<!\bi\.e)(?<!z\.B)
    [.!?][\"'”»)\]]*(?=\s+\S|\s*$)
  | [。！？][」』”）]*
  | (?=\n\s*\n) | (?=\n\s*(?:[-*•#|>]|\d{1,3}[.)]\s))
    """,
    re.VERBOSE,
)
_PREFIX = 6
_SUFFIXES = ("ing", "ed", "es", "s")
_MIN_STEM = 3


def normalise(text: str) -> str:
    """Return ``text`` as NFKC, caseless, its words divided by single spaces."""
    text = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(_TOKEN.findall(text.replace("’", "'")))


@lru_cache(maxsize=4096)
def words(text: str) -> tuple[str, ...]:
    """Return the words of ``text``, caseless; CJK runs as overlapping character pairs."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    found: list[str] = []
    for token in _TOKEN.findall(folded):
        if _CJK_RUN.match(token):
            found += [token[i : i + 2] for i in range(max(1, len(token) - 1))]
        else:
            found.append(token)
    return tuple(found)


def length(text: str) -> int:
    """Return how many words ``text`` has; two CJK characters count as one."""
    folded = unicodedata.normalize("NFKC", text)
    return sum(
        (len(t) + 1) // 2 if _CJK_RUN.match(t) else 1 for t in _TOKEN.findall(folded)
    )


@lru_cache(maxsize=1024)
def language(text: str) -> str | None:
    """Return the language whose function words are most frequent, or ``None``.

    A guess that chooses a stop-word list, no more; a short or foreign text has none.
    """
    listed = words(text)
    hits = {code: sum(w in stop for w in listed) for code, stop in STOP_WORDS.items()}
    best = max(hits, key=lambda code: hits[code])
    return best if hits[best] > 1 and hits[best] >= 0.2 * len(listed) else None


def stem(word: str) -> str:
    """Return a word's crude stem: a plural or verb ending off, then six characters.

    Truncation serves European languages about as well as stemmers that know them
    (Can et al., "Information retrieval on Turkish texts", JASIST 2008).
    """
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _MIN_STEM:
            word = word.removesuffix(suffix)
            break
    return word[:_PREFIX].rstrip("e") if len(word) > _MIN_STEM else word


def content_words(text: str, code: str | None = None) -> tuple[str, ...]:
    """Return the words of ``text`` that are no function words of the language ``code``.

    Without a language every word counts. Elided articles (l', d', qu') are cut off.
    """
    stop = STOP_WORDS.get(code or "", frozenset())
    return tuple(w for w in _plain(text, code) if w.removesuffix("'s") not in stop)


def _plain(text: str, code: str | None) -> tuple[str, ...]:
    if code != "fr":
        return words(text)
    return tuple(word for word in map(_unelided, words(text)) if word)


def _unelided(word: str) -> str:
    head, mark, tail = word.partition("'")
    return (
        tail
        if mark and head in {"l", "d", "qu", "c", "s", "n", "j", "t", "m"}
        else word
    )


def keys(word: str) -> frozenset[str]:
    """Return what a word is compared by: the values of a number, or its stem."""
    if word[0].isdigit():
        return readings(word)
    if word in NUMBER_WORDS:
        return frozenset({word, str(NUMBER_WORDS[word])})
    return frozenset({stem(word.removesuffix("'s").replace("-", ""))})


@lru_cache(maxsize=1024)
def index(text: str, code: str | None = None) -> frozenset[str]:
    """Return the keys of all words of ``text``: what ``share`` looks words up in."""
    return frozenset(k for word in _plain(text, code) for k in keys(word))


def share(listed: Sequence[str], where: frozenset[str]) -> float:
    """Return which share of the words stands in an index; 1.0 for no words."""
    found = sum(bool(keys(word) & where) for word in listed)
    return found / len(listed) if listed else 1.0


def numbers(text: str) -> list[str]:
    """Return the numbers of ``text`` as they are written, without signs and units."""
    return _DIGITS.findall(unicodedata.normalize("NFKC", text))


def readings(number: str) -> frozenset[str]:
    """Return the values that a written number may have.

    "2,850" is 2850 to an English reader and 2.85 to a German one; it equals any number
    that shares one of its readings.
    """
    plain = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in number)
    found = set()
    if _GROUPED.fullmatch(plain):
        found.add(re.sub(r"\D", "", plain))
    whole, mark, fraction = (
        re.sub(r"[^\d.,]", "", plain).replace(",", ".").rpartition(".")
    )
    if mark:
        fraction = fraction.rstrip("0")
        whole = whole.replace(".", "").lstrip("0") or "0"
        found.add(f"{whole}.{fraction}" if fraction else whole)
    else:
        found.add(fraction.lstrip("0") or "0")
    return frozenset(found)


def sentences(text: str) -> list[str]:
    """Return the sentences of ``text``, in order."""
    return [text[start:end] for start, end in sentence_spans(text)]


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return where the sentences of ``text`` stand, without the space around them.

    They end at their marks, at empty lines and before list items; a wrapped line ends
    none. CJK marks need no space behind them.
    """
    spans = []
    start = 0
    for end in [*(found.end() for found in _SENTENCE_END.finditer(text)), len(text)]:
        part = text[start:end]
        first = start + len(part) - len(part.lstrip())
        last = start + len(part.rstrip())
        if first < last:
            spans.append((first, last))
        start = end
    return spans
