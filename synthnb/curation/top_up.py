"""Which chunks gave no kept row yet, to be asked once more."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from synthnb.curation.keep import keep
from synthnb.errors import ConfigError
from synthnb.frames import require, rows_of, typed

if TYPE_CHECKING:
    import pandas as pd


def top_up(df: pd.DataFrame, chunks: pd.DataFrame, *, rows: int = 1) -> pd.DataFrame:
    """Return the chunks that have fewer kept rows than wanted.

    ::

        more = sn.top_up(df, chunks)
        again = await sn.generate(sn.QA(pairs=2), more, provider, name="handbook-2")
        df = pd.concat([sn.keep(df), again], ignore_index=True)

    Give the second run another name: under the same one its answers are there already.
    ``keep`` drops the failed rows first: a row that is made anew has the same id.

    Args:
        df: records. Kept are those that ``keep`` keeps: ok, checked, no duplicate, and not
            rejected by a person; columns that are not there decide nothing.
        chunks: all chunks, as ``read`` returned them.
        rows: kept rows that each chunk should have.

    Returns:
        The lacking chunks in their order, with ``kept_rows``. ``attrs["coverage"]`` holds
        ``chunks``, ``covered``, ``share`` and ``elsewhere`` (kept rows of other chunks).

    Raises:
        ConfigError: fewer rows than one.
        FrameError: ``chunk_id`` is not in both frames.
    """
    if rows < 1:
        raise ConfigError(f"rows must be at least 1, not {rows}")
    require(df, ["chunk_id"], "top_up")
    require(chunks, ["chunk_id"], "top_up")
    kept = keep(df)
    if "decision" in kept.columns:
        kept = kept[(kept["decision"] != "reject").fillna(value=True)]
    counts = Counter(
        row["chunk_id"] for row in rows_of(kept[["chunk_id"]]) if row["chunk_id"]
    )
    ids = [row["chunk_id"] for row in rows_of(chunks[["chunk_id"]])]
    number = [counts[key] for key in ids]
    told = chunks.assign(kept_rows=typed(number, "Int64"))
    lacking = told[[n < rows for n in number]].reset_index(drop=True)
    covered = len(ids) - len(lacking)
    lacking.attrs = dict(chunks.attrs) | {
        "coverage": {
            "chunks": len(ids),
            "covered": covered,
            "share": round(covered / len(ids), 4) if ids else 1.0,
            "elsewhere": counts.total() - sum(counts[key] for key in set(ids)),
        }
    }
    return lacking
