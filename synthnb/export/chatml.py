"""Chat messages as OpenAI's fine-tuning reads them: JSON lines of ``{"messages": [...]}``."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from synthnb.export.base import Options, Tally, dialogues, write_json

if TYPE_CHECKING:
    import pandas as pd


def write(df: pd.DataFrame, file: IO[bytes], options: Options, tally: Tally) -> None:
    """Write one conversation a line: system (where given), then user and assistant."""
    examples = (
        {"messages": dialogue.messages}
        | ({"metadata": dialogue.metadata} if options.include_provenance else {})
        for dialogue in dialogues(df, options, tally)
    )
    write_json(examples, file, lines=True)
