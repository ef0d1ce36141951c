"""Judge against human: figures checked against sums done by hand."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthnb.curation.agreement import (
    ACCEPT,
    REJECT,
    UNDECIDED,
    Agreement,
    agreement,
    best_threshold,
    compare,
    histogram,
    numbers,
    scale_of,
)
from synthnb.errors import FrameError


def arrays(rows):
    """Return ratings and decisions of ``(rating, "a" | "r" | "")`` pairs."""
    code = {"a": ACCEPT, "r": REJECT, "": UNDECIDED}
    ratings = np.array([math.nan if r is None else r for r, _ in rows], dtype=float)
    decisions = np.array([code[d] for _, d in rows], dtype=np.int8)
    return ratings, decisions, np.zeros(len(rows), dtype=bool)


def test_kappa_of_the_textbook_table():
    # 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no: 35 of 50 agree; by chance
    # (25 * 30 + 25 * 20) / 50² = 0.5, so kappa = (0.7 - 0.5) / (1 - 0.5) = 0.4.
    found = Agreement(5, tp=20, fp=5, fn=10, tn=15)
    assert found.agreement == pytest.approx(0.7)
    assert found.kappa == pytest.approx(0.4)
    assert found.precision == pytest.approx(20 / 25)
    assert found.recall == pytest.approx(20 / 30)
    assert found.decided == 50


@pytest.mark.parametrize(
    ("counts", "kappa"),
    [
        ((7, 0, 0, 3), 1.0),
        ((0, 5, 5, 0), -1.0),
        # 45 + 15 of 100 agree; chance (60 * 70 + 40 * 30) / 100² = 0.54
        ((45, 15, 25, 15), (0.60 - 0.54) / 0.46),
        # 25 + 35 of 100; chance (60 * 30 + 40 * 70) / 100² = 0.46
        ((25, 35, 5, 35), (0.60 - 0.46) / 0.54),
        ((3, 0, 4, 0), 0.0),  # the person accepts all, the judge some: no better
        ((9, 0, 0, 0), None),
        ((0, 0, 0, 4), None),
        ((0, 0, 0, 0), None),
    ],
)
def test_kappa_and_where_it_is_undefined(counts, kappa):
    found = Agreement(5, *counts).kappa
    assert found == (None if kappa is None else pytest.approx(kappa))


def test_shares_of_nothing_are_undefined():
    nothing = Agreement(5, 0, 0, 0, 0)
    assert (nothing.agreement, nothing.precision, nothing.recall) == (None, None, None)
    assert Agreement(5, 0, 0, 2, 3).precision is None
    assert Agreement(5, 0, 2, 0, 3).recall is None
    assert "no rated row" in repr(nothing)
    assert "agrees 70%, kappa 0.40" in repr(Agreement(5, 20, 5, 10, 15))
    assert "precision -" in repr(Agreement(5, 0, 0, 2, 3))


def test_who_is_counted_and_who_is_left_out():
    ratings, decisions, edited = arrays(
        [
            (8, "a"),
            (8, "r"),
            (3, "a"),
            (3, "r"),
            (6, "a"),
            (8, ""),
            (None, "a"),
            (9, "a"),
        ]
    )
    edited[7] = True
    assert compare(ratings, decisions, edited, 6) == Agreement(
        6, tp=2, fp=1, fn=1, tn=1, edited=1, undecided=1, unrated=1
    )


def test_the_best_threshold_is_the_one_with_the_best_kappa():
    rows = [
        (2, "r"),
        (3, "r"),
        (4, "a"),
        (5, "r"),
        (6, "a"),
        (7, ""),
        (8, "a"),
        (9, "a"),
    ]
    assert best_threshold(*arrays(rows)) == 6.0
    # Accepting from 4 or from 6 up is one mistake each, and kappa says which is worse.
    tried = {t: compare(*arrays(rows), t).kappa for t in (4, 5, 6, 8)}
    assert max(tried, key=tried.get) == 6


@pytest.mark.parametrize(
    "rows",
    [[], [(5, "")], [(5, "a"), (7, "a")], [(9, "r"), (2, "a")], [(None, "a")]],
)
def test_there_may_be_no_threshold_that_beats_chance(rows):
    assert best_threshold(*arrays(rows)) is None


pairs = st.tuples(
    st.one_of(st.none(), st.integers(1, 10), st.floats(0, 1)),
    st.sampled_from(["a", "r", ""]),
)


@settings(deadline=None)
@given(st.lists(pairs, max_size=30))
def test_no_other_threshold_is_better(rows):
    ratings, decisions, edited = arrays(rows)
    best = best_threshold(ratings, decisions, edited)
    kappas = [
        compare(ratings, decisions, edited, r).kappa for r, _ in rows if r is not None
    ]
    most = max((k for k in kappas if k is not None), default=0.0)
    if best is None:
        assert most <= 0
    else:
        assert compare(ratings, decisions, edited, best).kappa == most


@settings(deadline=None)
@given(st.lists(pairs, max_size=30))
def test_the_bars_hold_every_rated_row_once(rows):
    ratings, decisions, _ = arrays(rows)
    bars = histogram(ratings, decisions)
    assert len(bars) <= 20
    assert sum(bar.n for bar in bars) == (~np.isnan(ratings)).sum()
    for bar in bars:
        last = bar is bars[-1] or bar.low == bar.high
        inside = (ratings >= bar.low - 1e-6) & (
            (ratings <= bar.high + 1e-6) if last else (ratings < bar.high + 1e-6)
        )
        assert bar.n <= inside.sum()
        assert bar.accepted + bar.rejected <= bar.n


def test_whole_ratings_get_one_bar_each():
    ratings, decisions, _ = arrays([(1, "r"), (10, "a"), (10, ""), (4, "a")])
    bars = histogram(ratings, decisions)
    assert [(bar.low, bar.high) for bar in bars] == [(n, n) for n in range(1, 11)]
    assert bars[9] == (10, 10, 2, 1, 0)
    assert bars[0] == (1, 1, 1, 0, 1)


def test_other_ratings_get_nice_bars():
    ratings, decisions, _ = arrays([(0.3, "a"), (0.95, "a"), (1.0, "r")])
    bars = histogram(ratings, decisions)
    assert len(bars) == 20
    assert bars[6] == (0.3, 0.35, 1, 1, 0)  # 0.3 / 0.05 is 5.999… in floats
    assert bars[19] == (0.95, 1.0, 2, 1, 1)
    assert len(histogram(*arrays([(1, ""), (2.5, ""), (10, "")])[:2])) == 18


def test_a_scale_that_is_known_is_shown_and_widened_if_it_must_be():
    ratings, decisions, _ = arrays([(2, ""), (4, "")])
    assert [b.low for b in histogram(ratings, decisions, (2, 6))] == [2, 3, 4, 5, 6]
    assert [b.low for b in histogram(ratings, decisions, (3, 4))] == [2, 3, 4]


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ([], None),
        ([None], None),
        ([0.2, 0.9], (0, 1)),
        ([1, 4], (1, 5)),
        ([3, 7.5], (1, 10)),
        ([0, 7], (0, 10)),
        ([55], (0, 100)),
        ([-3.5, 120], (-4, 120)),
    ],
)
def test_the_scale_is_a_usual_one_that_holds_the_ratings(values, scale):
    assert scale_of(arrays([(v, "") for v in values])[0]) == scale


def test_what_is_no_finite_number_is_no_rating():
    found = numbers(pd.Series(["7", None, "good", float("inf"), 3], dtype=object))
    assert found.tolist()[0] == 7
    assert np.isnan(found[1:4]).all()
    assert found[4] == 3
    assert np.isnan(numbers(pd.Series([None, 2.0], dtype="Float64"))).tolist() == [
        True,
        False,
    ]


def test_dates_are_no_ratings_and_huge_numbers_stop_nothing():
    assert np.isnan(numbers(pd.Series(pd.to_datetime(["2026-01-02"])))).all()
    found = numbers(pd.Series([10**400, [1], 3], dtype=object))
    assert np.isnan(found).tolist() == [True, True, False]


def test_a_frame_is_compared_and_edited_rows_are_apart():
    df = pd.DataFrame(
        {
            "rating": pd.array([9, 8, 2, 3, 9, None], dtype="Float64"),
            "decision": ["accept", "accept", "reject", "reject", "accept", "accept"],
            "edited": [None, None, None, None, "answer", None],
        }
    )
    assert agreement(df, 9) == Agreement(9, 1, 0, 1, 2, edited=1, unrated=1)
    assert agreement(df).threshold == 8
    assert agreement(df).kappa == 1
    assert agreement(df.assign(decision=None)).threshold == 8  # the ratings' median
    with pytest.raises(FrameError, match="'decision'"):
        agreement(df[["rating"]])
