"""Parts for training, validation and test that share no document and no duplicate."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from synthnb.errors import ConfigError
from synthnb.fingerprint import content_hash
from synthnb.frames import require, rows_of, typed

if TYPE_CHECKING:
    import pandas as pd

NAMES = ("train", "validation", "test")
_TOLERANCE = 1e-6


def split(
    df: pd.DataFrame,
    *,
    train: float = 0.9,
    validation: float = 0.05,
    test: float = 0.05,
    by: str | Sequence[str] = "source",
    seed: int = 0,
) -> pd.DataFrame:
    """Return ``df`` with a column ``split``: train, validation or test.

    Rows of one document, and rows that ``deduplicate`` found alike, are in one part: a
    test that the training has seen measures memory. So the shares are reached as nearly
    as the groups allow; what became of them stands in ``attrs["splits"]``. The largest
    groups are dealt first, each to the part that lacks most; groups of one size in an
    order that the seed and their content decide, so the order of the rows does not
    matter.

    Args:
        df: records.
        train: share of the rows.
        validation: share of the rows; 0 makes no such part.
        test: share of the rows; 0 makes no such part.
        by: column or columns whose values must not be in two parts; those that the
            frame lacks, and rows without a value, count as groups of their own.
        seed: another one deals other groups; it is recorded.

    Returns:
        A new frame. ``attrs["splits"]`` holds ``seed``, ``groups``, ``rows`` and
        ``shares`` by part, and ``wanted``.

    Raises:
        ConfigError: shares that do not add up to 1.
        FrameError: it is no frame of rows.
    """
    wanted = dict(zip(NAMES, (train, validation, test), strict=True))
    if min(wanted.values()) < 0 or not math.isclose(
        sum(wanted.values()), 1, abs_tol=_TOLERANCE
    ):
        msg = f"the shares add up to {sum(wanted.values()):g}"
        raise ConfigError(msg, hint="Give shares from 0 up that add up to 1.")
    require(df, (), "split")
    columns = [by] if isinstance(by, str) else list(by)
    rows = list(rows_of(df))
    groups = _groups(rows, [name for name in columns if name in df.columns])
    parts = _dealt(groups, rows, wanted, seed)
    marked = df.copy()
    marked["split"] = typed([parts[i] for i in range(len(rows))], "string")
    counts = {name: parts.count(name) for name in NAMES if wanted[name]}
    marked.attrs = dict(df.attrs) | {
        "splits": {
            "seed": seed,
            "groups": len(groups),
            "rows": counts,
            "shares": {n: round(c / max(1, len(rows)), 4) for n, c in counts.items()},
            "wanted": {n: share for n, share in wanted.items() if share},
        }
    }
    return marked


def _groups(
    rows: Sequence[Mapping[str, Any]], columns: Sequence[str]
) -> list[list[int]]:
    """Return the rows that belong together: joined by a value, or as duplicates."""
    parent = list(range(len(rows)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    first: dict[tuple[str, Any], int] = {}
    for i, row in enumerate(rows):
        keys = [(name, str(row[name])) for name in columns if row[name] is not None]
        own, leader = row.get("record_id"), row.get("duplicate_of")
        keys += [("record_id", str(key)) for key in (own, leader) if key is not None]
        for key in keys:
            parent[root(i)] = root(first.setdefault(key, i))
    found: dict[int, list[int]] = defaultdict(list)
    for i in range(len(rows)):
        found[root(i)].append(i)
    return list(found.values())


def _dealt(
    groups: Sequence[list[int]],
    rows: Sequence[Mapping[str, Any]],
    wanted: Mapping[str, float],
    seed: int,
) -> list[str]:
    keyed = sorted(groups, key=lambda group: (-len(group), _key(group, rows, seed)))
    lacking = {name: share * len(rows) for name, share in wanted.items() if share}
    parts = [""] * len(rows)
    for group in keyed:
        # Of parts that lack the same the first: nobody trains on a test set alone.
        name = max(lacking, key=lambda part: lacking[part])
        lacking[name] -= len(group)
        for i in group:
            parts[i] = name
    return parts


def _key(group: Sequence[int], rows: Sequence[Mapping[str, Any]], seed: int) -> str:
    """Return what a group is known by, whatever the order of the rows."""
    members = sorted(
        str(rows[i].get("record_id") or content_hash(dict(rows[i]))) for i in group
    )
    return content_hash([seed, members])
