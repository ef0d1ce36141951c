"""Which requests a fault picks, without any server."""

from __future__ import annotations

import pytest

from synthnb.testing import Fault
from synthnb.testing.faults import FaultScript


def fired(script, count=100, prompt="p", raw=b"{}"):
    return [n for n in range(1, count + 1) if script.match(n, raw, prompt)]


def test_an_empty_script_does_nothing():
    assert fired(FaultScript.of([], 0)) == []


def test_by_number():
    script = FaultScript.of([Fault(500, numbers=range(3, 6))], 0)
    assert fired(script, 10) == [3, 4, 5]


def test_by_part_of_the_body():
    script = FaultScript.of([Fault(400, contains="#R17#")], 0)
    assert script.match(1, b'{"x": "#R1#"}', "p") is None
    assert script.match(2, b'{"x": "a #R17# b"}', "p") == Fault(400, contains="#R17#")


def test_a_rate_is_kept_and_repeats_with_its_seed():
    first = fired(FaultScript.of([Fault(503, rate=0.2)], 5), 2000)
    again = fired(FaultScript.of([Fault(503, rate=0.2)], 5), 2000)
    other = fired(FaultScript.of([Fault(503, rate=0.2)], 6), 2000)
    assert 340 < len(first) < 460
    assert first == again
    assert first != other


def test_rate_of_one_request_does_not_depend_on_rules_before_it():
    alone = fired(FaultScript.of([Fault(1, numbers=[]), Fault(503, rate=0.2)], 5))
    beside = fired(FaultScript.of([Fault(1, contains="no"), Fault(503, rate=0.2)], 5))
    assert alone == beside


def test_at_most_so_often():
    assert fired(FaultScript.of([Fault(500, times=2)], 0)) == [1, 2]


def test_at_most_so_often_for_each_prompt():
    script = FaultScript.of([Fault(500, per_prompt=1)], 0)
    outcomes = [script.match(n, b"", prompt) for n, prompt in enumerate("abab", 1)]
    assert [fault is not None for fault in outcomes] == [True, True, False, False]


def test_the_first_rule_that_fits_wins():
    script = FaultScript.of([Fault(500, numbers=[2]), Fault("reset")], 0)
    names = [script.match(n, b"", "p").name for n in (1, 2, 3)]
    assert names == ["reset", "500", "reset"]


def test_all_conditions_must_hold():
    script = FaultScript.of([Fault(500, numbers=[1, 2], contains="x")], 0)
    assert [bool(script.match(n, raw, "p")) for n, raw in ((1, b""), (2, b"x"))] == [
        False,
        True,
    ]


def test_a_misspelt_fault_is_refused():
    with pytest.raises(ValueError, match="half_body"):
        Fault("halfbody")
