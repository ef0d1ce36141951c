"""Chat messages as OpenAI's fine-tuning reads them: JSON lines of ``{"messages": [...]}``."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from synthnb.export.base import Options, Tally, Turn, turns, write_json

if TYPE_CHECKING:
    import pandas as pd


def write(df: pd.DataFrame, file: IO[bytes], options: Options, tally: Tally) -> None:
    """Write one conversation a line: system (where given), user, assistant."""
    examples = (_example(turn, options) for turn in turns(df, options, tally))
    write_json(examples, file, lines=True)


def _example(turn: Turn, options: Options) -> dict[str, Any]:
    answer = {"role": "assistant", "content": turn.thought_response}
    if options.reasoning_as == "reasoning_content" and turn.reasoning is not None:
        answer |= {"content": turn.response, "reasoning_content": turn.reasoning}
    messages = [{"role": "user", "content": turn.prompt}, answer]
    if options.system is not None:
        messages.insert(0, {"role": "system", "content": options.system})
    example: dict[str, Any] = {"messages": messages}
    return example | ({"metadata": turn.metadata} if options.include_provenance else {})
