"""Alpaca's instruction format: ``{"instruction", "input", "output"}``."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from synthnb.export.base import Options, Tally, Turn, turns, write_json

if TYPE_CHECKING:
    import pandas as pd


def write(df: pd.DataFrame, file: IO[bytes], options: Options, tally: Tally) -> None:
    """Write one array of instructions (JSON lines where the file's name ends in .jsonl)."""
    examples = (_example(turn, options) for turn in turns(df, options, tally))
    write_json(examples, file, lines=options.lines)


def _example(turn: Turn, options: Options) -> dict[str, Any]:
    example: dict[str, Any] = {
        "instruction": turn.prompt,
        "input": "",
        "output": turn.thought_response,
    }
    if options.system is not None:
        example["system"] = options.system
    return example | ({"metadata": turn.metadata} if options.include_provenance else {})
