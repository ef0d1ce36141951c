"""The monitor's curves and paces: bounded memory, no answer lost, no made-up peaks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthnb.widgets.monitor_curves import curves, polyline
from synthnb.widgets.monitor_series import Pace, Series

spans = st.floats(0, 5_000, allow_nan=False)
looks = st.lists(st.tuples(spans, st.integers(0, 500), st.integers(0, 64)), max_size=80)


class TestSeries:
    @given(looks, st.floats(0, 1e7), st.integers(2, 60))
    def test_no_answer_is_lost_and_the_memory_is_bounded(self, looks, start, most):
        series, now, total = Series(start, most=most), start, 0
        for span, answers, flight in looks:
            now += span
            total += answers
            series.add(now, answers, flight)
            points = series.points()
            assert len(points["rate"]) == len(points["flight"]) <= most
            assert now - start <= most * series.step * (1 + 1e-9)
        assert series.total == pytest.approx(total, abs=1e-6)

    @given(looks)
    def test_what_is_in_flight_is_never_more_than_was_seen(self, looks):
        series, now = Series(0.0), 0.0
        for span, answers, flight in looks:
            now += span
            series.add(now, answers, flight)
        seen = max((flight for _, _, flight in looks), default=0)
        for value in series.points(ended=True)["flight"]:
            assert 0 <= value <= seen * 1.01

    def test_a_steady_run_is_a_straight_line_however_long_it_is(self):
        series = Series(0.0)
        for quarter in range(1, 4 * 3600 + 1):
            series.add(quarter / 4, 3, 8)
        points = series.points()
        assert 30 <= len(points["rate"]) <= 60
        assert set(points["rate"]) == {12.0}
        assert set(points["flight"]) == {8.0}
        assert series.step == 64

    def test_a_late_look_is_no_peak(self):
        series = Series(0.0)
        for second in range(1, 6):
            series.add(second, 10, 4)
        series.add(15, 100, 4)  # the loop stood still for ten seconds
        assert set(series.points()["rate"]) == {10.0}

    def test_the_step_that_has_begun_is_left_out_until_the_end(self):
        series = Series(0.0)
        series.add(0.5, 5, 1)
        assert series.points()["rate"] == [10.0]
        series.add(2.5, 10, 1)
        assert series.points()["rate"] == [7.5, 5.0]
        assert series.points(ended=True)["rate"] == [7.5, 5.0, 5.0]

    def test_answers_without_time_between_are_kept(self):
        series = Series(5.0)
        series.add(5.0, 3, 1)
        series.add(4.0, 4, 1)
        assert series.total == 7


class TestPace:
    def test_it_looks_back_some_seconds(self):
        pace = Pace(0, seconds=10, least=0)
        for second in range(1, 101):
            pace.add(second, second * (1 if second <= 50 else 5))
        assert pace.rate(100) == pytest.approx(5, rel=0.05)

    def test_it_looks_further_back_where_little_came(self):
        pace = Pace(0, seconds=10, least=20)
        for minute in range(1, 31):
            pace.add(minute * 60, minute)
        assert pace.rate(1800) == pytest.approx(1 / 60, rel=0.05)

    def test_it_falls_while_nothing_comes(self):
        pace = Pace(0, seconds=10, least=1)
        pace.add(10, 100)
        assert pace.rate(10) == 10
        assert pace.rate(100) == 1

    def test_between_bursts_the_time_left_runs_down(self):
        pace = Pace(0, seconds=60, least=20)
        for burst in range(1, 6):
            pace.add(burst * 4, burst * 8)
        assert pace.left(20, 40) == pytest.approx(20)
        assert pace.left(23, 40) == pytest.approx(17)

    def test_a_stall_makes_the_time_left_grow(self):
        pace = Pace(0, seconds=60, least=20)
        pace.add(10, 100)
        assert pace.left(10, 100) == pytest.approx(10)
        assert pace.left(40, 100) == pytest.approx(40)

    def test_a_pause_is_no_slowness(self):
        pace = Pace(0, seconds=60, least=1)
        pace.add(10, 100)
        pace.restart(1000, 100)
        assert pace.left(1001, 50) is None
        pace.add(1010, 200)
        assert pace.left(1010, 50) == pytest.approx(5)

    @given(st.lists(st.tuples(st.floats(0.01, 100), st.integers(0, 50))))
    def test_nothing_is_negative_and_the_memory_is_bounded(self, steps):
        pace, now, count = Pace(0, seconds=60, least=20), 0.0, 0
        for span, more in steps:
            now, count = now + span, count + more
            pace.add(now, count)
            assert pace.rate(now) >= 0
            left = pace.left(now, 10)
            assert left is None or left >= 0
        assert len(pace._marks) <= len([m for _, m in steps if m]) + 1


class TestCurves:
    @given(st.lists(st.floats(0, 1e6, allow_nan=False), max_size=60))
    def test_a_curve_stays_in_its_picture(self, values):
        pairs = [pair.split(",") for pair in polyline(values, 240, 32).split()]
        assert len(pairs) == (0 if not values else max(2, len(values)))
        for x, y in pairs:
            assert 0 <= float(x) <= 240
            assert 0 <= float(y) <= 32

    def test_the_same_in_words_for_those_who_cannot_see_it(self):
        series = {"step": 2.0, "rate": [1.0, 4.0, 2.0], "flight": [8.0, 8.0, 8.0]}
        rate, _ = curves(series)
        assert rate[2][1]["aria-label"] == "answers/s: 2, at most 4, over 0:06"
        assert rate[3][2] == "answers/s: 2, at most 4"
        empty, _ = curves({"step": 1.0, "rate": [], "flight": []})
        assert empty[3][2] == "answers/s: 0, at most 0"
