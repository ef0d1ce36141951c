"""Which parts of the source gave rows: one strip of cells a document, in its order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from synthnb.curation.profiling_columns import Columns

if TYPE_CHECKING:
    import pandas as pd

_CELLS = 200
"""At most so many cells a document; of a longer one each cell stands for several."""
_DOCUMENTS = 30
NO_SOURCE = "(no source)"


def coverage(
    records: Columns, chunks: Columns | None, ok: Any, kept: Any
) -> dict[str, Any] | None:
    """Return how the rows lie on the source; ``None`` where no row names its chunk.

    Args:
        records: the frame's columns.
        chunks: all chunks, where they are known: those without a row are seen then too.
        ok: for each row whether its status is ok.
        kept: for each row whether it is kept.

    Returns:
        ``chunks``, ``with_rows``, ``with_kept``, ``rows_without_chunk``,
        ``rows_elsewhere`` (of chunks that ``chunks`` does not hold), ``all_known``
        (whether ``chunks`` was given), ``documents`` (how many) and ``strips``: of each
        document ``source``, ``chunks``, ``with_rows``, ``with_kept``, ``per_cell`` and
        ``cells``, each ``{first, last, chunk, page, rows, ok, kept, empty}``. ``chunk``
        is the id where the cell is one chunk.
    """
    ids = records.texts("chunk_id")
    if ids is None:
        return None
    counted = _count(ids, ok, kept)
    listed = _places(chunks) if chunks is not None else None
    all_known = listed is not None
    if listed is None:
        listed = _places(records)
    if listed is None or listed.empty:
        return None
    table = listed.join(counted, on="chunk")
    elsewhere = int(counted["rows"].sum() - table["rows"].sum())
    return {
        **_strips(table),
        "rows_without_chunk": int(ids.isna().sum()),
        "rows_elsewhere": elsewhere if all_known else 0,
        "all_known": all_known,
    }


def _strips(table: pd.DataFrame) -> dict[str, Any]:
    """Return the counts of all chunks and the strips that are shown."""
    for name in ("rows", "ok", "kept"):
        table[name] = table[name].fillna(0).astype("int64")
    table["with_rows"], table["with_kept"] = table["rows"] > 0, table["kept"] > 0
    grouped = table.groupby("source", sort=False)
    sums = grouped[["with_rows", "with_kept"]].sum()
    sums.insert(0, "chunks", grouped.size())
    if len(sums) > _DOCUMENTS:
        least = (sums["with_kept"] / sums["chunks"]).sort_values(kind="stable")
        sums = sums.loc[least.index[:_DOCUMENTS]]
    return {
        "chunks": len(table),
        "with_rows": int(table["with_rows"].sum()),
        "with_kept": int(table["with_kept"].sum()),
        "documents": grouped.ngroups,
        "strips": [
            _strip(row, grouped.get_group(row.Index)) for row in sums.itertuples()
        ],
    }


def _count(ids: pd.Series[Any], ok: Any, kept: Any) -> pd.DataFrame:
    import pandas as pd

    rows = pd.DataFrame({"chunk": ids, "rows": 1, "ok": ok, "kept": kept})
    return rows.groupby("chunk", sort=False)[["rows", "ok", "kept"]].sum()


def _places(columns: Columns) -> pd.DataFrame | None:
    """Return ``chunk, source, page`` of each chunk once, by document and place in it.

    Documents stand in the order in which they are first met.
    """
    import pandas as pd

    ids = columns.texts("chunk_id")
    if ids is None:
        return None
    sources, starts = columns.texts("source"), columns.numbers("start")
    pages = columns.numbers("page")
    rows = pd.DataFrame({"chunk": ids})
    rows["source"] = NO_SOURCE if sources is None else sources.fillna(NO_SOURCE)
    rows["page"] = float("nan") if pages is None else pages
    rows["start"] = 0.0 if starts is None else starts
    rows = rows[rows["chunk"].notna()].drop_duplicates("chunk")
    rows["document"] = pd.factorize(rows["source"])[0]
    ordered = rows.sort_values(["document", "start"], kind="stable")
    return ordered[["chunk", "source", "page"]].reset_index(drop=True)


def _strip(document: Any, part: pd.DataFrame) -> dict[str, Any]:
    per_cell = -(-len(part) // _CELLS)
    cells = []
    listed = part[["chunk", "page", "rows", "ok", "kept"]].to_numpy(dtype=object)
    for at in range(0, len(listed), per_cell):
        group = listed[at : at + per_cell]
        page = group[0][1]
        cells.append(
            {
                "first": at + 1,
                "last": at + len(group),
                "chunk": str(group[0][0]) if len(group) == 1 else None,
                "page": int(page) if page == page else None,  # noqa: PLR0124 - NaN
                "rows": int(sum(row[2] for row in group)),
                "ok": int(sum(row[3] for row in group)),
                "kept": int(sum(row[4] for row in group)),
                "empty": int(sum(row[4] == 0 for row in group)),
            }
        )
    return {
        "source": str(document.Index),
        "chunks": int(document.chunks),
        "with_rows": int(document.with_rows),
        "with_kept": int(document.with_kept),
        "per_cell": per_cell,
        "cells": cells,
    }
