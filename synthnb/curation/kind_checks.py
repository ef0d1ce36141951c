"""What each kind of English question asks must stand in its evidence.

A small model asks "Who invented it?" of a sentence that says who *used* it. The words
fit, so the other checks pass; what is wrong is the kind of fact.
"""

from __future__ import annotations

import re

from synthnb.curation.pairs import Pair
from synthnb.curation.words import content_words, index, keys, words

_MADE = re.compile(
    r"\b(?:invent|creat|discover|found|coin|introduc|propos|describe|describing|publish|develop|start"
    r"|release|releasing|writ|wrote|built|build|made|design|launch|establish|present|devis|compos"
    r"|named|naming|first\b|origin)\w*",
    re.IGNORECASE,
)
_WHO_MADE = re.compile(
    r"^who (?:first )?(invented|created|discovered|founded|coined|introduced|proposed"
    r"|developed|designed|built|wrote)\b",
    re.IGNORECASE,
)
_CONTRAST = re.compile(
    r"\b(?:differ\w*|unlike|whereas|while|but|than|instead|rather|contrast\w*|however"
    r"|both|neither|not|only)\b",
    re.IGNORECASE,
)
_DIFFERENCE = re.compile(r"\bdifferences? between\b", re.IGNORECASE)
_WHAT_IS = re.compile(r"^what (?:is|are|was|were) (?:an? |the )?(.+)", re.IGNORECASE)
_HOW_MANY = re.compile(r"^how many ([a-z]+)", re.IGNORECASE)
_WHO = re.compile(r"^who\b", re.IGNORECASE)
_UNITS = frozenset(
    [
        "times",
        "people",
        "percent",
        "degrees",
        "dollars",
        "euros",
        "years",
        "months",
        "weeks",
        "days",
        "hours",
        "minutes",
        "seconds",
        "kilometres",
        "kilometers",
        "metres",
        "meters",
        "miles",
        "feet",
        "inches",
        "kilograms",
        "grams",
        "litres",
        "liters",
        "bytes",
        "more",
    ]
)


def kind_fits(pair: Pair) -> str | None:
    """The evidence says what this kind of question asks, and the answer is no circle."""
    if pair.language not in {"en", None}:
        return None
    return (
        _nobody_made_it(pair)
        or _no_difference(pair)
        or _circle(pair)
        or _other_things_counted(pair)
        or _asked_about_is_the_answer(pair)
    )


def _nobody_made_it(pair: Pair) -> str | None:
    asked = _WHO_MADE.search(pair.question)
    if not asked or not pair.evidence or _MADE.search(pair.evidence):
        return None
    return f"asks who {asked[1].lower()} it, which the evidence does not say"


def _no_difference(pair: Pair) -> str | None:
    if not _DIFFERENCE.search(pair.question) or not pair.evidence:
        return None
    if _CONTRAST.search(pair.evidence):
        return None
    return "asks for a difference, and the evidence compares nothing"


def _circle(pair: Pair) -> str | None:
    """Refuse "What is a file format?", "A file format that …": it says itself again."""
    asked = _WHAT_IS.search(pair.question)
    if not asked:
        return None
    thing = content_words(asked[1], "en")
    said = content_words(pair.answer, "en")
    if thing and said and keys(thing[0]) == keys(said[0]):
        return f"explains {thing[0]!r} by itself"
    return None


def _other_things_counted(pair: Pair) -> str | None:
    asked = _HOW_MANY.search(pair.question)
    if not asked or not pair.evidence or asked[1].lower() in _UNITS:
        return None
    if keys(asked[1].lower()) & index(pair.evidence, "en"):
        return None
    return f"asks how many {asked[1].lower()}, which the evidence does not count"


def _asked_about_is_the_answer(pair: Pair) -> str | None:
    """Refuse "Who introduced OpenAI …?", "OpenAI with …": it names whom it asks about."""
    if not _WHO.search(pair.question):
        return None
    names = re.findall(r"\b[A-Z][\w.-]*", pair.answer)
    if names and names[0].lower() in words(pair.question):
        return f"asks about {names[0]} and names it again"
    return None
