"""Checks of the answer against the text and the evidence it was made from."""

from __future__ import annotations

import re
from collections.abc import Sequence

from synthnb.curation.pairs import Pair
from synthnb.curation.vocabulary import GENERIC_WORDS, YES_NO
from synthnb.curation.words import (
    content_words,
    index,
    keys,
    length,
    numbers,
    readings,
    sentences,
    share,
    words,
)

# Of the answer's words that the question does not hold. Measured on the labelled pairs of
# tests/curation: below these, a small model has woven something of its own in.
_ANSWER_SHARE = 0.7
_EVIDENCE_SHARE = 0.7
# The same where the language has no list of function words, so that they count too, and
# where its endings are not known.
_UNLISTED_SHARE = 0.4
_OUTSIDE_RUN = 3  # content words in a row from elsewhere: a clause of its own
_SAME_SHARE = 0.9
_FACT_WORDS = 15  # a fact asked for, answered by a sentence longer than this, is buried
_SENTENCE_WORDS = 30  # above it a copied sentence is a piece of text, not an answer
_CLEARLY_MORE = 2  # words of the question
_PRONOUNS = frozenset(
    [
        "it",
        "they",
        "this",
        "these",
        "he",
        "she",
        "its",
        "their",
        "there",
        "es",
        "er",
        "sie",
        "dies",
        "diese",
        "il",
        "elle",
        "ils",
        "elles",
        "ce",
        "cela",
        "esto",
        "este",
        "ella",
        "ellos",
    ]
)
_NAME = re.compile(r"(?<=[^\W_]\s)[A-ZÀ-Þ][^\W\d_]+|(?<=[,;]\s)[A-ZÀ-Þ][^\W\d_]+")
_ASKS_FACT = re.compile(
    r"^\W*(?:(?:in|at|by|to|for|of|on|from|since) )?(?:(?:what|which) (?:year|date|day|"
    r"temperature|city|country)|who|whom|when|where|how (?:many|much|long|old|far|often|"
    r"tall|high|deep|wide)|wer|wann|wo|wie ?viele?|combien|quand|cuánt[oa]s?|cuándo)\b",
    re.IGNORECASE,
)


def answer_grounded(pair: Pair) -> str | None:
    """The answer comes from the text: its numbers all do, its words for the most part."""
    text = pair.text or pair.evidence
    if not text:
        return None
    where = index(text, pair.language)
    known = {value for number in numbers(text) for value in readings(number)}
    for number in numbers(pair.answer):
        if not readings(number) & (known | where):
            return f"the number {number} does not stand in the text"
    found = share(_new_words(pair), where)
    if found < (_ANSWER_SHARE if pair.language else _UNLISTED_SHARE):
        return f"only {found:.0%} of the answer's words stand in the text"
    return None


def answer_copies_evidence(pair: Pair) -> str | None:
    """The answer is not a long sentence of the text taken over whole.

    A short sentence that answers is weak but useful, and kept. A long one is refused,
    and sooner where the question asks for one fact, which it would bury.
    """
    said, there = words(pair.answer), words(pair.evidence)
    if not said or not there:
        return None
    same = len(set(said) & set(there))
    if same < _SAME_SHARE * len(set(said) | set(there)):
        return None
    most = _FACT_WORDS if _ASKS_FACT.search(pair.question) else _SENTENCE_WORDS
    count = length(pair.answer)
    if count <= most:
        return None
    return f"the whole evidence sentence, {count} words, in place of an answer"


def evidence_supports(pair: Pair) -> str | None:
    """The sentence that is named as evidence holds the answer."""
    if not pair.evidence:
        return None
    there = index(pair.evidence, pair.language)
    found = share(_new_words(pair), there)
    if found < (_EVIDENCE_SHARE if pair.language else _UNLISTED_SHARE):
        return f"only {found:.0%} of the answer's words stand in its evidence"
    strange = _strange_name(pair, there)
    if strange is not None:
        return f"{strange} does not stand in its evidence"
    if pair.language is None:
        return None
    outside = 0
    for word in content_words(pair.answer, pair.language):
        known = keys(word) & (there | index(pair.question, pair.language))
        outside = 0 if known or word in YES_NO else outside + 1
        if outside == _OUTSIDE_RUN:
            return f"goes beyond its evidence, up to {word!r}"
    return None


def _strange_name(pair: Pair, there: frozenset[str]) -> str | None:
    """Return a number or a name of the answer that neither evidence nor question has.

    One wrong name makes a fluent answer false. A capital that opens a sentence is no
    sign of a name, nor is one in German.
    """
    known = there | index(pair.question, pair.language)
    named: list[str] = [] if pair.language == "de" else _NAME.findall(pair.answer)
    for word in [*numbers(pair.answer), *named]:
        if not any(keys(part) & known for part in words(word)):
            return word
    return None


def evidence_fits_question(pair: Pair) -> str | None:
    """The evidence is about what the question asks, not about something else.

    Another sentence of the text must not have clearly more of the question's words. One
    that has none of them is refused, unless it opens with a pronoun: "It is 2,850 km
    long." names nothing and may be about anything.
    """
    asked = [
        word
        for word in content_words(pair.question, pair.language)
        if word not in GENERIC_WORDS
    ]
    if not asked or not pair.evidence:
        return None
    here = _shared(asked, pair.evidence, pair.language)
    most = max(
        (_shared(asked, s, pair.language) for s in sentences(pair.text)), default=0
    )
    if most - here >= _CLEARLY_MORE:
        return "another sentence has more of the question's words"
    opening = words(pair.evidence)[:1]
    all_words = content_words(pair.question, pair.language)
    if here or _shared(all_words, pair.evidence, pair.language):
        return None
    if opening and opening[0] in _PRONOUNS:
        return None
    return "no word of the question stands in its evidence"


def _shared(asked: Sequence[str], sentence: str, code: str | None) -> int:
    there = index(sentence, code)
    return sum(bool(keys(word) & there) for word in set(asked))


def _new_words(pair: Pair) -> list[str]:
    """Return the answer's content words that the question does not give away.

    What is said again proves nothing. An answer of nothing else keeps its words.
    """
    said = [w for w in content_words(pair.answer, pair.language) if w not in YES_NO]
    asked = index(pair.question, pair.language)
    return [word for word in said if not keys(word) & asked] or said
