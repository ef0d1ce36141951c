"""Rule checks of question-answer pairs: one column each, holding the reason in words.

The checks know no model and no network. They find what small models do wrong: sentences
with a question mark behind them, answers from nowhere, answers of the wrong kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from synthnb.curation import (
    answer_checks,
    grounding_checks,
    kind_checks,
    question_checks,
)
from synthnb.curation.pairs import Check, Pair, PairCheck
from synthnb.errors import ConfigError
from synthnb.frames import require, rows_of, typed
from synthnb.records import Status

if TYPE_CHECKING:
    import pandas as pd

_PAIR = frozenset({"question", "answer"})
_NEEDS_EVIDENCE = _PAIR | {"evidence"}
_NEEDS_TEXT = _PAIR | {"text"}

CHECKS: dict[str, tuple[PairCheck, frozenset[str]]] = {
    "length": (answer_checks.length, _PAIR),
    "question_form": (question_checks.question_form, _PAIR),
    "stands_alone": (question_checks.stands_alone, _PAIR),
    "question_grounded": (question_checks.question_grounded, _NEEDS_TEXT),
    "repetition": (answer_checks.repetition, _PAIR),
    "answer_refuses": (answer_checks.answer_refuses, _PAIR),
    "answer_breaks_off": (answer_checks.answer_breaks_off, _PAIR),
    "answer_copies_question": (answer_checks.answer_copies_question, _PAIR),
    "answer_in_question": (answer_checks.answer_in_question, _PAIR),
    "answer_kind": (answer_checks.answer_kind, _PAIR),
    "answer_grounded": (grounding_checks.answer_grounded, _NEEDS_TEXT),
    "answer_copies_evidence": (
        grounding_checks.answer_copies_evidence,
        _NEEDS_EVIDENCE,
    ),
    "evidence_fits_question": (
        grounding_checks.evidence_fits_question,
        _NEEDS_EVIDENCE,
    ),
    "kind_fits": (kind_checks.kind_fits, _PAIR),
    "evidence_supports": (grounding_checks.evidence_supports, _NEEDS_EVIDENCE),
}
"""Name → (check, what it reads), in the order in which a reason is shown."""

_RowCheck = Callable[[Mapping[str, Any], Pair], str | None]


def apply_checks(
    df: pd.DataFrame,
    *,
    checks: Sequence[str | Check] | None = None,
    question: str = "question",
    answer: str = "answer",
    evidence: str = "evidence",
    text: str = "text",
) -> pd.DataFrame:
    """Return ``df`` with what the rule checks found, as columns; no row is dropped.

    Args:
        df: records; rows whose ``status`` is not ok are not judged.
        checks: names of built-in checks and ``Check`` objects of your own. ``None`` runs
            every built-in check whose columns are there.
        question: column of the question.
        answer: column of the answer.
        evidence: column of the sentence that supports the answer.
        text: column of the chunk that the pair was made from.

    Returns:
        A new frame with ``check_<name>`` for each check ("" or what is wrong, in words),
        ``checks_failed`` (names joined by ", ") and ``checks_ok``. They are missing (NA)
        in rows that were not judged.

    Raises:
        FrameError: a column that a check reads is not there.
        ConfigError: an unknown check, or two of one name.
    """
    named = {"question": question, "answer": answer, "evidence": evidence, "text": text}
    require(df, (), "apply_checks")
    chosen = _chosen(df, checks, named)
    judged = [_judge(row, chosen, named) for row in rows_of(df)]
    checked = df.copy()
    for name in chosen:
        reasons = [None if found is None else found[name] for found in judged]
        checked[f"check_{name}"] = typed(reasons, "string")
    failed = [None if f is None else [n for n in chosen if f[n]] for f in judged]
    checked["checks_failed"] = typed(
        [None if names is None else ", ".join(names) for names in failed], "string"
    )
    checked["checks_ok"] = typed(
        [None if names is None else not names for names in failed], "boolean"
    )
    return checked


def _chosen(
    df: pd.DataFrame, checks: Sequence[str | Check] | None, named: Mapping[str, str]
) -> dict[str, _RowCheck]:
    if checks is None:
        require(df, [named["question"], named["answer"]], "apply_checks")
        there = {role for role, column in named.items() if column in df.columns}
        return {n: _builtin(n) for n, (_, needs) in CHECKS.items() if needs <= there}
    chosen: dict[str, _RowCheck] = {}
    for check in checks:
        name = check if isinstance(check, str) else check.name
        if name in chosen:
            raise ConfigError(f"two checks are named {name!r}", hint="Rename one.")
        chosen[name] = _builtin(name) if isinstance(check, str) else _own(check)
        if isinstance(check, str):
            require(
                df, [named[role] for role in sorted(CHECKS[name][1])], f"check {name}"
            )
    return chosen


def _builtin(name: str) -> _RowCheck:
    if name not in CHECKS:
        raise ConfigError(
            f"no check is named {name!r}", hint=f"There are {', '.join(CHECKS)}."
        )
    check = CHECKS[name][0]
    return lambda _, pair: check(pair)


def _own(check: Check) -> _RowCheck:
    def run(row: Mapping[str, Any], _: Pair) -> str | None:
        try:
            found = check.function(row)
        except Exception as error:  # noqa: BLE001  a user's mistake costs its row, not all
            return f"check raised {type(error).__name__}: {error}"
        return None if found is None else str(found)

    return run


def _judge(
    row: Mapping[str, Any], chosen: Mapping[str, _RowCheck], named: Mapping[str, str]
) -> dict[str, str] | None:
    if row.get("status", Status.OK) != Status.OK:
        return None
    cells = {role: row.get(column) for role, column in named.items()}
    pair = Pair(**{role: "" if c is None else str(c) for role, c in cells.items()})
    return {name: check(row, pair) or "" for name, check in chosen.items()}
