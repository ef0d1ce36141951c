"""A folder that Hugging Face's ``load_dataset`` takes: parquet files and a card."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from synthnb.errors import ConfigError, ExportError
from synthnb.export.atomic import replacing
from synthnb.export.formats import export
from synthnb.frames import frame_of

if TYPE_CHECKING:
    import pandas as pd

SPLIT = "split"
_SPLITS = ("train", "validation", "test")
_CARD = "README.md"


@dataclass(frozen=True, slots=True)
class DatasetResult:
    """What was written.

    Attributes:
        path: the folder.
        rows: rows by split.
    """

    path: Path
    rows: Mapping[str, int]

    def __str__(self) -> str:
        """Return it as one line."""
        told = ", ".join(f"{count} {name}" for name, count in self.rows.items())
        return f"{told} → {self.path}"


def export_dataset(
    df: pd.DataFrame,
    path: str | os.PathLike[str],
    *,
    licence: str,
    title: str = "",
    language: str | None = None,
) -> DatasetResult:
    """Write records as a dataset's folder with a card that tells how they were made.

    ``datasets.load_dataset(folder)`` loads it; a column ``split`` (train, validation,
    test) makes a file for each. Nothing is sent anywhere; to publish it, upload the
    folder: ``huggingface-cli upload NAME FOLDER --repo-type dataset``.

    Args:
        df: records, as ``generate`` and ``keep`` return them; every column is written.
        path: the folder; it is made. Files of an earlier export in it are replaced.
        licence: an identifier of the Hub's, e.g. ``"cc-by-4.0"``; nobody else can know
            which the documents and the model allow.
        title: of the card; default: the folder's name.
        language: a code such as ``"en"``.

    Raises:
        ConfigError: no licence, or a split of another name.
        ExportError: a file cannot be written, or the folder holds other data files.
    """
    if not licence.strip():
        msg = "a dataset needs a licence"
        raise ConfigError(msg, hint='Name one, e.g. licence="cc-by-4.0", or "unknown".')
    folder = Path(path).expanduser()
    frame = frame_of(df)
    parts = _parts(frame)
    names = {name: f"data/{name}.parquet" for name in parts}
    _refuse_others(folder, set(names.values()))
    for name, part in parts.items():
        part.attrs = dict(getattr(df, "attrs", {}))
        export(part, folder / names[name], "parquet")
    rows = {name: len(part) for name, part in parts.items()}
    card = _card(frame, getattr(df, "attrs", {}), rows, names)
    head = _head(licence, language, names)
    with replacing(folder / _CARD) as file:
        file.write(
            f"{head}\n# {title or folder.name}\n\n{card}".encode("utf-8", "replace")
        )
    return DatasetResult(folder, rows)


def _parts(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    if SPLIT not in frame.columns:
        return {"train": frame}
    given = frame[SPLIT]
    others = sorted({str(v) for v in given.dropna().unique()} - set(_SPLITS))
    if others or given.isna().any():
        what = f"the split {others[0]!r}" if others else "no split"
        msg = f"a row has {what}"
        raise ConfigError(msg, hint=f"Splits are {', '.join(_SPLITS)}.")
    found = {name: frame[given == name].drop(columns=SPLIT) for name in _SPLITS}
    return {name: part for name, part in found.items() if len(part)} or {
        "train": frame.drop(columns=SPLIT)
    }


def _refuse_others(folder: Path, ours: set[str]) -> None:
    data = folder / "data"
    there = (
        {f"data/{p.name}" for p in data.glob("*.parquet")} if data.is_dir() else set()
    )
    if others := sorted(there - ours):
        msg = f"{folder} holds {others[0]}, which is not of this export"
        raise ExportError(msg, hint="Name another folder, or take the file away.")


def _head(licence: str, language: str | None, names: Mapping[str, str]) -> str:
    """Return the card's metadata, as the Hub reads it (YAML; JSON values are YAML)."""
    files = [{"split": name, "path": path} for name, path in names.items()]
    lines = ["---", f"license: {json.dumps(licence)}"]
    lines += [f"language: [{json.dumps(language)}]"] if language else []
    lines += ["tags: [synthetic, synthnb]", "configs:", "- config_name: default"]
    lines += [f"  data_files: {json.dumps(files)}", "---"]
    return "\n".join(lines) + "\n"


def _card(
    frame: pd.DataFrame,
    attrs: Mapping[str, Any],
    rows: Mapping[str, int],
    names: Mapping[str, str],
) -> str:
    parts = ["Synthetic records, made with synthnb.", "| split | rows |\n|---|---|"]
    parts[-1] += "".join(f"\n| {name} | {count:,} |" for name, count in rows.items())
    parts.append(f"## How they were made\n\n{_made(frame, attrs)}")
    columns = "\n".join(f"- `{c}`: {t}" for c, t in frame.dtypes.items() if c != SPLIT)
    parts.append(f"## Columns\n\n{columns}")
    parts.append(
        "Each file has a hidden `.manifest` beside it with its checksum; `synthnb verify data` "
        f"compares {'them' if len(names) > 1 else 'it'}."
    )
    return "\n\n".join(parts) + "\n"


def _made(frame: pd.DataFrame, attrs: Mapping[str, Any]) -> str:
    lines = []
    for column, what in (("model", "Model"), ("step", "Recipe")):
        if column in frame.columns:
            used = sorted({str(v) for v in frame[column].dropna().unique()})
            lines += [f"- {what}: {', '.join(used)}"] if used else []
    if "source" in frame.columns:
        lines.append(f"- Documents: {frame['source'].nunique():,}")
    if "decision" in frame.columns:
        decided = int(frame["decision"].notna().sum())
        lines.append(f"- Decided by a person: {decided:,} of {len(frame):,} rows")
    dropped = attrs.get("dropped")
    if isinstance(dropped, Mapping) and dropped:
        told = ", ".join(f"{count:,} {reason}" for reason, count in dropped.items())
        lines.append(f"- Left out: {told}")
    return "\n".join(lines) or "- Nothing is known of it."
