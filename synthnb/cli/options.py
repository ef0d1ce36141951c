"""Options that several commands share, and what they stand for."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from synthnb.config import Limits
from synthnb.errors import ConfigError
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
Out = Annotated[
    Path, typer.Option(help="File to write: .parquet, .jsonl or .csv, by its suffix.")
]
ChunkTokens = Annotated[
    int, typer.Option(min=16, help="The most tokens that a chunk may have.")
]
Overlap = Annotated[int, typer.Option(min=0, help="Tokens that neighbours share.")]

_READERS = (".parquet", ".jsonl", ".csv")


def provider_of(
    url: str | None,
    preset: str | None,
    model: str | None,
    key_env: str | None,
    *,
    local: bool,
    url_option: str = "--url",
) -> Provider:
    """Return the provider that the options name.

    Raises:
        ConfigError: more than one was named; none was and none is in the environment.
    """
    named = [
        x
        for x, there in ((url_option, url), ("--preset", preset), ("--local", local))
        if there
    ]
    if len(named) > 1:
        msg = f"{' and '.join(named)} name different models"
        raise ConfigError(msg, hint="Give one of them.")
    if not named and not os.environ.get("SYNTHNB_BASE_URL"):
        msg = "no model was named"
        place = (
            f"{url_option} http://localhost:8000" if url_option != "URL" else "a URL"
        )
        hint = f"Give {place}, --preset NAME or --local; or set SYNTHNB_BASE_URL."
        raise ConfigError(msg, hint=hint)
    if key_env is not None and not key_env.isidentifier():
        # Not quoted: it may be the key itself.
        msg = "--key-env takes the name of an environment variable"
        raise ConfigError(msg, hint="Put the key into one: --key-env OPENAI_API_KEY.")
    key = f"env:{key_env}" if key_env else None
    if local:
        return Provider.local(model)
    if preset:
        return Provider.preset(preset, model=model, api_key=key)
    return Provider(url, model=model, api_key=key)


def save_table(frame: pd.DataFrame, out: Path) -> None:
    """Write every row and every column, so that the next command can read them.

    A plain export to .jsonl is training data: two columns, and no row that failed.

    Raises:
        ExportError: the file cannot be written, or a value cannot be held.
    """
    from synthnb.export import export

    columns = tuple(frame.columns) if out.suffix.lower() == ".jsonl" else None
    result = export(frame, out, columns=columns, manifest=False)
    if result.neutralised or result.replaced_surrogates:
        warnings.warn(str(result), stacklevel=2)


def check_out(out: Path, inputs: Sequence[str | Path] = ()) -> None:
    """Refuse a file that could not be written, before anything is bought for it.

    Raises:
        ConfigError: the suffix names no table, it cannot be written there, or it is one
            of the inputs.
    """
    refuse_input(out, inputs)
    if out.suffix.lower() not in _READERS:
        msg = f"--out {out}: the suffix does not say which table is meant"
        hint = f"Give --out a name that ends in {', '.join(_READERS)}."
        raise ConfigError(msg, hint=hint)
    hint = "Give --out another name."
    if out.is_dir():
        msg = f"--out {out} is a folder"
        raise ConfigError(msg, hint=hint)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"cannot make the folder of --out {out}: {error.strerror or error}"
        raise ConfigError(msg, hint=hint) from error
    if not os.access(out.parent, os.W_OK):
        msg = f"--out {out}: its folder is read-only"
        raise ConfigError(msg, hint=hint)


def refuse_input(out: Path, inputs: Sequence[str | Path]) -> None:
    """Refuse to write over what is read: its rows would be gone.

    Raises:
        ConfigError: ``out`` is one of the inputs.
    """
    if out.exists() and any(
        Path(path).exists() and out.samefile(path) for path in inputs
    ):
        msg = f"{out} is read here, and would be written over"
        raise ConfigError(msg, hint="Give what is written another name.")


def limits_of(concurrency: int | None) -> Limits:
    """Return the limits that the options name."""
    return Limits(max_concurrency=concurrency)
