"""Checks of the question: is it one, and does it stand by itself?"""

from __future__ import annotations

import re

from synthnb.curation.pairs import Pair
from synthnb.curation.vocabulary import (
    CJK_QUESTION_SIGNS,
    GENERIC_WORDS,
    INSTRUCTION_WORDS,
    QUESTION_VERBS,
    QUESTION_WORDS,
    SUBJECT_OPENERS,
)
from synthnb.curation.words import (
    content_words,
    index,
    keys,
    numbers,
    readings,
    sentences,
    share,
    words,
)

_MARKS = ("?", "？", "؟", "՞", ";")
_CLOSING = "\"'”’»)] "
_OPENING_WORDS = 4  # "In the autumn, which ...": a question word may stand this late
_COPIED_WORDS = 4  # shorter questions share their words with a text by chance
_COPIED_SHARE = 0.8  # of a sentence, after a question word: "What the river is long?"
_GROUNDED_SHARE = 0.5

_TEXT_NOUN = (
    "text|passage|paragraph|article|excerpt|extract|context|snippet|chunk|essay"
)
_POINTS_OUTSIDE = re.compile(
    rf"""
    \b(?:the|this|that|these|given|above|following|provided)\s
        (?:given\s|above\s|following\s|provided\s)?(?:{_TEXT_NOUN}|sentence|statement)s?\b
  | \b(?:in|of|from|by|to|does)\s(?:the|this)\s(?:document|section|page|evidence|table)\b
  | \b(?:this|given|above)\s(?:question|answer|evidence|information)\b
  | \b(?:which|what|one)\sof\sthe\sfollowing\b | \b(?:what|which)\sevidence\b
  | \bthe\s(?:correct\s)?answer\sto\b | \bthe\squestion\b
  | \bthe\sauthors?\b | \b(?:mentioned|described|stated|given|listed)\s(?:above|below|here)\b
  | \b(?:im|dem|der|diese[mrsn]?|obige[nr]?)\s(?:obigen\s|folgenden\s)?
        (?:text|textes|abschnitt|absatz|artikel|dokument|auszug)\b
  | \b(?:le|ce|du|au|cet|l['’])\s?(?:texte|passage|paragraphe|article|document|extrait)\b
  | \b(?:el|este|del|al)\s(?:texto|pasaje|párrafo|artículo|documento|fragmento)\b
  | \bl['’]auteur\b | \bel\sautor\b | \bder\sautor\b
  | 文中 | 上文 | 本文 | この文章 | 文章中
    """,
    re.IGNORECASE | re.VERBOSE,
)


def question_form(pair: Pair) -> str | None:
    """A question or an instruction: not a sentence of the text with a mark behind it."""
    question = pair.question.strip()
    listed = words(question)
    if not listed:
        return "the question is empty"
    if _is_copied(pair, listed):
        return "a sentence of the text, not a question"
    if listed[0] in INSTRUCTION_WORDS:
        return None
    if not question.rstrip(_CLOSING).endswith(_MARKS):
        signed = any(sign in question for sign in CJK_QUESTION_SIGNS)
        return None if signed else "no question mark at the end"
    if pair.language is not None and not _asks(listed, question):
        return "no question word and no verb in front"
    return _broken_opening(listed, question) if pair.language == "en" else None


def question_grounded(pair: Pair) -> str | None:
    """The question is about the text: enough of its content words stand there."""
    if not pair.text:
        return None
    where = index(pair.text, pair.language)
    listed = [
        word
        for word in content_words(pair.question, pair.language)
        if word not in GENERIC_WORDS or keys(word) & where
    ]
    if not listed:
        return "the question names nothing"
    known = {value for number in numbers(pair.text) for value in readings(number)}
    for number in numbers(pair.question):
        if not readings(number) & (known | where):
            return f"the number {number} of the question does not stand in the text"
    found = share(listed, where)
    # Without a list of function words "what is" counts as well, and in Chinese most
    # pairs of characters span two words: one word from the text must be enough.
    if found < _GROUNDED_SHARE and (pair.language is not None or not found):
        return f"only {found:.0%} of the question's words stand in the text"
    return None


def stands_alone(pair: Pair) -> str | None:
    """The question means something without the text beside it."""
    found = _POINTS_OUTSIDE.search(pair.question)
    return f"points outside itself: {found[0].strip()!r}" if found else None


def _asks(listed: tuple[str, ...], question: str) -> bool:
    if question.startswith("¿") or listed[0] in QUESTION_VERBS:
        return True
    if any(word.partition("'")[0] in QUESTION_WORDS for word in listed):
        return True
    clause = words(question.rpartition(",")[2])  # "If it rains, is the path open?"
    return bool(clause) and clause[0] in QUESTION_VERBS


def _is_copied(pair: Pair, listed: tuple[str, ...]) -> bool:
    """Whether the question is a piece of the text, maybe after a question word."""
    text = pair.text or pair.evidence
    asked = " ".join(listed)
    if not text or len(listed) < _COPIED_WORDS:
        return False
    for sentence in sentences(text):
        if sentence.rstrip(_CLOSING).endswith(_MARKS):
            continue  # a question of the text itself, as in a list of frequent questions
        there = words(sentence)
        if f" {asked} " in f" {' '.join(there)} ":
            return not _is_whole_question(listed)
        if _is_prefixed_sentence(listed, there):
            return True
    return False


def _is_whole_question(listed: tuple[str, ...]) -> bool:
    # "Who wrote the book?" may stand inside "the man who wrote the book": still asked.
    return listed[0] in QUESTION_WORDS and listed[1] not in SUBJECT_OPENERS


def _is_prefixed_sentence(listed: tuple[str, ...], there: tuple[str, ...]) -> bool:
    if listed[0] not in QUESTION_WORDS | QUESTION_VERBS:
        return False
    for skip in (1, 2, 3):
        rest = listed[skip:]
        if len(rest) < _COPIED_WORDS or len(rest) < _COPIED_SHARE * len(there):
            return False
        if rest == there[: len(rest)]:
            return True
    return False


def _broken_opening(listed: tuple[str, ...], question: str) -> str | None:
    """What small models write: "How the Danube flows through ten countries?"."""
    if listed[0] not in QUESTION_WORDS or len(listed) < 2:  # noqa: PLR2004
        return None
    if listed[1] in SUBJECT_OPENERS and "," not in question:
        return f"no verb after {listed[0]!r}: a sentence behind a question word"
    return None
