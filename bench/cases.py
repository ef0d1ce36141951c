"""What ``make bench`` measures: one ``Case`` a table, one ``Measure`` a row of it."""

from __future__ import annotations

from dataclasses import dataclass

from draws import Work

_AT_ONCE = Work()


@dataclass(frozen=True)
class Measure:
    """A row of a table."""

    label: str
    measurement: str
    """Its name in ``measure.py``."""
    fixed: bool = False
    part: float = 1
    """Share of the case's n: slow ones need not do all of it."""
    exact: bool = True
    """Whether a wrong or missing answer makes the benchmark fail."""


@dataclass(frozen=True)
class Column:
    """A column of a table; with ``ratio`` one of ratios to the first row follows."""

    head: str
    key: str
    form: str = ".2f"
    ratio: bool = False


@dataclass(frozen=True)
class Case:
    """A table: what is measured, over how much, against which server behaviour."""

    name: str
    title: str
    measures: tuple[Measure, ...]
    columns: tuple[Column, ...]
    n: int
    quick: int
    full: int = 0
    """n of ``--full``; 0: as always."""
    work: Work | None = _AT_ONCE
    """How the server behaves; ``None`` where none is needed."""
    c: int = 64
    timeout: float = 60
    rounds: int = 3
    how: str = "plain"
    """``plain``, ``kill`` or ``resume``: see ``rounds.py``."""
    unit: str = "requests"


_RAW = Measure("raw aiohttp", "aiohttp")
_RUN = Measure("synthnb, all of it", "run")
_FIXED = Measure("synthnb, adaptive=False", "run", fixed=True)
_COST = (
    Column("CPU ms a request", "cpu_ms", ".3f", ratio=True),
    Column("loop ms a request", "loop_ms", ".3f", ratio=True),
    Column("requests/s", "per_second", ",.0f", ratio=True),
)
_BEST = (
    Column("seconds", "wall"),
    Column("best possible seconds", "bound"),
    Column("best / seconds", "of_bound", ".3f", ratio=True),
    Column("CPU ms a request", "cpu_ms", ".3f"),
)
_TAIL = Work(dist="ln", lat=200, sigma=1.43, cap=4000)
"""Mean 200 ms, a hundredth of the answers takes two seconds and more."""
_SPREAD = Work(dist="ln", lat=100, sigma=0.8, cap=1000)
"""Answers that come one by one; with one latency for all they would come in waves."""

CASES = (
    Case(
        "A64",
        "what a request costs: latency 0, 64 at a time",
        (
            _RAW,
            Measure("synthnb, its client alone", "client"),
            _FIXED,
            _RUN,
            Measure("openai, default client", "openai", part=0.2),
        ),
        _COST,
        n=5000,
        quick=300,
    ),
    Case(
        "B",
        "every answer after 200 ms, 100 at a time",
        (_RAW, _RUN, _FIXED),
        _BEST,
        n=2000,
        quick=200,
        work=Work(lat=200),
        c=100,
    ),
    Case(
        "C",
        "a heavy tail: mean 200 ms, one in a hundred over 2 s, 64 at a time",
        (_RAW, _RUN, _FIXED),
        _BEST,
        n=2000,
        quick=128,
        work=_TAIL,
    ),
    Case(
        "D",
        "faults: 5 % 429, 2 % 500, 1 % resets, 0.5 % never answered (time-out 5 s)",
        (_RAW, _RUN, _FIXED),
        (
            Column("rows lost", "lost", ".0f"),
            Column("requests sent", "sent", ".0f"),
            Column("seconds", "wall", ".2f", ratio=True),
        ),
        n=1000,
        quick=60,
        work=Work(lat=50, e429=0.05, e500=0.02, ereset=0.01, ehang=0.005),
        timeout=5,
    ),
    Case(
        "E",
        "kill -9 at half, then started again",
        (Measure("synthnb, all of it", "resumable"),),
        (
            Column("answered before the kill", "delivered", ".0f"),
            Column("of these sent again", "resent", ".0f"),
            Column("rows lost", "lost", ".0f"),
        ),
        n=2000,
        quick=200,
        work=_SPREAD,
        how="kill",
    ),
    Case(
        "F",
        "rows from an iterator",
        (Measure("synthnb, all of it", "iterator"),),
        (
            Column("MB at the start", "rss_start_mb", ".0f"),
            Column("growth in MB", "rss_growth_mb", ".1f"),
            Column("first tenth, rows/s", "first_per_second", ",.0f"),
            Column("last tenth, rows/s", "last_per_second", ",.0f"),
            Column("last / first", "last_to_first"),
        ),
        n=100_000,
        quick=2000,
        full=1_000_000,
        rounds=1,
        unit="rows",
    ),
    Case(
        "ledger",
        "rows through the ledger at full speed, on this disk",
        (
            Measure("sqlite3 executemany, 256 a commit", "executemany"),
            Measure("synthnb's ledger", "committed"),
        ),
        (
            Column("rows/s committed", "per_second", ",.0f", ratio=True),
            Column("CPU ms a row", "cpu_ms", ".4f", ratio=True),
            Column("loop ms a row", "loop_ms", ".4f", ratio=True),
        ),
        n=100_000,
        quick=1000,
        work=None,
        unit="rows",
    ),
    Case(
        "commit",
        "from an answer's hand-over until it is on disk, 250 answers a second",
        (Measure("synthnb's ledger", "commit"),),
        (
            Column("p50 ms", "commit_p50_ms"),
            Column("p99 ms", "commit_p99_ms"),
            Column("max ms", "commit_max_ms"),
        ),
        n=1500,
        quick=100,
        work=None,
        unit="answers",
    ),
    *(
        Case(
            name,
            f"how late the event loop is at full speed, answers of {size:,} characters",
            (Measure("synthnb, all of it, a listener", "lag"),),
            (
                Column("p50 ms", "lag_p50_ms"),
                Column("p99 ms", "lag_p99_ms"),
                Column("max ms", "lag_max_ms"),
                Column("requests/s", "per_second", ",.0f"),
            ),
            n=n,
            quick=300,
            work=Work(bytes=size),
        )
        for name, size, n in (("lag", 400, 20_000), ("lag-large", 20_000, 10_000))
    ),
    Case(
        "resume",
        "the same run again over a ledger that has every answer",
        (Measure("synthnb, all of it", "resume"),),
        (
            Column("ledger MB", "ledger_mb", ".0f"),
            Column("seconds", "wall", ".1f"),
            Column("rows/s", "per_second", ",.0f"),
            Column("growth in MB", "rss_growth_mb", ".1f"),
            Column("requests sent", "requests", ".0f"),
        ),
        n=1_000_000,
        quick=2000,
        rounds=1,
        how="resume",
        unit="rows",
    ),
    Case(
        "dedup",
        "near-duplicates among questions; datasketch on a tenth",
        (
            Measure("datasketch, a tenth", "datasketch", part=0.1, exact=False),
            Measure("synthnb, a tenth", "deduplicate", part=0.1),
            Measure("synthnb", "deduplicate"),
        ),
        (
            Column("rows", "n", ",.0f"),
            Column("seconds", "wall"),
            Column("rows/s", "per_second", ",.0f", ratio=True),
            Column("planted", "planted", ",.0f"),
            Column("found", "found", ",.0f"),
        ),
        n=100_000,
        quick=1000,
        work=None,
        rounds=1,
        unit="rows",
    ),
)
