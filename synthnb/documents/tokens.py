"""Token counts without a tokenizer.

The server's ``usage`` is the truth about cost. A bound on chunks must be known before a
server is asked, so it is an estimate unless the caller brings a tokenizer.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

TokenCounter: TypeAlias = Callable[[str], int]
"""Text → number of tokens. Zero for empty text only."""

# Each match is taken for one token of a byte-pair vocabulary. The lengths were fitted to
# SmolLM2, whose vocabulary of 49k is the small end: for English, code and JSON the
# estimate came to 0.93-1.07 of its count, for German to 0.6, for Chinese and Russian to
# 0.7, for Arabic to 0.5. Vocabularies of 128k and more need fewer tokens than estimated.
_PIECE = re.compile(
    r"[A-Za-z]{1,7}"  # an English word, or a part of a longer one
    r"|[0-9]"  # digits are single tokens in most vocabularies of 2024 and later
    r"|[\u00c0-\u024f][a-z]{0,2}"  # an accented letter breaks a Latin word
    r"|[\u0370-\u052f]{1,2}"  # Greek, Cyrillic
    r"|[\u0590-\u08ff]{1,2}"  # Hebrew, Arabic
    r"|\n[\n\t ]*"  # a line's end with the next one's indentation
    r"|[ \t]{2,}"
    r"|[!-/:-@\[-`{-~]{1,2}"  # punctuation, often paired: `):`, `",`
    r"|[^\x00-\x7f]"  # ideographs, kana, hangul, Indic letters, symbols, emoji
)


def estimate_tokens(text: str) -> int:
    """Estimate how many tokens a language model sees in ``text``.

    One regular expression counts the pieces that byte-pair vocabularies tend to keep
    whole: words up to seven letters, single digits, pairs of punctuation marks, line
    ends, two letters of Cyrillic or Arabic, one ideograph. Linear in the text. Within a
    tenth for English and code; other scripts depend on the vocabulary: where a bound
    must hold exactly, count with the model's own tokenizer.

    Args:
        text: Any text, in any script.

    Returns:
        The estimated number of tokens; 0 for empty text only.
    """
    if not text:
        return 0
    return len(_PIECE.findall(text)) or 1
