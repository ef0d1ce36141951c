"""Options that several commands share, and what they stand for."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
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
Out = Annotated[
    Path, typer.Option(help="File to write: .parquet, .jsonl or .csv, by its suffix.")
]
ChunkTokens = Annotated[
    int, typer.Option(min=16, help="The most tokens that a chunk may have.")
]
Overlap = Annotated[int, typer.Option(min=0, help="Tokens that neighbours share.")]

_READERS = (".parquet", ".jsonl", ".csv")
_LARGEST = 2**63  # what a column of whole numbers holds
_TEXT = ("record_id", "row_id", "chunk_id", "duplicate_of")
"""Ids are hexadecimal: in a .csv file some look like numbers and must not become one."""


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


def _read_jsonl(path: Path) -> pd.DataFrame:
    """Read JSON lines as they are.

    pandas makes a time of what stands in a column named "date", and 1.0 of a 1 beside
    a null.
    """
    import json

    import pandas as pd

    rows = []
    with path.open(encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError as error:
                msg = f"line {number} is no JSON: {error}"
                raise ValueError(msg) from error
            if not isinstance(row, dict):
                msg = f'line {number} is no JSON object, such as {{"topic": "…"}}'
                raise ValueError(msg)  # noqa: TRY004 - a bad file, not a bad argument
            rows.append(row)
    frame = pd.DataFrame(rows, dtype=object)
    for name in frame.columns:
        frame[name] = _as_typed(frame[name])
    return frame


def _as_typed(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column of one JSON type as the column of pandas that holds just that."""
    kinds = {type(value) for value in column if value is not None and value == value}  # noqa: PLR0124 - NaN
    if kinds == {bool}:
        return column.astype("boolean")
    if kinds == {int} and all(abs(v) < _LARGEST for v in column.dropna()):
        return column.astype("Int64")
    if kinds and kinds <= {int, float}:
        return column.astype("float64")
    return column


def _read_csv(path: Path) -> pd.DataFrame:
    """Read a .csv file so that a prompt shows what it holds.

    pandas makes 501 of a postcode 00501, 1.0 of a 1 beside an empty cell, and nothing
    of the words NA and null.
    """
    import pandas as pd

    frame = pd.read_csv(path, dtype=str, keep_default_na=False, na_values=[""])
    for name in frame.columns:
        if name not in _TEXT:
            frame[name] = _as_numbers(frame[name])
    return frame


def _as_numbers(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column as numbers where each of its texts is just how one is written."""
    values = column.dropna()
    if not len(values):
        return column
    if values.isin(["True", "False"]).all():
        return column.map({"True": True, "False": False}).astype("boolean")
    if all(_is_number(value, int) for value in values):
        return column.astype("Int64")
    if all(_is_number(value, int) or _is_number(value, float) for value in values):
        return column.astype("float64")
    return column


def _is_number(text: str, kind: type[int | float]) -> bool:
    try:
        number = kind(text)
    except ValueError:
        return False
    return str(number) == text and abs(number) < _LARGEST


def save_table(frame: pd.DataFrame, out: Path) -> None:
    """Write every row and every column, so that the next command can read them.

    A plain export to .jsonl is training data: two columns, and no row that failed.

    Raises:
        ExportError: the file cannot be written, or a value cannot be held.
    """
    from synthnb.export import export

    columns = tuple(frame.columns) if out.suffix.lower() == ".jsonl" else None
    result = export(frame, out, columns=columns)
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


def load_table(path: Path) -> pd.DataFrame:
    """Read rows from a .parquet, .jsonl or .csv file.

    Raises:
        DocumentError: there is no such file, or it is no table.
    """
    import pandas as pd

    readers: dict[str, Any] = {
        ".parquet": pd.read_parquet,
        ".jsonl": _read_jsonl,
        ".csv": _read_csv,
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
    except UnicodeDecodeError as error:
        msg = f"{path} cannot be read: it is not UTF-8"
        raise DocumentError(
            msg, hint="Save it as UTF-8 (Excel: CSV UTF-8), or convert it to .jsonl."
        ) from error
    except (ValueError, OSError) as error:
        msg = f"{path} cannot be read: {error}"
        raise DocumentError(
            msg, hint="Mend it or make it again; .parquet, .jsonl and .csv are read."
        ) from error
    return frame
