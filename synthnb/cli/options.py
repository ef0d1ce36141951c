"""Options that several commands share, and what they stand for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from synthnb.config import Limits
from synthnb.errors import ConfigError, DocumentError
from synthnb.local import Provider

if TYPE_CHECKING:
    import pandas as pd

Url = Annotated[
    str | None, typer.Option(help="Any OpenAI-compatible URL, e.g. localhost:8000.")
]
Preset = Annotated[
    str | None, typer.Option(help="A known service by name, e.g. openai, groq.")
]
Local = Annotated[bool, typer.Option("--local", help="The built-in model.")]
Model = Annotated[
    str | None, typer.Option(help="The model's id, where the server has several.")
]
KeyEnv = Annotated[
    str | None,
    typer.Option(help="Name of the environment variable that holds the key."),
]
Concurrency = Annotated[int | None, typer.Option(min=1, help="Requests at once.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON line for machines.")]
Out = Annotated[Path, typer.Option(help="File to write; its suffix names the format.")]


def provider_of(
    url: str | None,
    preset: str | None,
    model: str | None,
    key_env: str | None,
    *,
    local: bool,
) -> Provider:
    """Return the provider that the options name.

    Raises:
        ConfigError: more than one was named; none was and none is in the environment.
    """
    named = [
        x
        for x, there in (("--url", url), ("--preset", preset), ("--local", local))
        if there
    ]
    if len(named) > 1:
        msg = f"{' and '.join(named)} name different models"
        raise ConfigError(msg, hint="Give one of them.")
    key = f"env:{key_env}" if key_env else None
    if local:
        return Provider.local(model)
    if preset:
        return Provider.preset(preset, model=model, api_key=key)
    return Provider(url, model=model, api_key=key)


def limits_of(concurrency: int | None) -> Limits:
    """Return the limits that the options name."""
    return Limits(max_concurrency=concurrency)


def load_table(path: Path) -> pd.DataFrame:
    """Read rows from a .parquet, .jsonl or .csv file.

    Raises:
        DocumentError: there is no such file, or it is no table.
    """
    import pandas as pd

    readers: dict[str, Any] = {
        ".parquet": pd.read_parquet,
        ".jsonl": lambda p: pd.read_json(p, lines=True, dtype=False),
        ".csv": pd.read_csv,
    }
    reader = readers.get(path.suffix.lower())
    if reader is None:
        msg = f"{path} is no table that can be read"
        raise DocumentError(msg, hint=f"Give a file that ends in {', '.join(readers)}.")
    if not path.is_file():
        msg = f"there is no file {path}"
        raise DocumentError(
            msg, hint="Check the name; `synthnb read … --out` makes one."
        )
    try:
        frame: pd.DataFrame = reader(path)
    except (ValueError, OSError) as error:
        msg = f"{path} cannot be read: {error}"
        raise DocumentError(
            msg, hint="Make it again, or convert it to .jsonl."
        ) from error
    return frame
