"""Writing records in the shapes that synthetic-data-kit's next step reads."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from synthnb.errors import ConfigError, FrameError
from synthnb.export.atomic import replacing
from synthnb.frames import rows_of

if TYPE_CHECKING:
    import pandas as pd

Step = Literal["qa", "cot", "cot-enhance", "summary", "curate"]
STEPS = ("qa", "cot", "cot-enhance", "summary", "curate")
_SYSTEM = "You are a helpful assistant."
_PAIR = ("question", "answer")


def write_sdk(
    df: pd.DataFrame,
    path: str | os.PathLike[str],
    step: Step,
    *,
    total: int | None = None,
    system: str = _SYSTEM,
) -> int:
    """Write records as the file that a step of synthetic-data-kit makes.

    Args:
        df: records with ``question`` and ``answer`` (``summary``, ``messages``).
        path: the file; it is there whole or not at all.
        step: whose file: "qa", "cot", "cot-enhance", "summary" or "curate".
        total: curate: how many records there were before the filter.
        system: the system message of its conversations.

    Returns:
        The number of records written.

    Raises:
        ConfigError: there is no such step.
        FrameError: a column that the shape needs is not there.
    """
    if step not in STEPS:
        msg = f"{step!r} is no step whose files are known"
        raise ConfigError(msg, hint=f"There are {', '.join(STEPS)}.")
    rows = [row for row in rows_of(df) if row.get("status", "ok") == "ok"]
    value, number = _value(rows, step, system, total)
    with replacing(Path(path).expanduser()) as file:
        # Their readers take UTF-8; \uXXXX would be unreadable for people.
        file.write(
            json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8", "replace")
        )
    return number


def _value(
    rows: Sequence[Mapping[str, Any]], step: str, system: str, total: int | None
) -> tuple[Any, int]:
    summary = next((r["summary"] for r in rows if _text(r.get("summary"))), "")
    if step == "summary":
        return {"summary": summary}, int(bool(summary))
    if step == "cot-enhance":
        return [{"conversations": messages_of(row, system)} for row in rows], len(rows)
    pairs = [_pair(row) for row in rows]
    name = "cot_examples" if any("reasoning" in pair for pair in pairs) else "qa_pairs"
    value: dict[str, Any] = {"summary": summary, name: pairs}
    if step == "qa":
        return {"summary": summary, "qa_pairs": pairs}, len(pairs)
    value["conversations"] = [messages_of(row, system) for row in rows]
    if step == "curate":
        ratings = [pair["rating"] for pair in pairs if "rating" in pair]
        before = len(rows) if total is None else total
        value["metrics"] = {
            "total": before,
            "filtered": len(rows),
            "retention_rate": round(len(rows) / before, 2) if before else 0,
            "avg_score": round(sum(ratings) / len(ratings), 1) if ratings else 0,
        }
    return value, len(pairs)


def _pair(row: Mapping[str, Any]) -> dict[str, Any]:
    missing = [name for name in _PAIR if not _text(row.get(name))]
    if missing:
        msg = f"a record has no {' and no '.join(missing)}"
        raise FrameError(msg, hint="Leave it out: keep the rows with status ok.")
    pair: dict[str, Any] = {"question": row["question"]}
    if _text(row.get("reasoning")):
        pair["reasoning"] = row["reasoning"]
    pair["answer"] = row["answer"]
    rating = row.get("rating")
    if isinstance(rating, int | float) and rating == rating:  # noqa: PLR0124 - NaN
        pair["rating"] = rating
    return pair


def messages_of(row: Mapping[str, Any], system: str = _SYSTEM) -> list[dict[str, str]]:
    """Return a record as a conversation; one that it holds stays as it is."""
    given = row.get("messages")
    if isinstance(given, list) and given:
        return given
    pair = _pair(row)
    answer = pair["answer"]
    if "reasoning" in pair:
        # In the answer, or it would be lost: their messages have no place for it.
        answer = f"{pair['reasoning']}\n\n{answer}"
    return [
        {"role": "system", "content": system},
        {"role": "user", "content": pair["question"]},
        {"role": "assistant", "content": answer},
    ]


def _text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())
