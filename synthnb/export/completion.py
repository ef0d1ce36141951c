"""``{"prompt", "completion"}`` a line, as TRL and many others take it."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from synthnb.export.base import Options, Tally, turns, write_json

if TYPE_CHECKING:
    import pandas as pd


def write(df: pd.DataFrame, file: IO[bytes], options: Options, tally: Tally) -> None:
    """Write JSON lines; the reasoning stands in the completion."""
    examples = (
        {"prompt": turn.prompt, "completion": turn.thought_response}
        | ({"metadata": turn.metadata} if options.include_provenance else {})
        for turn in turns(df, options, tally)
    )
    write_json(examples, file, lines=True)
