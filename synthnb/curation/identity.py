"""Which record a row is: the key under which decisions know it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from zlib import crc32

from synthnb.errors import FrameError
from synthnb.fingerprint import row_hash
from synthnb.frames import COLUMNS, frame_of, plain, require, rows_of

if TYPE_CHECKING:
    import pandas as pd

_JUDGED = frozenset(
    column.name
    for column in COLUMNS
    if column.name.startswith(("rating", "duplicate_of", "decision", "decided"))
    or column.name == "edited"
)


def text_mark(value: Any) -> str:
    """Return eight characters that tell whether a cell still holds the same.

    A checksum (CRC-32), not an identity: it is made for each of 100,000 rows at once.
    """
    text = value if type(value) is str else str(plain(value))
    return f"{crc32(text.encode('utf-8', 'surrogatepass')):08x}"


def with_record_ids(df: pd.DataFrame, step: str) -> pd.DataFrame:
    """Return ``df`` with string column names and with a ``record_id`` in each row.

    A frame that has none gets the hash of each row's content, with a number behind it
    where the same row stands again (``…#1``): the same file read again gets the same
    ids. What a judge or a person said of a row is not part of its content.

    Raises:
        FrameError: two columns of one name.
    """
    require(df, (), step)
    named = frame_of(df)
    if "record_id" in named.columns:
        return named
    content = [name for name in named.columns if name not in _JUDGED]
    seen: Counter[str] = Counter()
    ids: list[str] = []
    for row in rows_of(named[content]):
        base = row_hash(row)
        ids.append(f"{base}#{seen[base]}" if seen[base] else base)
        seen[base] += 1
    numbered = named.copy()
    numbered.insert(0, "record_id", _strings(ids))
    return numbered


def record_keys(df: pd.DataFrame, step: str) -> list[str]:
    """Return the key of each row's ``record_id``, in order.

    Raises:
        FrameError: no ``record_id`` column, a row without one, or one that stands twice.
    """
    require(df, ["record_id"], step)
    keys = _keys(df["record_id"].tolist())
    if None in keys:
        empty = sum(key is None for key in keys)
        raise FrameError(
            f"{empty:,} rows have no record_id, so {step} could not tell them apart",
            hint="Give each row its own: df['record_id'] = range(len(df))",
        )
    if len(set(keys)) < len(keys):
        twice, times = Counter(keys).most_common(1)[0]
        raise FrameError(
            f"{times:,} rows have the record_id {twice!r}, so {step} could not tell "
            "them apart",
            hint="Keep one of each: df = df.drop_duplicates('record_id'); or give each "
            "row its own: df['record_id'] = range(len(df))",
        )
    return [key for key in keys if key is not None]


def record_key(value: Any) -> str | None:
    """Return the text under which a ``record_id`` is known; ``None`` for none.

    A number and its text are the same id, and so are 7 and 7.0: a column of whole
    numbers turns into one of floats when a frame is joined or read back. Lone
    surrogates are written as escapes, as in a run's ledger.
    """
    value = plain(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if value is None or value == "":
        return None
    return str(value).encode("utf-8", "backslashreplace").decode()


def _keys(values: Iterable[Any]) -> list[str | None]:
    listed = list(values)
    if all(type(value) is str for value in listed):
        try:
            "".join(listed).encode()
        except UnicodeEncodeError:
            pass
        else:
            return [value or None for value in listed]
    return [record_key(value) for value in listed]


def _strings(values: list[str]) -> Any:
    import pandas as pd

    return pd.array(values, dtype="string")
