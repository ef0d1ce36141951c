"""Word lists and guesses about English that the question-answer recipe uses."""

from __future__ import annotations

import re


def words(text: str) -> frozenset[str]:
    """Return the words of ``text`` as a set: word lists stay readable."""
    return frozenset(text.split())


QUESTION_WORDS = ("What", "Which", "Who", "When", "Where", "Why", "How")
DETERMINERS = words(
    "a an the its their his her our your my this these those each every some any no "
    "about around only nearly almost more most less over under"
)
PREPOSITIONS = words(
    "of in on to by for with at from into onto through after before between during "
    "over under without within until against among as per since than along across"
)
VERBS = words(
    "is are was were be been being has have had do does did can could will would "
    "should must may might cannot not"
)
CONJUNCTIONS = words(
    "and or but because since while so when where if as that which who whose whom "
    "than then also therefore"
)
MAIN_VERBS = words(
    "adds allows asks becomes begins belongs brings builds burns came carries "
    "causes changes combines comes connects contains costs counts covers creates "
    "cuts depends describes destroys drives eats estimates falls feeds finds flows "
    "follows forms gets gives goes grew grows helps holds keeps kills leads learns "
    "lets lies listens lives looks loses made makes means measures moves needs "
    "occurs opens passes produces protects pulls pumps puts reaches receives "
    "records reduces removes replaces requires returns rises runs says sells sends "
    "sets shows sleeps speeds splits spreads stands starts starves stays stops "
    "stores supports swells takes tells took traps travels turns uses wears weighs "
    "went works wrote"
)
"""Common verbs in a form that is seldom a noun: a phrase does not run over one."""
SUBORDINATORS = frozenset({"because", "since", "so", "when", "while", "if"})
FUNCTION_WORDS = DETERMINERS | PREPOSITIONS | VERBS | CONJUNCTIONS
POINTING_WORDS = words(
    "it they this these that those he she its their his her such here there then "
    "both however therefore also most some another"
)
"""A sentence that begins so is about something that was named before it."""

_COMMON = words("the of and is are was a an in to that it for with by from")
_WORD = re.compile(r"[^\W\d_]+")
_MIN_SHARE = 0.12


def is_english(text: str) -> bool:
    """Guess whether ``text`` is English, by its share of the commonest words."""
    found = _WORD.findall(text[:4000].lower())
    common = sum(word in _COMMON for word in found)
    return bool(found) and common >= _MIN_SHARE * len(found)
