"""Evidence that a small model named wrongly: the sentence that does hold the answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from synthnb.curation.grounding_checks import evidence_fits_question, evidence_supports
from synthnb.curation.pairs import Pair
from synthnb.curation.words import content_words, index, sentence_spans, share
from synthnb.frames import require, rows_of, typed
from synthnb.records import Status

if TYPE_CHECKING:
    import pandas as pd


def locate_evidence(
    df: pd.DataFrame,
    *,
    question: str = "question",
    answer: str = "answer",
    text: str = "text",
) -> pd.DataFrame:
    """Return ``df`` with evidence that does not hold the answer replaced by what does.

    Models of 0.1 billion parameters often name the chunk's first sentence, whatever they
    ask about. Where the named sentence fails the rule check ``evidence_supports`` or
    ``evidence_fits_question``, and the sentence of the chunk that holds most of the
    answer passes both, that one is taken. All other rows are left as they are.

    Returns:
        A new frame; ``evidence_located`` is true where the evidence is ours, not the
        model's. ``evidence_start`` and ``evidence_end`` follow where the frame has
        ``start``, the chunk's place in its document.

    Raises:
        FrameError: the question, the answer, the text or ``evidence`` is not there.
    """
    require(df, [question, answer, text, "evidence"], "locate_evidence")
    rows = list(rows_of(df))
    found = [_locate(row, row[question], row[answer], row[text]) for row in rows]
    located = df.copy()
    for name in ("evidence", "evidence_start", "evidence_end", "grounded"):
        new = [
            r.get(name) if f is None else f[name]
            for r, f in zip(rows, found, strict=True)
        ]
        if name in df.columns or any(value is not None for value in new):
            located[name] = typed(new, _DTYPES[name])
    located["evidence_located"] = typed([f is not None for f in found], "boolean")
    return located


_DTYPES = {
    "evidence": "string",
    "evidence_start": "Int64",
    "evidence_end": "Int64",
    "grounded": "boolean",
}


def _locate(
    row: Mapping[str, Any], question: Any, answer: Any, text: Any
) -> dict[str, Any] | None:
    """Return the new values of a row's evidence columns, or ``None`` to leave it."""
    is_ok = row.get("status", Status.OK) == Status.OK
    if not is_ok or not all((question, answer, text)):
        return None
    named = Pair(str(question), str(answer), str(row["evidence"] or ""), str(text))
    if named.evidence and not (
        evidence_supports(named) or evidence_fits_question(named)
    ):
        return None
    best = max(sentence_spans(named.text), key=lambda s: _score(named, s), default=None)
    if best is None:
        return None
    start, end = best
    pair = Pair(named.question, named.answer, named.text[start:end], named.text)
    if evidence_supports(pair) or evidence_fits_question(pair):
        return None
    offset = row.get("start")
    if not isinstance(offset, int | float):  # a person's own column may bear the name
        offset = None
    return {
        "evidence": pair.evidence,
        "evidence_start": None if offset is None else offset + start,
        "evidence_end": None if offset is None else offset + end,
        "grounded": True,
    }


def _score(pair: Pair, span: tuple[int, int]) -> float:
    """Return how well a sentence holds the answer first, and the question next."""
    there = index(pair.text[slice(*span)], pair.language)
    answered = share(content_words(pair.answer, pair.language), there)
    asked = share(content_words(pair.question, pair.language), there)
    return 2 * answered + asked
