"""ShareGPT's conversations: ``{"conversations": [{"from", "value"}, ...]}``."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from synthnb.export.base import Dialogue, Options, Tally, dialogues, write_json

if TYPE_CHECKING:
    import pandas as pd

_NAMES = {"user": "human", "assistant": "gpt"}


def write(df: pd.DataFrame, file: IO[bytes], options: Options, tally: Tally) -> None:
    """Write one array of conversations (JSON lines where the name ends in .jsonl)."""
    examples = (_example(one, options) for one in dialogues(df, options, tally))
    write_json(examples, file, lines=options.lines)


def _example(dialogue: Dialogue, options: Options) -> dict[str, Any]:
    conversation = [
        {"from": _NAMES.get(m["role"], m["role"]), "value": m["content"]}
        for m in dialogue.messages
    ]
    example: dict[str, Any] = {"conversations": conversation}
    return example | (
        {"metadata": dialogue.metadata} if options.include_provenance else {}
    )
