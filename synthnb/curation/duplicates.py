"""Near-duplicate rows: found by MinHash, confirmed by true similarity, marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

from synthnb.curation.words import normalise, numbers, readings
from synthnb.errors import ConfigError, FrameError
from synthnb.frames import require, rows_of, typed
from synthnb.records import Status

if TYPE_CHECKING:
    import pandas as pd

_PERMUTATIONS = 128  # at most
_SEED = 1
_SHINGLE = 3  # characters; a question is too short for shingles of words
_MISSED = 1e-3  # chance that a pair right at the threshold is never compared


def deduplicate(
    df: pd.DataFrame,
    on: str | Sequence[str] = "question",
    threshold: float = 0.85,
    *,
    keep: Literal["first", "best"] = "first",
) -> pd.DataFrame:
    """Return ``df`` with near-duplicates marked in ``duplicate_of``; no row is dropped.

    Texts are compared without case, punctuation and width (NFKC). Their similarity is
    the Jaccard index of their sets of three characters; texts with different numbers are
    never duplicates ("in 1950" asks something else than "in 1951"). Candidates come from
    MinHash with locality-sensitive hashing (Broder 1997; Indyk and Motwani 1998) and are
    confirmed by the index itself, so no pair below the threshold is marked.

    Args:
        df: records. Only rows whose ``status`` is ok, with a text, take part.
        on: the column to compare, or several, which are compared as one text.
        threshold: least similarity of two duplicates, above 0 and up to 1.
        keep: which record of a group stays unmarked: the first, or the best rated (the
            first of those; a missing rating is the worst).

    Returns:
        A new frame. ``duplicate_of`` holds the ``record_id`` of the record that stays.

    Raises:
        FrameError: ``record_id`` or a compared column (or ``rating``) is not there.
        ConfigError: a threshold outside its range.
    """
    columns = [on] if isinstance(on, str) else list(on)
    best = keep == "best"
    require(df, [*columns, *(["rating"] if best else [])], "deduplicate")
    if "record_id" not in df.columns:
        raise FrameError(
            "deduplicate needs the column 'record_id', which tells the rows apart",
            hint="give each row its own: df['record_id'] = range(len(df))",
        )
    if not 0 < threshold <= 1:
        raise ConfigError(
            f"threshold is {threshold}", hint="Give a share: above 0 and up to 1."
        )
    rows = list(rows_of(df))
    texts = [_text(row, columns) for row in rows]
    order = [i for i in range(len(rows)) if texts[i]]
    if best:
        order.sort(key=lambda i: -_rating(rows[i]))
    marked = df.copy()
    found = _leaders(texts, order, threshold)
    marked["duplicate_of"] = typed(
        [rows[found[i]]["record_id"] if i in found else None for i in range(len(rows))],
        "string",
    )
    return marked


def shingles(text: str) -> frozenset[str]:
    """Return the sets of three characters of a normalised text, its ends marked."""
    padded = f" {text} "
    return frozenset(
        padded[i : i + _SHINGLE] for i in range(len(padded) - _SHINGLE + 1)
    )


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the size of the intersection over that of the union."""
    both = len(one & other)
    return both / (len(one) + len(other) - both) if both else 0.0


def _alike(one: frozenset[str], other: frozenset[str], threshold: float) -> bool:
    small, large = sorted((len(one), len(other)))
    return small >= threshold * large and jaccard(one, other) >= threshold


def _leaders(texts: list[str], order: list[int], threshold: float) -> dict[int, int]:
    """Return duplicate → the row that stays.

    Rows are taken in order; one that is like a row that already stays is its duplicate,
    any other stays. So a duplicate is always like the very row it points to, which
    chains of "like one another" do not give.
    """
    first: dict[str, int] = {}
    found = {}
    for i in order:
        if first.setdefault(texts[i], i) != i:
            found[i] = first[texts[i]]
    alone = [i for i in order if i not in found]
    near: dict[int, int] = {}
    sets = [shingles(texts[i]) for i in alone]
    numbered = [_numbers(texts[i]) for i in alone]
    for place, candidates in enumerate(_candidates(sets, threshold)):
        for other in candidates:
            if (
                other not in near
                and numbered[other] == numbered[place]
                and _alike(sets[other], sets[place], threshold)
            ):
                near[place] = other
                break
    found |= {alone[i]: alone[other] for i, other in near.items()}
    return {i: found.get(leader, leader) for i, leader in found.items()}


def _candidates(sets: list[frozenset[str]], threshold: float) -> Iterator[list[int]]:
    """Yield for each set, in order, the earlier ones that may be like it."""
    if not sets:
        return
    from rensa import RMinHash, RMinHashLSH

    bands, rows = _bands(threshold)
    permutations = bands * rows
    # Sorted: the iteration order of a set changes from process to process.
    sketches = RMinHash.from_token_sets([sorted(s) for s in sets], permutations, _SEED)
    index = RMinHashLSH(threshold, permutations, bands)
    for place, sketch in enumerate(sketches):
        yield sorted(index.query(sketch)) if place else []
        index.insert(place, sketch)


def _bands(threshold: float) -> tuple[int, int]:
    """Return bands and rows that hardly ever miss a pair, with the fewest candidates.

    With ``b`` bands of ``r`` rows a pair of similarity ``s`` is a candidate with
    probability ``1 - (1 - s**r)**b``: the more rows, the fewer pairs below the threshold
    are compared in vain.
    """
    for rows in range(_PERMUTATIONS, 1, -1):
        bands = _PERMUTATIONS // rows
        if (1 - threshold**rows) ** bands <= _MISSED:
            return bands, rows
    return _PERMUTATIONS, 1


def _text(row: dict[str, Any], columns: Sequence[str]) -> str:
    if row.get("status", Status.OK) != Status.OK:
        return ""
    return normalise("\n".join(str(row[c]) for c in columns if row[c] is not None))


def _numbers(text: str) -> frozenset[str]:
    return frozenset(value for number in numbers(text) for value in readings(number))


def _rating(row: dict[str, Any]) -> float:
    return float("-inf") if row["rating"] is None else float(row["rating"])
