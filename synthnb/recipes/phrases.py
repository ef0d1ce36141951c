"""The phrases of a sentence: what a short answer may be.

A shallow cut at function words, not a parser: a phrase begins where a phrase may begin
and ends before a preposition, an auxiliary, a conjunction, a determiner or a mark. A
small model that must choose its answer among them cannot invent one.
"""

from __future__ import annotations

from synthnb.recipes.english import (
    CONJUNCTIONS,
    DETERMINERS,
    FUNCTION_WORDS,
    MAIN_VERBS,
    POINTING_WORDS,
    SUBORDINATORS,
    VERBS,
)

_MAX_WORDS = 10
_MAX_SHARE = 0.6
_NO_START = VERBS | CONJUNCTIONS - SUBORDINATORS | {"of", "as", "than"}
_NO_END = FUNCTION_WORDS | POINTING_WORDS
_BARRIERS = VERBS | CONJUNCTIONS - {"and", "or"}
_OPEN_ENDED = DETERMINERS | {"between"}
_MARKS = (",", ";", ":", ")")
_STRIP = ",;:()[]\"'“”‘’ "


def phrases(sentence: str, limit: int = 80) -> list[str]:
    """Return the phrases of an English sentence, in order, each verbatim.

    Args:
        sentence: one sentence, on one line.
        limit: how many at most; the first ones are kept.
    """
    words = sentence.rstrip(".!?… ").split()
    bare = [_folded(word) for word in words]
    ends = [_may_end(words, bare, end) for end in range(1, len(words) + 1)]
    found: dict[str, None] = {}
    for start in range(len(words)):
        if not _may_start(words, bare, start):
            continue
        for end in range(start + 1, _reach(words, bare, start) + 1):
            if ends[end - 1] and _is_whole(words, bare, start, end):
                found.setdefault(" ".join(words[start:end]).strip(_STRIP))
    found.pop("", None)
    return list(found)[:limit]


def _reach(words: list[str], bare: list[str], start: int) -> int:
    """Return where the longest phrase from ``start`` ends: before a verb, a clause."""
    last = min(len(words), start + _MAX_WORDS)
    if bare[start] in SUBORDINATORS:
        return last
    last = min(last, start + max(1, int(_MAX_SHARE * len(words))))
    for at in range(start, last):
        if _is_verb(bare, at) or (at > start and bare[at] in _BARRIERS):
            return at
    return last


def _folded(word: str) -> str:
    """Return a word as the lists have it; the month keeps its capital, unlike "may"."""
    stripped = word.strip(_STRIP)
    return stripped if stripped == "May" else stripped.lower()


def _may_start(words: list[str], bare: list[str], at: int) -> bool:
    if bare[at] in _NO_START or not bare[at]:
        return False
    if at == 0:
        return True
    before = words[at - 1]
    in_name = (
        before[:1].isupper()
        and words[at][:1].isupper()
        and bare[at - 1] not in FUNCTION_WORDS
    )
    return not (
        bare[at - 1] in _OPEN_ENDED
        or _is_verb(bare, at)
        or before[-1].isdigit()
        or (in_name and not before.endswith(_MARKS))
    )


def _may_end(words: list[str], bare: list[str], end: int) -> bool:
    if bare[end - 1] in _NO_END:
        return False
    if end == len(words):
        return True
    following = bare[end]
    if following == "of" or not (
        words[end - 1].endswith(_MARKS)
        or following in FUNCTION_WORDS
        or _is_verb(bare, end)
    ):
        return False
    after = words[end + 1] if end + 1 < len(words) else ""
    joins_numbers = following in {"and", "or"} and any(c.isdigit() for c in after)
    return not joins_numbers


def _is_whole(words: list[str], bare: list[str], start: int, end: int) -> bool:
    """Tell whether a phrase with a comma in it is an enumeration."""
    if bare[start] in SUBORDINATORS or "and" in bare[start + 1 : end]:
        return True
    return not any(word.endswith(_MARKS) for word in words[start : end - 1])


def _is_verb(bare: list[str], at: int) -> bool:
    """Guess whether a word is the verb; "-ed" behind a determiner is an adjective."""
    word = bare[at]
    if word in MAIN_VERBS:
        return True
    return word.endswith("ed") and at > 0 and bare[at - 1] not in DETERMINERS
