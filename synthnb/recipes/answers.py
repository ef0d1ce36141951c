"""What an English sentence can be asked, and the phrases of it that would answer.

Rules, not a model: a year answers "When", a number "How many", a name behind "by" or in
front of the verb "Who", a clause with "because" "Why", what stands behind "is a" "What
is". A small model that gets one sentence, one kind of question and the phrases that fit
writes a question that the sentence answers far more often than one that chooses freely.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from synthnb.recipes.english import (
    FUNCTION_WORDS,
    POINTING_WORDS,
    PREPOSITIONS,
    QUESTION_WORDS,
    words,
)
from synthnb.recipes.phrases import phrases

_WHEN = ("When",)
_WHO = ("Who",)
_WHY = ("Why",)
_DEFINE = ("What is", "What are")
_NUMBER = ("How many", "How much", "How long", "How often", "How far", "How high")
_OTHER = ("What", "Which", "Where")
_WEIGHTS = {_WHEN: 5, _WHO: 5, _WHY: 5, _DEFINE: 4, _NUMBER: 4, _OTHER: 1}

_DATE = re.compile(
    r"\b(1[0-9]{3}|20\d\d)\b|\b(January|February|March|April|May|June|July|August|"
    r"September|October|November|December)\b"
)
_NUMBER_WORDS = words(
    "two three four five six seven eight nine ten eleven twelve twenty thirty forty "
    "fifty hundred thousand million billion"
)
_REASONS = frozenset({"because", "since", "so"})
_DEFINITION = re.compile(r"(?:\S+ ){1,6}?(?:is|are) ((?:an?|the|one) .{8,160})[.!]$")
_PEOPLE_VERBS = frozenset({"and", "built", "found", "made", "won", "wrote"})
"""With "-ed": what follows the name of somebody who did something ("and colleagues")."""
_USUAL_WORDS = range(6, 25)
_MIN_CHARS = 2
_MAX_DATE_WORDS = 5


@dataclass(frozen=True, slots=True)
class Task:
    """One question to be asked about a sentence."""

    sentence: str
    openings: tuple[str, ...]
    answers: tuple[str, ...]
    score: int


def tasks(sentences: Sequence[str]) -> list[Task]:
    """Return what may be asked about English sentences, the most promising first.

    Each sentence's best question comes first, then the second best ones.

    Args:
        sentences: each on one line, in the order of the text.
    """
    rounds: dict[int, list[Task]] = {}
    for sentence in sentences:
        for place, task in enumerate(_askable(sentence)):
            rounds.setdefault(place, []).append(task)
    return [
        task
        for place in sorted(rounds)
        for task in sorted(rounds[place], key=lambda task: -task.score)
    ]


@lru_cache(maxsize=4096)  # each request of a slot looks at the same sentences
def _askable(sentence: str) -> tuple[Task, ...]:
    groups: dict[tuple[str, ...], list[str]] = {}
    for phrase in phrases(sentence):
        openings = _openings(phrase, sentence)
        if openings:
            groups.setdefault(openings, []).append(phrase)
    definition = _DEFINITION.match(sentence)
    if definition:
        groups[_DEFINE] = [definition[1].strip()]
    base = _clarity(sentence)
    found = [
        Task(sentence, openings, tuple(answers), base + _WEIGHTS[openings])
        for openings, answers in groups.items()
    ]
    if not found:
        return (Task(sentence, QUESTION_WORDS, (), base),)
    return tuple(sorted(found, key=lambda task: -task.score))


def _openings(phrase: str, sentence: str) -> tuple[str, ...]:
    """Return the openings of questions that ``phrase`` may answer; none for a subject."""
    parts = phrase.split()
    first = parts[0].lower()
    if len(phrase) < _MIN_CHARS or first in POINTING_WORDS:
        return ()
    if _is_actor(phrase, parts, sentence):
        return _WHO
    if sentence.startswith(phrase):
        return ()
    if _DATE.search(phrase):
        is_date = first in PREPOSITIONS or bool(_DATE.match(phrase))
        return _WHEN if is_date and len(parts) <= _MAX_DATE_WORDS else ()
    if first in _REASONS and not parts[-1][:1].isdigit():
        return _WHY
    return _NUMBER if _is_amount(parts) else _OTHER


def _is_actor(phrase: str, parts: Sequence[str], sentence: str) -> bool:
    """Tell whether a phrase is the name of who does it: in front, or behind "by"."""
    if parts[0].lower() in FUNCTION_WORDS or _DATE.search(phrase):
        return False
    if not _is_name(parts):
        return False
    if f" by {phrase}" in sentence:
        return True
    following = sentence[len(phrase) :].split()[:1]
    acts = bool(following) and (
        following[0].endswith("ed") or following[0] in _PEOPLE_VERBS
    )
    return acts and sentence.startswith(phrase) and len(parts) > 1


def _is_amount(parts: Sequence[str]) -> bool:
    """Tell whether a phrase counts something: a bare number says too little."""
    has_number = any(
        part.lower() in _NUMBER_WORDS or any(c.isdigit() for c in part)
        for part in parts
    )
    return has_number and len(parts) > 1


def _is_name(parts: Sequence[str]) -> bool:
    content = [word for word in parts if word.lower() not in FUNCTION_WORDS]
    return bool(content) and all(word[:1].isupper() for word in content)


def _clarity(sentence: str) -> int:
    """Return how well a sentence stands alone; 0 is good, less is worse."""
    parts = sentence.split()
    score = -4 * (parts[0].lower().strip(",") in POINTING_WORDS)
    score -= len(parts) not in _USUAL_WORDS
    score -= any(mark in sentence for mark in ";:?")
    return score - (" not " in sentence)
