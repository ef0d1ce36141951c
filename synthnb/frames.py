"""Records ↔ DataFrame: the one column contract of the project.

``COLUMNS`` is the table of every column that a step writes: its name, type and meaning.
A DataFrame is a view at the edge: what identifies a record is the column ``record_id``,
never the index. All types are nullable, so a column has the same type with no rows, with
some values missing, and with all of them.
"""

from __future__ import annotations

import copy
import dataclasses
import difflib
import json
import math
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, time
from typing import TYPE_CHECKING, Any, cast

from synthnb.errors import FrameError
from synthnb.records import RECORD_COLUMNS

if TYPE_CHECKING:
    import pandas as pd

_STRING, _INT, _FLOAT, _BOOL = "string", "Int64", "Float64", "boolean"
_TIME = "datetime64[ns, UTC]"

INPUT = "__input__"
"""Key of an engine row under which its whole input row may stand, as one mapping."""


@dataclasses.dataclass(frozen=True, slots=True)
class Column:
    """One column of the contract.

    Attributes:
        name: the column's name.
        dtype: its pandas type, always a nullable one.
        meaning: what a value says, in one line.
    """

    name: str
    dtype: str
    meaning: str


COLUMNS: tuple[Column, ...] = (
    Column("record_id", _STRING, "identity of the record; stable across runs"),
    Column("step", _STRING, "the recipe's name: qa, judge, prompt"),
    Column("row_id", _STRING, "the input row that it was made from"),
    Column("sample_index", _INT, "which of several samples of that row, from 0"),
    Column("source", _STRING, "the document's path, as it was read"),
    Column("page", _INT, "page of the document, from 1"),
    Column("chunk_id", _STRING, "the chunk that it was made from"),
    Column("start", _INT, "first character of the chunk in the document's text"),
    Column("end", _INT, "the character after the chunk's last"),
    Column("evidence", _STRING, "the sentence that supports the answer"),
    Column("evidence_start", _INT, "its first character in the document's text"),
    Column("evidence_end", _INT, "the character after its last"),
    Column("grounded", _BOOL, "the evidence stands in the chunk, letter for letter"),
    Column("reasoning", _STRING, "what the model thought before it answered"),
    Column("status", _STRING, "what became of the slot: ok, truncated, ..."),
    Column("detail", _STRING, "why the status is not ok, in a few words"),
    Column("finish_reason", _STRING, "why the model stopped, in its server's word"),
    Column("repaired", _BOOL, "the answer's JSON was mended to be read"),
    Column("adapted", _STRING, "what differs from what was asked; cached: not bought"),
    Column("model", _STRING, "the model's id, as the server said it"),
    Column("prompt_tokens", _INT, "tokens of the slot's requests"),
    Column("completion_tokens", _INT, "tokens of the slot's answers"),
    Column("tokens_estimated", _BOOL, "the counts are ours, not the server's"),
    Column("attempts", _INT, "calls made for the slot, failed ones included"),
    Column("rating", _FLOAT, "the judge's score, on the judge's scale"),
    Column("rating_reason", _STRING, "the judge's reason"),
    Column(
        "duplicate_of", _STRING, "record_id of the kept record that this one repeats"
    ),
    Column("decision", _STRING, "a person's word: accept or reject"),
    Column("decided_by", _STRING, "who decided"),
    Column("decided_at", _TIME, "when, UTC"),
    Column("edited", _STRING, "the fields that a person changed, joined by commas"),
    Column("decision_tags", _STRING, "a person's tags, joined by commas"),
    Column("decision_stars", _INT, "a person's stars, 1 to 5"),
    Column("decision_note", _STRING, "a person's note"),
)

CHUNK_COLUMNS: tuple[Column, ...] = (
    Column("chunk_id", _STRING, "identity of the chunk"),
    Column("source", _STRING, "the document's path, as it was read"),
    Column("page", _INT, "page on which it begins, from 1"),
    Column("start", _INT, "first character in the document's text"),
    Column("end", _INT, "the character after its last"),
    Column("text", _STRING, "the chunk's text: document.text[start:end]"),
    Column("tokens", _INT, "token count; an estimate unless a tokenizer was given"),
)

_BY_NAME = {column.name: column for column in COLUMNS}
_PROVENANCE = frozenset({"source", "page", "chunk_id", "start", "end"})
_LAST_BEFORE_FIELDS = "end"


def records_frame(
    records: Iterable[Mapping[str, Any]],
    *,
    fields: Sequence[str] = (),
    inputs: Iterable[str] = (),
) -> pd.DataFrame:
    """Return engine rows as a DataFrame under the column contract.

    The order is: the contract up to ``end``, the recipe's fields, columns nobody
    declared, the rest of the contract, the input columns.

    Args:
        records: mappings with any subset of the contract's names and the fields. The
            input row may stand flat among them, or whole under the key ``INPUT``, where
            none of its columns can be overwritten.
        fields: the recipe's columns. One that is a contract column keeps its place there.
        inputs: names of input columns to carry along. ``source``, ``page``, ``chunk_id``,
            ``start`` and ``end`` fill the contract's columns; any other name that is
            taken is kept as ``input_<name>``.

    Returns:
        One row per record, with a fresh index. What every slot has (identity,
        status, cost), the fields and the inputs are there with no rows too; other
        columns of the contract are there where a row has them.
    """
    rows = [dict(record) for record in records]
    names = input_names(
        dict.fromkeys([*inputs, *(n for row in rows for n in row.get(INPUT, ()))]),
        fields,
    )
    for row in rows:
        for name, value in row.pop(INPUT, {}).items():
            row.setdefault(names[name], value)
    order = _order(rows, fields, names.values())
    return _build(order, rows)


def input_names(inputs: Iterable[str], fields: Iterable[str] = ()) -> dict[str, str]:
    """Return under which column each input column is carried along.

    Example:
        >>> input_names(["text", "status", "page"])
        {'text': 'text', 'status': 'input_status', 'page': 'page'}
    """
    inputs = list(inputs)
    taken = set(fields) | (set(_BY_NAME) - _PROVENANCE)
    names: dict[str, str] = {n: n for n in inputs if n not in taken}
    taken |= set(names)
    for name in inputs:
        if name in names:
            continue
        new = f"input_{name}"
        while new in taken:
            new = f"input_{new}"
        names[name] = new
        taken.add(new)
    return {name: names[name] for name in inputs}


def chunks_frame(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return chunks as a DataFrame: ``CHUNK_COLUMNS``, then any other key of the rows."""
    listed = [dict(row) for row in rows]
    order = {column.name: column.dtype for column in CHUNK_COLUMNS}
    others = dict.fromkeys(n for row in listed for n in row if n not in order)
    return _build({**order, **dict.fromkeys(others, "")}, listed)


def frame_of(rows: Any) -> pd.DataFrame:
    """Return anything that ``rows_of`` takes as a DataFrame with named columns.

    The columns are those of all rows, not of the first.
    """
    if _is_frame(rows):
        columns_of(rows)
        named = all(isinstance(name, str) for name in rows.columns)
        return cast("pd.DataFrame", rows if named else rows.rename(columns=str))
    listed = list(rows_of(rows))
    names = dict.fromkeys(name for row in listed for name in row)
    return _build(dict.fromkeys([*(columns_of(rows) or ()), *names], ""), listed)


def require(df: pd.DataFrame, columns: Iterable[str], step: str) -> None:
    """Check that ``df`` has what a step reads.

    Raises:
        FrameError: names the missing columns, those that are there, and the closest.
    """
    if not _is_frame(df):
        raise FrameError(
            f"{step} takes a DataFrame, not {type(df).__name__}",
            hint="Await a run first: df = await run.",
        )
    there = [str(name) for name in df.columns]
    missing = [name for name in columns if name not in there]
    if not missing:
        return
    close = {n: difflib.get_close_matches(n, there, 1, 0.5) for n in missing}
    guesses = [f"{near[0]!r} for {n!r}" for n, near in close.items() if near]
    raise FrameError(
        f"{step} needs the column{'s' if len(missing) > 1 else ''} "
        f"{', '.join(map(repr, missing))}; the frame has {', '.join(there) or 'none'}",
        hint=(f"Did you mean {', '.join(guesses)}? " if guesses else "")
        + "Rename the column, or name yours in the call.",
    )


def columns_of(rows: Any) -> tuple[str, ...] | None:
    """Return the columns of ``rows``; ``None`` where only reading would tell.

    A list's columns are those of all its rows, not of the first.
    """
    if _is_frame(rows):
        return _unique([str(name) for name in rows.columns])
    if _is_arrow(rows):
        return _unique([str(name) for name in rows.schema.names])
    if isinstance(rows, list | tuple):
        return tuple(dict.fromkeys(n for i, r in enumerate(rows) for n in _row(r, i)))
    return None


def rows_of(rows: Any) -> Iterator[dict[str, Any]]:
    """Return plain rows, one after the other, of whatever a person has.

    Args:
        rows: a DataFrame, a pyarrow Table, an iterable of mappings (also dataclasses), or
            an iterable of strings, each of which becomes ``{"text": string}``. A
            DataFrame or list is taken as it is now: later changes to it do not matter.
            An iterator is never read ahead.

    Returns:
        An iterator of dicts whose values are str, int, float, bool, None, list or dict:
        missing values are ``None``, times are ISO 8601 strings, bytes are their UTF-8
        text (else base64).

    Raises:
        FrameError: at once, for a column name that stands twice or for no rows at all;
            while reading, for a row that is none.
    """
    if _is_frame(rows):
        return _frame_rows(_snapshot(rows), columns_of(rows) or ())
    if _is_arrow(rows):
        columns_of(rows)
        return _arrow_rows(rows)
    if isinstance(rows, str | bytes | Mapping) or not isinstance(rows, Iterable):
        raise FrameError(
            f"{type(rows).__name__} is not a collection of rows",
            hint="Pass a DataFrame, or a list of dicts or strings: [row].",
        )
    # The rows too: those who mend a list's rows in a loop change them in place.
    taken = tuple(map(_own, rows)) if isinstance(rows, list | tuple) else rows
    return (_row(row, number) for number, row in enumerate(taken))


def _order(
    rows: list[dict[str, Any]], fields: Sequence[str], carried: Iterable[str]
) -> dict[str, str]:
    """Return column → dtype in the contract's order; "" = from the values."""
    carried = list(carried)
    seen = dict.fromkeys([*fields, *carried, *(n for row in rows for n in row)])
    extra = [n for n in [*fields, *seen] if n not in _BY_NAME and n not in carried]
    order: dict[str, str] = {}
    for column in COLUMNS:
        if column.name in RECORD_COLUMNS or column.name in seen:
            order[column.name] = column.dtype
        if column.name == _LAST_BEFORE_FIELDS:
            order |= dict.fromkeys(extra, "")
    return order | {n: "" for n in carried if n not in order}


def _build(order: Mapping[str, str], rows: list[dict[str, Any]]) -> pd.DataFrame:
    import pandas as pd

    columns = {n: typed([r.get(n) for r in rows], dtype) for n, dtype in order.items()}
    return pd.DataFrame(columns, index=pd.RangeIndex(len(rows)), columns=list(order))


def typed(values: Iterable[Any], dtype: str = "") -> Any:
    """Return ``values`` as a column of ``dtype``, or of what they are if that fails.

    It is an array, without an index: a ``Series`` put into a filtered or sorted frame
    would be matched by the frame's index, and its values would land in other rows.

    A user's own column may bear a contract name (``start`` as a date, say): it is kept
    as it is, not refused.
    """
    import pandas as pd

    cells = [plain(value) for value in values]
    natural = _natural(cells)
    for wanted in (dtype or natural, natural):
        try:
            return _as(wanted, cells)
        except (ValueError, TypeError, OverflowError):
            continue
    return pd.Series(cells, dtype=object).array


def _as(dtype: str, cells: list[Any]) -> Any:
    import pandas as pd

    if dtype == _STRING:
        return _strings([None if cell is None else _text(cell) for cell in cells])
    if dtype == _TIME:
        times: Any = pd.to_datetime(pd.Series(cells, dtype=object), utc=True)
        return times.astype(_TIME).array
    series: Any = pd.Series
    return series(cells, dtype=dtype).array


def _strings(cells: list[str | None]) -> Any:
    import pandas as pd

    try:
        return pd.array(cells, dtype="string")
    except UnicodeEncodeError:
        # A lone surrogate from a model: Arrow's strings are UTF-8 and cannot hold it.
        return pd.array(cells, dtype=pd.StringDtype("python"))


def _natural(cells: Sequence[Any]) -> str:
    """Return the dtype that plain cells have by themselves; no value at all = string."""
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds <= {str}:
        return _STRING
    if kinds == {bool}:
        return _BOOL
    if kinds == {int}:
        return _INT
    return _FLOAT if kinds <= {int, float} else "object"


def _text(cell: Any) -> str:
    if isinstance(cell, str):
        return cell
    if isinstance(cell, list):
        return ", ".join(map(str, cell))
    return json.dumps(cell, ensure_ascii=False)


def plain(value: Any) -> Any:
    """Return a cell as str, int, float, bool, None, list or dict."""
    if value is None or type(value) in (str, int, bool):
        return value
    if isinstance(value, float):
        return None if math.isnan(value) else float(value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return _plain_object(value)


def _plain_object(value: Any) -> Any:
    """Return a numpy or pandas value, a time, bytes, a dataclass as a plain one."""
    if type(value).__name__ in {"NAType", "NaTType"}:
        return None
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, bytes | bytearray):
        return _decoded(bytes(value))
    if hasattr(value, "tolist"):  # numpy arrays and scalars, pandas and pyarrow arrays
        return _plain_numpy(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return plain(dataclasses.asdict(value))
    return str(value)


def _plain_numpy(value: Any) -> Any:
    if getattr(value, "dtype", None) is not None and value.dtype.kind in "mM":
        return plain(value.astype(str).tolist()) if str(value) != "NaT" else None
    return plain(value.tolist())


def _decoded(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return b64encode(value).decode("ascii")


def _own(row: Any) -> Any:
    """Return a row that later changes to ``row`` do not reach."""
    if isinstance(row, dict):
        return dict(row)
    is_record = dataclasses.is_dataclass(row) and not isinstance(row, type)
    return copy.copy(row) if is_record else row


def _row(row: Any, number: int) -> dict[str, Any]:
    if isinstance(row, str):
        return {"text": row}
    if isinstance(row, Mapping):
        return {str(name): plain(value) for name, value in row.items()}
    if dataclasses.is_dataclass(row) and not isinstance(row, type):
        return {f.name: plain(getattr(row, f.name)) for f in dataclasses.fields(row)}
    raise FrameError(
        f"row {number} is {type(row).__name__}, neither a mapping nor a string",
        hint="Each row is a dict such as {'text': '...'}, or a string.",
    )


_BLOCK = (
    1024  # rows turned into Python at once: bounds memory, spreads pandas' overhead
)


def _frame_rows(df: pd.DataFrame, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    for start in range(0, len(df), _BLOCK):
        block = df.iloc[start : start + _BLOCK]
        columns = [block.iloc[:, i].tolist() for i in range(len(names))]
        # A frame may have rows and no columns: they are rows, with nothing in them.
        for cells in zip(*columns, strict=True) if columns else ((),) * len(block):
            yield {n: plain(c) for n, c in zip(names, cells, strict=True)}


def _arrow_rows(table: Any) -> Iterator[dict[str, Any]]:
    for batch in table.to_batches(max_chunksize=_BLOCK):
        for row in batch.to_pylist():
            yield plain(row)


def _snapshot(df: pd.DataFrame) -> pd.DataFrame:
    """Return a copy that later changes to ``df`` do not reach.

    From pandas 3 on, copy-on-write makes a shallow copy safe and free.
    """
    import pandas as pd

    return df.copy(deep=int(pd.__version__.split(".")[0]) < 3)  # noqa: PLR2004


def _unique(names: list[str]) -> tuple[str, ...]:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise FrameError(
            f"two columns are named {', '.join(map(repr, twice))}",
            hint="Rename one: df.columns = [...].",
        )
    return tuple(names)


def _is_frame(rows: Any) -> bool:
    return type(rows).__name__ == "DataFrame" and hasattr(rows, "iloc")


def _is_arrow(rows: Any) -> bool:
    return hasattr(rows, "to_batches") and hasattr(rows, "schema")
