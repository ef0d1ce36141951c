"""Preferences as TRL takes them: pairs for DPO, single judgements for KTO."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import IO, TYPE_CHECKING, Any

from synthnb.export.base import Options, Tally, as_text, clean, write_json
from synthnb.frames import rows_of

if TYPE_CHECKING:
    import pandas as pd

_LABELS = {"accept": True, "reject": False}


def write_dpo(
    df: pd.DataFrame, file: IO[bytes], options: Options, tally: Tally
) -> None:
    """Write ``{"prompt", "chosen", "rejected"}`` a line, each a list of messages."""
    write_json(_pairs(df, options, tally), file, lines=True)


def write_kto(
    df: pd.DataFrame, file: IO[bytes], options: Options, tally: Tally
) -> None:
    """Write ``{"prompt", "completion", "label"}`` a line.

    A row with ``chosen`` and ``rejected`` gives two; else a person's decision is the
    label of the response, and a row without one is left out and counted.
    """
    write_json(_judged(df, options, tally), file, lines=True)


def _pairs(
    df: pd.DataFrame, options: Options, tally: Tally
) -> Iterator[dict[str, Any]]:
    for row in rows_of(df):
        chosen, rejected = row["chosen"], row["rejected"]
        if row[options.prompt] is None or chosen is None or rejected is None:
            tally.skipped += 1
            continue
        if chosen == rejected:  # it prefers nothing
            tally.skipped += 1
            continue
        tally.rows += 1
        yield {
            "prompt": _prompt(row, options, tally),
            "chosen": _answer(chosen, tally),
            "rejected": _answer(rejected, tally),
        }


def _judged(
    df: pd.DataFrame, options: Options, tally: Tally
) -> Iterator[dict[str, Any]]:
    is_paired = {"chosen", "rejected"} <= set(df.columns)
    for row in rows_of(df):
        if is_paired:
            given: list[tuple[Any, bool | None]] = [
                (row["chosen"], True),
                (row["rejected"], False),
            ]
        else:
            given = [(row[options.response], _LABELS.get(row["decision"]))]
        if row[options.prompt] is None or any(None in pair for pair in given):
            tally.skipped += 1
            continue
        for completion, label in given:
            tally.rows += 1
            yield {
                "prompt": _prompt(row, options, tally),
                "completion": _answer(completion, tally),
                "label": label,
            }


def _prompt(
    row: Mapping[str, Any], options: Options, tally: Tally
) -> list[dict[str, str]]:
    said = {"role": "user", "content": as_text(clean(row[options.prompt], tally))}
    if options.system is None:
        return [said]
    return [{"role": "system", "content": options.system}, said]


def _answer(value: Any, tally: Tally) -> list[dict[str, str]]:
    return [{"role": "assistant", "content": as_text(clean(value, tally))}]
