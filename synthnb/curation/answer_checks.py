"""Checks of the answer: does it say something, and what was asked for?"""

from __future__ import annotations

import re
from collections import Counter

from synthnb.curation.pairs import Pair
from synthnb.curation.vocabulary import (
    BREAKING_OFF,
    NUMBER_WORDS,
    PERSON_ENDINGS,
    PERSON_WORDS,
    QUANTITY_WORDS,
    QUESTION_VERBS,
    STOP_WORDS,
    TIME_WORDS,
    YES_NO,
)
from synthnb.curation.words import (
    content_words,
    index,
    keys,
    normalise,
    numbers,
    sentences,
    share,
    words,
)
from synthnb.curation.words import (
    length as word_count,
)

_QUESTION_LENGTH = (3, 40)
_ANSWER_LENGTH = (1, 150)
_SAME_WORD_RUN = 3
_RUN_WORDS, _RUN_TIMES = 4, 3
_SAME_SHARE = 0.9

_COUNT = re.compile(
    r"\bhow (?:many|much)\b|\bwie ?viele?\b|\bcombien\b|\bcuánt[oa]s?\b"
    r"|\b(?:at|to|in) (?:what|which) (?:temperature|year|age|percentage|speed)\b",
    re.IGNORECASE,
)
_MEASURE = re.compile(
    r"\bhow (?:long|far|old|tall|high|deep|wide|often|hot|cold|fast|heavy)\b"
    r"|\bwie (?:lang|lange|weit|alt|hoch|tief|breit|oft)\b",
    re.IGNORECASE,
)
_WHEN = re.compile(
    r"^(?:since |until |ab |seit |bis )?(?:when|wann|quand|cuándo)\b", re.IGNORECASE
)
_WHO = re.compile(
    r"^(?:by |to |for )?(?:who|whom|wer|wem|qui est|quién(?:es)?)\b", re.IGNORECASE
)
_OR = re.compile(r"\b(?:or|oder|ou|o|versus|vs)\b", re.IGNORECASE)
_REFUSES = re.compile(
    r"""
    ^(?:i(?:'m|\sam)\ssorry|sorry|i\s(?:do\snot|don't|cannot|can't)|as\san\sai)\b
  | \b(?:not|isn't|n't)\s(?:\w+\s)?(?:mentioned|specified|stated|provided|given)\b
  | \b(?:does\snot|doesn't)\s(?:say|mention|specify|provide|state)\b
  | \b(?:the|this|given)\s(?:text|passage|context|evidence|excerpt|sentence)\b
  | ^(?:n/?a|unknown|none\sgiven|answer|string|the\sanswer|your\sanswer)[.:]?$
  | \bim\stext\b | \bnicht\s(?:erwähnt|angegeben)\b | \ble\stexte\b | \bel\stexto\b
    """,
    re.IGNORECASE | re.VERBOSE,
)


def length(pair: Pair) -> str | None:
    """Neither too short to say anything nor too long to be one answer."""
    for what, text, (least, most) in (
        ("question", pair.question, _QUESTION_LENGTH),
        ("answer", pair.answer, _ANSWER_LENGTH),
    ):
        count = word_count(text)
        if count == 0:
            return f"the {what} is empty"
        if count < least:
            return f"the {what} has {count} words, fewer than {least}"
        if count > most:
            return f"the {what} has {count} words, more than {most}"
    return None


def repetition(pair: Pair) -> str | None:
    """No word three times in a row, no run of words or sentence over and over."""
    for what, text in (("question", pair.question), ("answer", pair.answer)):
        listed = words(text)
        for i in range(len(listed) - _SAME_WORD_RUN + 1):
            if len(set(listed[i : i + _SAME_WORD_RUN])) == 1:
                return f"the {what} repeats {listed[i]!r}"
        grams = [
            listed[i : i + _RUN_WORDS] for i in range(len(listed) - _RUN_WORDS + 1)
        ]
        for gram, times in Counter(grams).most_common(1):
            if times >= _RUN_TIMES:
                return f"the {what} repeats {' '.join(gram)!r} {times} times"
        for sentence, times in Counter(map(normalise, sentences(text))).most_common(1):
            if times > 1 and len(sentence.split()) >= _SAME_WORD_RUN:
                return f"the {what} repeats the sentence {sentence!r}"
    return None


def answer_copies_question(pair: Pair) -> str | None:
    """The answer is not the question again, and not a question itself."""
    if pair.answer.rstrip("\"'”» ").endswith(("?", "？", "؟")):
        return "the answer is a question"
    asked, said = words(pair.question), words(pair.answer)
    if said and Counter(asked) == Counter(said):
        return "the answer is the question again"
    same = len(set(asked) & set(said))
    if same and same >= _SAME_SHARE * len(set(asked) | set(said)):
        return "the answer is nearly the question again"
    return None


def answer_in_question(pair: Pair) -> str | None:
    """The answer says something that the question does not say already.

    A choice ("hot or cold?") and a yes or no are answers all the same.
    """
    if _OR.search(pair.question):
        return None
    said = content_words(pair.answer, pair.language)
    if said and share(said, index(pair.question, pair.language)) == 1.0:
        return "everything that the answer says stands in the question"
    return None


def answer_kind(pair: Pair) -> str | None:
    """The answer is of the kind that was asked for: a number, a time, a person."""
    listed, said = words(pair.question), words(pair.answer)
    if not listed or not said:
        return None
    if set(said) <= YES_NO and listed[0] not in QUESTION_VERBS and pair.language:
        return None if _OR.search(pair.question) else "yes or no is no answer to this"
    question = " ".join(listed)
    if _COUNT.search(question) or _MEASURE.search(question):
        return None if _has_quantity(pair, question) else "asks for a number, gets none"
    if _WHEN.search(question):
        timed = numbers(pair.answer) or set(said) & (TIME_WORDS | set(NUMBER_WORDS))
        return None if timed else "asks for a time, gets none"
    return _no_person(pair) if _WHO.search(question) else None


def _no_person(pair: Pair) -> str | None:
    if not _has_person(pair.answer):
        return "asks for a person, gets none"
    short = _spelled_out(pair)
    return f"asks who, gets what {short!r} stands for" if short else None


def _spelled_out(pair: Pair) -> str | None:
    """Return the abbreviation in the question whose long form the answer is."""
    said = re.findall(r"[^\W\d_]+", pair.answer)
    initials = "".join(word[0] for word in said if word[0].isupper())
    asked = re.findall(r"\b[A-Z]{2,}\b", pair.question)
    return initials if initials in asked else None


def answer_refuses(pair: Pair) -> str | None:
    """The answer answers; it does not talk about a text, or about not knowing."""
    found = _REFUSES.search(pair.answer.strip())
    return f"no answer: {found[0].strip()!r}" if found else None


def answer_breaks_off(pair: Pair) -> str | None:
    """The answer does not stop on a word that cannot be its last."""
    said = words(pair.answer)
    if said and pair.answer.rstrip().endswith((",", ";", ":", "-", "(")):
        return f"breaks off after {pair.answer.split()[-1]!r}"
    if said and said[-1] in BREAKING_OFF and pair.answer.strip()[-1:].isalpha():
        return f"breaks off after {said[-1]!r}"
    return None


def _has_quantity(pair: Pair, question: str) -> bool:
    said = set(words(pair.answer))
    if numbers(pair.answer) or said & NUMBER_WORDS.keys() or said & QUANTITY_WORDS:
        return True
    return bool(_MEASURE.search(question)) and bool(said & (TIME_WORDS - {"at", "in"}))


def _has_person(answer: str) -> bool:
    said = words(answer)
    function_words = frozenset().union(*STOP_WORDS.values())
    shown = re.findall(r"[^\W\d_][^\W_]*", answer)
    if any(w[0].isupper() and w.casefold() not in function_words for w in shown):
        return True
    persons = (w for w in said if w in PERSON_WORDS or w.endswith(PERSON_ENDINGS))
    return (
        any(persons) or not answer.isascii() or bool(keys(said[0]) & {"all", "every"})
    )
