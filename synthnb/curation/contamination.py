"""Rows that repeat a benchmark: training on them makes its score worthless."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from synthnb.curation.words import words
from synthnb.errors import ConfigError
from synthnb.frames import require, rows_of, typed

if TYPE_CHECKING:
    import pandas as pd

_LONG, _SHORT = 13, 8
_SHARE = 0.7


def contamination(
    df: pd.DataFrame,
    benchmarks: Mapping[str, Iterable[str]],
    *,
    on: Sequence[str] = ("question", "answer"),
) -> pd.DataFrame:
    """Return ``df`` with rows marked that repeat a benchmark's text; none is dropped.

    A row is contaminated where thirteen words running stand in a benchmark as well, the
    measure of GPT-3 (Brown et al. 2020, appendix C), or at least 70 % of its runs of
    eight words do, that of PaLM (Chowdhery et al. 2022, section 8), which sees shorter
    texts. Words are compared without case and punctuation. A text of fewer than eight
    words is contaminated where a benchmark has it whole.

    ::

        test = pd.read_json("gsm8k_test.jsonl", lines=True)
        df = sn.contamination(df, {"gsm8k": test["question"]})
        df = df[~df["contaminated"]]

    Args:
        df: records.
        benchmarks: name → its texts: questions, answers, or both.
        on: columns that are looked at, those of them that the frame has.

    Returns:
        A new frame with ``contaminated``, ``contaminated_by`` (the name, the words that
        were found) and ``overlap`` (the largest share of runs of eight words).
        ``attrs["contamination"]`` holds the number of marked rows by benchmark.

    Raises:
        ConfigError: no benchmark, or one without a text.
        FrameError: none of the columns is there.
    """
    columns = [name for name in on if name in df.columns]
    require(df, columns or list(on), "contamination")
    known = {name: _Runs(texts, name) for name, texts in benchmarks.items()}
    if not known:
        raise ConfigError("no benchmark was given", hint='{"gsm8k": test["question"]}')
    marks, by, shares = [], [], []
    counts = dict.fromkeys(known, 0)
    for row in rows_of(df[columns]):
        texts = [str(row[name]) for name in columns if row[name] is not None]
        found = [
            (runs.look(text), name) for name, runs in known.items() for text in texts
        ]
        shares.append(max((look.share for look, _ in found), default=0.0))
        hits = [(look, name) for look, name in found if look.words]
        marks.append(bool(hits))
        by.append(
            "; ".join(dict.fromkeys(f"{n}: {look.words}" for look, n in hits)) or None
        )
        for name in {name for _, name in hits}:
            counts[name] += 1
    marked = df.copy()
    marked["contaminated"] = typed(marks, "boolean")
    marked["contaminated_by"] = typed(by, "string")
    marked["overlap"] = typed(shares, "Float64")
    marked.attrs = dict(df.attrs) | {"contamination": counts}
    return marked


class _Look(NamedTuple):
    """What of a text stands in a benchmark: the words found, where they are too many."""

    words: str
    share: float


class _Runs:
    """The runs of words of one benchmark, as 64-bit hashes: eight bytes and a slot each."""

    def __init__(self, texts: Iterable[Any], name: str) -> None:
        self._long: set[int] = set()
        self._short: set[int] = set()
        self._whole: set[int] = set()
        number = 0
        for text in texts:
            if not isinstance(text, str):
                continue  # an empty cell
            number += 1
            found = words(text)
            self._long.update(map(hash, _runs(found, _LONG)))
            self._short.update(map(hash, _runs(found, _SHORT)))
            if found and len(found) < _SHORT:
                self._whole.add(hash(found))
        if not number:
            raise ConfigError(
                f"the benchmark {name!r} has no text",
                hint="Give a column of its texts.",
            )

    def look(self, text: str) -> _Look:
        found = words(text)
        if len(found) < _SHORT:
            is_whole = bool(found) and hash(found) in self._whole
            return _Look(" ".join(found) if is_whole else "", float(is_whole))
        short = list(_runs(found, _SHORT))
        known = [hash(run) in self._short for run in short]
        share = sum(known) / len(known)
        for run in _runs(found, _LONG):
            if hash(run) in self._long:
                return _Look(" ".join(run), share)
        shown = " ".join(short[known.index(True)]) if share >= _SHARE else ""
        return _Look(shown, share)


def _runs(found: tuple[str, ...], length: int) -> Iterator[tuple[str, ...]]:
    return (found[at : at + length] for at in range(len(found) - length + 1))
