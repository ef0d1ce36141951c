"""Tells a key from words, placeholders and examples."""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import pairwise

_LONG_WORDS = re.compile(
    r"(?i)canary|example|placeholder|redacted|changeme|replace|dummy|sample|"
    r"your_?key|your_?api|your_?token|x{6,}|\.{3}|\*{3}|•{3}|…|not-needed|insert"
)
# Short words stand in a random key now and then, but hardly between two separators.
_SHORT_WORDS = re.compile(
    r"(?i)(?:^|[-_. ])(?:your|my|fake|key|here|test|demo|mock|foo|bar|none|null|"
    r"hidden|masked|todo|paste|secret|token|xxx+)(?=$|[-_. ])"
)
_VARIABLE = re.compile(r"[<>{}]|^\$|^%|%\(|%s|^env:", re.IGNORECASE)
_RUN = re.compile(r"[A-Za-z0-9]+")
_LONG_HEX = re.compile(r"(?=.*[0-9])(?=.*[a-f])[0-9a-f]{32,128}")
_LONG_RUN = 20
_MIN_BITS = 3.0
_ORDERLY = 0.4
_SHORT = 6
_LONGEST_PERIOD = 8
_MIXED = {True: 0.2, False: 0.4}
"""Share of neighbours of different classes, with digits and without."""


def is_placeholder(text: str) -> bool:
    """Return whether a text clearly stands in the place of a key."""
    if _VARIABLE.search(text) or _LONG_WORDS.search(text) or is_orderly(text):
        return True
    if not _SHORT_WORDS.search(text):
        return False
    # "my-key-" before a long drawn part excuses nothing.
    return not any(len(r) >= _LONG_RUN and is_mixed(r) for r in _RUN.findall(text))


def is_orderly(text: str) -> bool:
    """Return whether a text was typed, not drawn: 1234567890, xxxx, abab, a1b2c3d4."""
    folded = text.lower()
    if _has_steps(folded):
        return True
    if len(folded) >= _SHORT and _has_steps(folded[::2]) and _has_steps(folded[1::2]):
        return True
    return any(
        folded[period:] == folded[:-period]
        for period in range(1, min(_LONGEST_PERIOD, len(folded) // 2) + 1)
    )


def _has_steps(text: str) -> bool:
    pairs = len(text) - 1
    steps = sum(abs(ord(a) - ord(b)) <= 1 for a, b in pairwise(text))
    return pairs > 1 and steps > _ORDERLY * pairs


def looks_random(text: str, *, run: int = 10) -> bool:
    """Return whether a text looks drawn by a machine.

    Args:
        text: what may be a key.
        run: letters and digits in a row, without a separator, that it must have. Words
            joined by hyphens have shorter runs.
    """
    if bits(text) < _MIN_BITS or is_placeholder(text):
        return False
    if _LONG_HEX.fullmatch(text):
        return True
    return any(len(part) >= run and is_mixed(part) for part in _RUN.findall(text))


def is_mixed(run: str, share: float | None = None) -> bool:
    """Return whether capitals, small letters and digits alternate as in no word.

    Args:
        run: letters and digits.
        share: of its neighbours, how many must be of different classes.
    """
    kinds = [_kind(character) for character in run]
    if len(kinds) < 2 or not any(c.isalpha() for c in run):  # noqa: PLR2004 - a pair
        return False
    changes = sum(a != b for a, b in pairwise(kinds))
    wanted = _MIXED["digit" in kinds] if share is None else share
    return changes >= wanted * (len(kinds) - 1)


def bits(text: str) -> float:
    """Return the Shannon entropy of a text, bits per character."""
    counts = Counter(text).values()
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts)


def _kind(character: str) -> str:
    if character.isdigit():
        return "digit"
    return "upper" if character.isupper() else "lower"
