"""The registry of formats, and the one function that writes them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from synthnb.errors import ConfigError
from synthnb.export import (
    alpaca,
    chatml,
    completion,
    csv,
    jsonl,
    parquet,
    preference,
    sharegpt,
    text,
)
from synthnb.export.atomic import replacing
from synthnb.export.base import Options, Tally, Writer, clean
from synthnb.export.manifest import write_manifest
from synthnb.frames import frame_of, require

if TYPE_CHECKING:
    import pandas as pd

_FORMATS: dict[str, Writer] = {
    "jsonl": jsonl.write,
    "chatml": chatml.write,
    "alpaca": alpaca.write,
    "sharegpt": sharegpt.write,
    "prompt-completion": completion.write,
    "text": text.write,
    "dpo": preference.write_dpo,
    "kto": preference.write_kto,
    "parquet": parquet.write,
    "csv": csv.write,
}
_BY_SUFFIX = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".csv": "csv",
    ".txt": "text",
}
_WHOLE_TABLE = frozenset({"parquet", "csv"})
_WITH_COLUMNS = _WHOLE_TABLE | {"jsonl"}
_LINES = frozenset({".jsonl", ".ndjson"})
_CHATS = frozenset({"chatml", "sharegpt"})
_NO_REASONING = frozenset({"text", "dpo", "kto"})


@dataclass(frozen=True, slots=True)
class ExportResult:
    """What was written, and what is different from the frame."""

    path: Path
    format: str
    rows: int
    skipped: int
    """Rows left out because they lack their prompt or their response."""
    replaced_surrogates: int
    """Lone surrogates that were replaced with U+FFFD: UTF-8 cannot hold them."""
    neutralised: int
    """CSV cells that got a ``'`` in front so that no spreadsheet runs them."""

    def __str__(self) -> str:
        """Return it as one line."""
        notes = [
            f"{count} {what}"
            for count, what in (
                (self.skipped, "without prompt or response left out"),
                (self.replaced_surrogates, "lone surrogates replaced"),
                (self.neutralised, "formulas neutralised"),
            )
            if count
        ]
        rows = f"{self.rows} row{'' if self.rows == 1 else 's'}"
        return "; ".join([f"{rows} as {self.format} → {self.path}", *notes])


def formats() -> tuple[str, ...]:
    """Return the names of the formats that ``export`` writes."""
    return tuple(_FORMATS)


def export(
    df: pd.DataFrame,
    path: str | PathLike[str],
    format: str | None = None,  # noqa: A002  the field's word, and the shell's
    *,
    columns: Sequence[str] | None = None,
    system: str | None = None,
    prompt: str = "question",
    response: str = "answer",
    include_reasoning: bool = False,
    include_provenance: bool = False,
    reasoning_as: Literal["think", "reasoning_content"] = "think",
    neutralise_formulas: bool = True,
    manifest: bool = True,
) -> ExportResult:
    """Write records as training data. The file is there whole or not at all.

    Beside it a small hidden ``.<name>.manifest`` says its checksum, the counts, the recipe and the
    versions; ``synthnb.verify`` compares them.

    Args:
        df: records, or anything that ``frames.rows_of`` takes. Its columns are those of
            all rows.
        path: the file; missing folders are made, an old file is replaced at the end.
        format: one of ``formats()``. Where the suffix allows just one (.jsonl, .parquet,
            .csv, .txt) it need not be given. ``dpo`` takes the columns ``chosen`` and
            ``rejected``, ``kto`` those or a person's ``decision``; ``text`` writes the
            response column alone; ``chatml`` and ``sharegpt`` write a
            conversation in the column ``messages`` as it is. ``alpaca`` and ``sharegpt`` are one JSON array,
            or JSON lines where the name ends in .jsonl.
        columns: jsonl, parquet and csv: the columns to write, in order.
        system: chat formats: the system message of every example.
        prompt: column of what is asked.
        response: column of what is to be answered.
        include_reasoning: jsonl: the column ``reasoning`` as well. Chat formats: the
            reasoning of the rows that have one, in the answer.
        include_provenance: jsonl: the columns of ``PROVENANCE`` as well. Chat formats: an
            object ``metadata`` that holds them. parquet and csv hold all columns anyway.
        reasoning_as: ``think`` puts ``<think>...</think>`` before the answer, as most
            open models write it; ``reasoning_content`` (chatml only) is a key of its own
            in the assistant's message.
        neutralise_formulas: csv: put ``'`` before text that would run in a spreadsheet.
        manifest: whether to write the manifest.

    Returns:
        The counts: rows written, left out, and changed.

    Raises:
        ConfigError: no such format, none can be told from the suffix, or an argument
            that the format has no use for.
        FrameError: a column that is needed is not there.
        ExportError: the file cannot be written, or a value cannot be held.
    """
    target = Path(path).expanduser()
    name = _format(target, format)
    tally = Tally()
    options = Options(
        columns=None if columns is None else tuple(columns),
        system=clean(system, tally),
        prompt=prompt,
        response=response,
        include_reasoning=include_reasoning,
        include_provenance=include_provenance,
        reasoning_as=reasoning_as,
        neutralise_formulas=neutralise_formulas,
        lines=target.suffix.lower() in _LINES,
    )
    _check_options(name, options)
    frame = frame_of(df)
    require(frame, _needed(name, options, frame.columns), f"export to {name}")
    with replacing(target) as file:
        _FORMATS[name](frame, file, options, tally)
    result = ExportResult(
        path=target,
        format=name,
        rows=tally.rows,
        skipped=tally.skipped,
        replaced_surrogates=tally.replaced_surrogates,
        neutralised=tally.neutralised,
    )
    if manifest:
        counts = {f.name: getattr(result, f.name) for f in fields(result)}
        del counts["path"]
        counts["columns"] = [str(column) for column in frame.columns]
        write_manifest(target, counts, getattr(df, "attrs", {}))
    return result


def _format(path: Path, wanted: str | None) -> str:
    if wanted is None:
        wanted = _BY_SUFFIX.get(path.suffix.lower())
        if wanted is None:
            raise ConfigError(
                f"the suffix of {path.name!r} does not say which format is meant",
                hint=f"Say format=...: {', '.join(_FORMATS)}.",
            )
    if wanted not in _FORMATS:
        raise ConfigError(
            f"no format is named {wanted!r}", hint=f"There are {', '.join(_FORMATS)}."
        )
    return wanted


def _check_options(name: str, options: Options) -> None:
    useless: dict[str, Any] = {
        "columns": options.columns is not None and name not in _WITH_COLUMNS,
        "system": options.system is not None and name in _WITH_COLUMNS,
        "include_reasoning": options.include_reasoning and name in _NO_REASONING,
        "include_provenance": options.include_provenance and name in _NO_REASONING,
        "reasoning_as": options.reasoning_as == "reasoning_content"
        and name != "chatml",
    }
    for argument, is_useless in useless.items():
        if is_useless:
            raise ConfigError(
                f"{name} has no place for {argument}",
                hint=f"Leave {argument} out, or choose another format.",
            )


def _needed(name: str, options: Options, columns: Collection[str]) -> list[str]:
    needed = list(options.columns or ())
    if name in {"dpo", "kto"}:
        needed += [options.prompt]
        if name == "dpo" or "chosen" in columns:
            needed += ["chosen", "rejected"]
        else:
            needed += [options.response, "decision"]
    elif name in _CHATS and "messages" in columns:
        pass  # a whole conversation needs no other column
    elif name == "text":
        needed.append(options.response)
    elif name not in _WHOLE_TABLE and not needed:
        needed += [options.prompt, options.response]
    if options.include_reasoning:
        needed.append("reasoning")
    return needed
