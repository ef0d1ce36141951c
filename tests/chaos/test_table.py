"""No row of the table of faults is without a test. Fast: reads names, runs nothing.

N = network, S = server, K = kernel, D = disk, U = user. A test's name begins with its
row (``test_n3_...``), or the row stands below with the tests that were there before.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
KINDS = {"N": 10, "S": 12, "K": 10, "D": 9, "U": 5}
ROWS = [f"{kind}{n}" for kind, most in KINDS.items() for n in range(1, most + 1)]

ELSEWHERE = {
    "K1": [
        "chaos/test_kill.py::test_nothing_is_lost_or_doubled_and_little_is_paid_twice"
    ],
    "K2": [
        "chaos/test_kernel_faults.py::test_one_interrupt_drains_and_the_cell_works_again",
        "chaos/test_kernel_faults.py::test_a_second_interrupt_drops_what_is_in_flight",
    ],
    "K3": [
        "chaos/test_kernel_faults.py::test_restart_and_run_all_attaches_and_buys_nothing_again",
    ],
    "K4": [
        "chaos/test_kernel_faults.py::test_a_second_kernel_is_refused_with_the_owners_pid",
    ],
    "K5": ["providers/test_watch.py::test_a_process_that_slept_blames_no_server"],
    "K8": [
        "engine/test_endings.py::test_a_recipe_that_holds_up_the_loop_is_named_once"
    ],
    "K9": ["engine/test_endings.py::test_a_recipe_that_returns_nonsense_costs_its_row"],
    "D1": ["chaos/test_disk.py::test_a_full_disk_waits_says_so_and_goes_on"],
    "D2": [
        "chaos/test_disk_errors.py::test_one_write_that_fails_loses_nothing",
    ],
    "D3": [
        "chaos/test_disk_errors.py::test_a_read_only_folder_costs_nothing_and_can_be_read",
    ],
    "D4": ["cli/test_tables.py::test_a_table_torn_at_any_byte_gives_its_whole_rows"],
    "D5": ["store/test_ledger.py::test_a_damaged_ledger_is_named_with_the_way_out"],
    "D7": ["export/test_atomic.py::test_a_kill_leaves_the_old_file_or_the_new_one"],
    "D8": [
        "store/test_files.py::test_a_network_home_gets_the_rollback_journal",
        "store/test_lease.py::test_on_a_network_home_a_second_host_is_refused",
    ],
    "D9": ["store/test_ledger.py::test_a_newer_ledger_opens_for_reading_only"],
}


@cache
def names_in(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text())
    functions = ast.FunctionDef | ast.AsyncFunctionDef
    return frozenset(n.name for n in ast.walk(tree) if isinstance(n, functions))


@cache
def named_by_row() -> dict[str, list[str]]:
    """Return row → the tests of this folder whose names begin with it."""
    found = defaultdict(list)
    for path in sorted(Path(__file__).parent.glob("test_*.py")):
        for name in names_in(path):
            # test_n4_n6_... stands for both.
            for word in name.removeprefix("test_").split("_"):
                if word.upper() not in ROWS:
                    break
                found[word.upper()].append(f"{path.name}::{name}")
    return found


def places_of(row: str) -> list[str]:
    return named_by_row()[row] + ELSEWHERE.get(row, [])


@pytest.mark.parametrize("row", ROWS)
def test_each_row_has_a_test(row):
    assert places_of(row)


@pytest.mark.parametrize("row", sorted(ELSEWHERE))
def test_what_is_named_here_is_there(row):
    for place in ELSEWHERE[row]:
        path, _, name = place.partition("::")
        assert name in names_in(TESTS / path), f"{place} was renamed: say so here"


def test_a_name_that_only_looks_like_a_row_is_none():
    assert "test_each_row_has_a_test" not in str(dict(named_by_row()))
    assert named_by_row()["N4"] == named_by_row()["N6"] != []
