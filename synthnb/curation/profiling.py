"""The figures of a frame: counts, distributions, coverage of the source, tokens.

Pure: a frame in, plain values out, no picture. Any frame will do; what it lacks is named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from synthnb.curation.profiling_columns import Columns, as_numbers, tally
from synthnb.curation.profiling_coverage import coverage
from synthnb.curation.profiling_language import tally_languages
from synthnb.curation.profiling_lengths import distribution
from synthnb.curation.profiling_usage import usage
from synthnb.frames import COLUMNS
from synthnb.records import Status

if TYPE_CHECKING:
    import pandas as pd

_FIRST_TEXTS = ("question", "answer", "instruction", "input", "prompt", "response",
                "output", "summary", "text")  # fmt: skip
_TEXTS = 4
_LANGUAGE_ROWS = 2000
_CONTRACT = frozenset(column.name for column in COLUMNS)
_SHARES = ("repaired", "adapted", "grounded")


def figures(df: pd.DataFrame, *, chunks: pd.DataFrame | None = None) -> dict[str, Any]:
    """Return all that a profile shows, as values that JSON can hold.

    Args:
        df: records, or any frame.
        chunks: all chunks that the records were made from, as ``read`` returns them.

    Returns:
        ``rows``, ``kept``, ``kept_means``; ``None`` under what the frame has no column
        for: ``status``, ``decision``, ``finish_reason``, ``model`` (tallies), ``rating``
        (a distribution), ``duplicates``, ``language``, ``usage``, ``coverage``;
        ``lengths`` (text column → distribution of characters), ``shares`` (name → ``yes``,
        ``known``); ``missing``: the columns that were looked for in vain; ``repeated``:
        names that stand twice, of which the first column was read.
    """
    columns = Columns(df)
    ok, kept, means = _kept(columns)
    rating = columns.numbers("rating")
    texts = _text_columns(columns)
    found: dict[str, Any] = {
        "rows": columns.rows,
        "kept": int(kept.sum()),
        "kept_means": means,
        "status": _tally(columns, "status"),
        "decision": _tally(columns, "decision"),
        "rating": None if rating is None else distribution(rating),
        "lengths": {n: distribution(as_numbers(t.str.len())) for n, t in texts.items()},
        "duplicates": _duplicates(columns),
        "finish_reason": _tally(columns, "finish_reason"),
        "language": _languages(list(texts.values())[:2]),
        "shares": _shares(columns),
        "model": _tally(columns, "model"),
        "usage": usage(columns, int(kept.sum())),
        "coverage": coverage(
            columns, None if chunks is None else Columns(chunks), ok, kept
        ),
    }
    found["missing"] = sorted(n for n, there in columns.asked.items() if not there)
    found["repeated"] = columns.repeated
    return found


def _kept(columns: Columns) -> tuple[pd.Series[Any], pd.Series[Any], list[str]]:
    """Return which rows are ok, which are kept, and what "kept" means here.

    The rule of ``keep`` with nothing but its defaults, less what a person rejected.
    """
    import pandas as pd

    ok = pd.Series(data=True, index=pd.RangeIndex(columns.rows), dtype=bool)
    means = []
    if (status := columns.texts("status")) is not None:
        ok = (status == str(Status.OK)).fillna(value=False).astype(bool)
        means.append("status ok")
    kept = ok
    if (passed := columns.truths("checks_ok")) is not None:
        kept = kept & passed
        means.append("checks passed")
    if (decision := columns.texts("decision")) is not None:
        kept = kept & ~(decision == "reject").fillna(value=False).astype(bool)
        means.append("not rejected")
    if (leaders := columns.texts("duplicate_of")) is not None:
        kept = kept & ~_surplus(columns, leaders, kept)
        means.append("one of each group of duplicates")
    return ok, kept, means


def _surplus(
    columns: Columns, leaders: pd.Series[Any], alive: pd.Series[Any]
) -> pd.Series[Any]:
    """Return which of the rows still alive repeat another one that is alive.

    Where the record that was to stay fell out before, the first of its group stays.
    """
    import numpy as np
    import pandas as pd

    ids = columns.texts("record_id")
    names = leaders if ids is None else pd.concat([leaders, ids], ignore_index=True)
    # Numbers in place of names: `isin` over Arrow strings would take half a second.
    codes = pd.factorize(names)[0]
    group, own = codes[: len(leaders)], codes[len(leaders) :]
    marked = (alive & leaders.notna()).to_numpy()
    staying = (alive & leaders.isna()).to_numpy()
    standing = own[staying & (own >= 0)] if len(own) else own
    led = marked & np.isin(group, standing)
    orphans = pd.Series(group)[marked & ~led]
    repeated = orphans.duplicated().reindex(leaders.index, fill_value=False)
    return repeated | led


def _tally(columns: Columns, name: str) -> dict[str, Any] | None:
    texts = columns.texts(name)
    return None if texts is None else tally(texts)


def _duplicates(columns: Columns) -> dict[str, Any] | None:
    leaders = columns.texts("duplicate_of")
    if leaders is None:
        return None
    sizes = leaders.dropna().value_counts()
    return {
        "rows": int(sizes.sum()),
        "groups": len(sizes),
        "largest": int(sizes.max()) + 1 if len(sizes) else 0,
    }


def _shares(columns: Columns) -> dict[str, dict[str, int]]:
    """Return how many rows are repaired, adapted, grounded, of those that say so."""
    found = {}
    for name in _SHARES:
        column = columns.get(name)
        if column is None:
            continue
        there = column.notna()
        if name == "adapted":  # names what was sent differently; empty = nothing was
            yes, known = int((there & (column != "")).sum()), columns.rows
        else:
            truths = columns.truths(name)
            yes = 0 if truths is None else int((truths & there).sum())
            known = int(there.sum())
        found[name] = {"yes": yes, "known": known}
    return found


def _text_columns(columns: Columns) -> dict[str, pd.Series[Any]]:
    """Return the columns whose lengths are worth a picture: the recipe's fields."""
    import pandas as pd

    own = [
        name for name in columns.names
        if name not in _CONTRACT and not name.startswith(("checks_", "check_"))
    ]  # fmt: skip
    order = [*(n for n in _FIRST_TEXTS if n in own), *own]
    found: dict[str, pd.Series[Any]] = {}
    for name in dict.fromkeys(order):
        column = columns.get(name)
        if column is None or len(found) == _TEXTS:
            continue
        kinds = pd.api.types.infer_dtype(column, skipna=True)
        if kinds == "string" and (texts := columns.texts(name)) is not None:
            found[name] = texts
    return found


def _languages(texts: list[pd.Series[Any]]) -> dict[str, Any] | None:
    """Guess the languages of the first two text columns, taken together."""
    if not texts:
        return None
    import pandas as pd

    there = pd.concat([column.notna() for column in texts], axis=1).any(axis=1)
    places = there.to_numpy().nonzero()[0]
    step = -(-len(places) // _LANGUAGE_ROWS) or 1
    chosen = [column.iloc[places[::step]].fillna("") for column in texts]
    sample = ["\n".join(cells) for cells in zip(*chosen, strict=True)]
    counted = sorted(tally_languages(sample).items(), key=lambda pair: -pair[1])
    return {
        "of": len(places),
        "looked_at": len(sample),
        "values": [[name, n] for name, n in counted],
    }
