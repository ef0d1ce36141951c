"""What every format gets, and what it counts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any, Literal, Protocol

from synthnb.errors import ExportError
from synthnb.frames import rows_of

if TYPE_CHECKING:
    import pandas as pd

PROVENANCE = (
    *("record_id", "source", "page", "chunk_id", "start", "end"),
    *("evidence", "evidence_start", "evidence_end", "model", "rating"),
)
"""Columns that say where a row comes from, for formats that name them one by one."""


@dataclass(frozen=True, slots=True)
class Options:
    """The choices of one export; see ``export`` for their meaning."""

    columns: tuple[str, ...] | None = None
    system: str | None = None
    prompt: str = "question"
    response: str = "answer"
    include_reasoning: bool = False
    include_provenance: bool = False
    reasoning_as: Literal["think", "reasoning_content"] = "think"
    neutralise_formulas: bool = True
    lines: bool = False
    """One JSON value a line, rather than one array, where a format has both."""


@dataclass(slots=True)
class Tally:
    """What was counted while writing."""

    rows: int = 0
    skipped: int = 0
    replaced_surrogates: int = 0
    neutralised: int = 0


@dataclass(frozen=True, slots=True)
class Turn:
    """One row as a training example: what is asked and what is to be answered."""

    prompt: str
    response: str
    reasoning: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)

    @property
    def thought_response(self) -> str:
        """The response, behind its reasoning in ``<think>`` tags where there is some."""
        if self.reasoning is None:
            return self.response
        return f"<think>\n{self.reasoning}\n</think>\n\n{self.response}"


@dataclass(frozen=True, slots=True)
class Dialogue:
    """One row as a conversation of any length."""

    messages: list[dict[str, str]]
    metadata: dict[str, Any] = field(default_factory=dict)


class Writer(Protocol):
    """Writes a frame in one format to an open binary file."""

    def __call__(
        self, df: pd.DataFrame, file: IO[bytes], options: Options, tally: Tally
    ) -> None:
        """Write all rows and count them.

        Raises:
            ExportError: a value that the format cannot hold.
        """
        ...


def clean(value: Any, tally: Tally) -> Any:
    """Return a plain value without lone surrogates; U+FFFD stands in their place.

    UTF-8 has no lone surrogates, so no file could hold them. A pair of them is the
    character that it means.
    """
    if isinstance(value, str):
        return _clean_text(value, tally)
    if isinstance(value, list):
        return [clean(item, tally) for item in value]
    if isinstance(value, dict):
        return {clean(k, tally): clean(v, tally) for k, v in value.items()}
    return value


def _clean_text(text: str, tally: Tally) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        units = text.encode("utf-16-le", "surrogatepass")
        whole = units.decode("utf-16-le", "replace")
        tally.replaced_surrogates += whole.count("\ufffd") - text.count("\ufffd")
        return whole
    return text


def turns(df: pd.DataFrame, options: Options, tally: Tally) -> Iterator[Turn]:
    """Yield the rows that have both a prompt and a response; count the others."""
    provenance = [c for c in PROVENANCE if c in df.columns]
    for row in rows_of(df):
        prompt, response = row[options.prompt], row[options.response]
        if prompt is None or response is None:
            tally.skipped += 1
            continue
        tally.rows += 1
        thought = row["reasoning"] if options.include_reasoning else None
        kept = provenance if options.include_provenance else ()
        yield Turn(
            prompt=as_text(clean(prompt, tally)),
            response=as_text(clean(response, tally)),
            reasoning=None if thought is None else as_text(clean(thought, tally)),
            metadata={c: clean(row[c], tally) for c in kept if row[c] is not None},
        )


def dialogues(df: pd.DataFrame, options: Options, tally: Tally) -> Iterator[Dialogue]:
    """Yield each row as a conversation: its ``messages``, else its prompt and response.

    A row that has neither is left out and counted.
    """
    if "messages" not in df.columns:
        for turn in turns(df, options, tally):
            yield _dialogue(turn, options)
        return
    provenance = [c for c in PROVENANCE if c in df.columns]
    for row in rows_of(df):
        said = _messages(row["messages"], tally)
        prompt, response = row.get(options.prompt), row.get(options.response)
        if said is None and prompt is not None and response is not None:
            said = [
                {"role": "user", "content": as_text(clean(prompt, tally))},
                {"role": "assistant", "content": as_text(clean(response, tally))},
            ]
        if said is None:
            tally.skipped += 1
            continue
        tally.rows += 1
        kept = provenance if options.include_provenance else ()
        yield Dialogue(
            _with_system(said, options),
            {c: clean(row[c], tally) for c in kept if row[c] is not None},
        )


def _dialogue(turn: Turn, options: Options) -> Dialogue:
    answer = {"role": "assistant", "content": turn.thought_response}
    if options.reasoning_as == "reasoning_content" and turn.reasoning is not None:
        answer |= {"content": turn.response, "reasoning_content": turn.reasoning}
    said = [{"role": "user", "content": turn.prompt}, answer]
    return Dialogue(_with_system(said, options), turn.metadata)


def _messages(value: Any, tally: Tally) -> list[dict[str, str]] | None:
    """Return a conversation that a chat format can hold, or ``None``."""
    if not isinstance(value, list) or not value:
        return None
    said = []
    for message in value:
        if not isinstance(message, dict) or not isinstance(message.get("content"), str):
            return None
        role = str(message.get("role"))
        said.append({"role": role, "content": clean(message["content"], tally)})
    return said


def _with_system(said: list[dict[str, str]], options: Options) -> list[dict[str, str]]:
    if options.system is None or said[0]["role"] == "system":
        return said
    return [{"role": "system", "content": options.system}, *said]


def as_text(value: Any) -> str:
    """Return a plain value as text: strings as they are, all else as JSON."""
    return value if isinstance(value, str) else to_json(value)


def to_json(value: Any) -> str:
    """Return a plain value as one line of JSON, its text as written.

    Raises:
        ExportError: a number that JSON does not know.
    """
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        raise ExportError(
            f"JSON has no infinite numbers: {str(value)[:80]}",
            hint="Replace them in the frame, or export to parquet.",
        ) from error


def write_json(values: Iterator[Any], file: IO[bytes], *, lines: bool) -> None:
    """Write values as JSON lines, or as one array with a value a line."""
    if lines:
        for value in values:
            file.write(to_json(value).encode() + b"\n")
        return
    separator = b"[\n"
    for value in values:
        file.write(separator + to_json(value).encode())
        separator = b",\n"
    file.write(b"[]\n" if separator == b"[\n" else b"\n]\n")
