"""Joining a judge's ratings to the records that they are about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from synthnb.frames import rows_of, typed
from synthnb.records import Status

if TYPE_CHECKING:
    import pandas as pd


def rows_to_rate(df: pd.DataFrame, columns: Sequence[str]) -> list[dict[str, Any]]:
    """Return the ok records as rows for a judge: ``record_id`` and what it reads.

    Args:
        df: records; without a ``status`` column all of them are taken as ok.
        columns: what the judge reads, where the frame has it.
    """
    ok = df[df["status"] == str(Status.OK)] if "status" in df.columns else df
    names = ["record_id", *(name for name in columns if name in df.columns)]
    return list(rows_of(ok[names]))


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
    for name in fields:
        by_id = dict(zip(rated.index, rated[name], strict=True))
        dtype = {"rating": "Float64", "rating_reason": "string"}.get(name, "")
        column = typed([by_id.get(key) for key in out["record_id"]], dtype)
        out[name] = column
    out.attrs["rating_status"] = dict(statuses)
    return out
