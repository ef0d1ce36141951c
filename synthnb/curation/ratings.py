"""Joining a judge's ratings to the records that they are about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from synthnb.errors import FrameError
from synthnb.frames import rows_of, typed
from synthnb.records import Status

if TYPE_CHECKING:
    import pandas as pd


def rows_to_rate(df: pd.DataFrame, columns: Sequence[str]) -> list[dict[str, Any]]:
    """Return the ok records as rows for a judge: ``record_id`` and what it reads.

    Args:
        df: records; without a ``status`` column all of them are taken as ok.
        columns: what the judge reads, where the frame has it.

    Raises:
        FrameError: two different records have one ``record_id``.
    """
    ok = df[df["status"] == str(Status.OK)] if "status" in df.columns else df
    names = ["record_id", *(name for name in columns if name in df.columns)]
    rows = list(rows_of(ok[names]))
    seen: dict[Any, dict[str, Any]] = {}
    for row in rows:
        if row["record_id"] is not None:
            row["record_id"] = str(row["record_id"])  # 0 is an id as well
        if seen.setdefault(row["record_id"], row) != row:
            raise FrameError(
                f"two different records have the record_id {row['record_id']!r}, so "
                "their ratings could not be told apart",
                hint="give each its own: df['record_id'] = range(len(df))",
            )
    return rows


def join_ratings(
    df: pd.DataFrame,
    ratings: pd.DataFrame,
    fields: Sequence[str],
    statuses: Mapping[str, int],
) -> pd.DataFrame:
    """Return ``df`` with the judge's columns, matched by ``record_id`` and nothing else.

    Args:
        df: records.
        ratings: the rating run's frame; its ``row_id`` is the rated ``record_id``.
        fields: the judge's columns.
        statuses: the rating run's rows by status, kept in ``attrs["rating_status"]``.
    """
    good = ratings[ratings["status"] == str(Status.OK)]
    rated = good.drop_duplicates("row_id").set_index("row_id")
    out = df.copy()
    # A run's row ids are text, a person's own record ids may be numbers.
    ids = [str(row["record_id"]) for row in rows_of(df[["record_id"]])]
    for name in fields:
        by_id = dict(zip(map(str, rated.index), rated[name], strict=True))
        dtype = {"rating": "Float64", "rating_reason": "string"}.get(name, "")
        out[name] = typed([by_id.get(key) for key in ids], dtype)
    out.attrs["rating_status"] = dict(statuses)
    return out
