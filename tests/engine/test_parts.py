"""The small parts: ids, retry, gate, counters."""

from __future__ import annotations

import asyncio
import tracemalloc
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthnb.config import Retry
from synthnb.engine.gate import Gate, StopDispatchError
from synthnb.engine.jobs import iterate_jobs
from synthnb.engine.occurrences import Occurrences
from synthnb.engine.progress import Progress, State, clock
from synthnb.engine.retry import next_wait
from synthnb.engine.troubles import group
from synthnb.errors import (
    AuthError,
    FrameError,
    RateLimitError,
    ServerError,
    SynthnbError,
)

cells = st.none() | st.booleans() | st.integers() | st.text()
tables = st.lists(st.dictionaries(st.text(), cells, max_size=3), max_size=8)


class TestJobs:
    @given(tables, st.integers(1, 3))
    def test_ids_are_unique_and_stable(self, rows, samples):
        jobs = list(iterate_jobs(rows, samples=samples, id_column=None))
        assert jobs == list(iterate_jobs(rows, samples=samples, id_column=None))
        assert len({(j.row_id, j.sample_index) for j in jobs}) == len(rows) * samples

    def test_an_id_column_is_used_and_must_be_filled(self):
        rows = [{"id": 7, "text": "a"}, {"id": 7, "text": "b"}, {"id": None}]
        jobs = iterate_jobs(rows, samples=1, id_column="id")
        assert [next(jobs).row_id, next(jobs).row_id] == ["7", "7#1"]
        with pytest.raises(FrameError, match="no value in the id column 'id'"):
            next(jobs)

    def test_records_and_chunks_keep_their_ids(self):
        rows = [{"record_id": "r", "chunk_id": "c"}, {"chunk_id": "c"}, {"chunk_id": 0}]
        jobs = list(iterate_jobs(rows, samples=1, id_column=None))
        assert [job.row_id for job in jobs] == ["r", "c", "0"]


class TestOccurrences:
    @given(st.lists(st.sampled_from("abcdefgh") | st.text(max_size=2)))
    def test_it_counts_like_a_counter(self, keys):
        seen, plain = Occurrences(), Counter()
        for key in keys:
            assert seen.count(key) == plain[key]
            plain[key] += 1

    def test_many_ids_cost_few_bytes_each(self):
        tracemalloc.start()
        try:
            seen = Occurrences()
            assert sum(seen.count(f"row {n}") for n in range(200_000)) == 0
            used, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert used / 200_000 < 12


class TestRetry:
    policy = Retry(max_attempts=3, base_seconds=1, max_seconds=5)

    def test_a_final_error_is_not_tried_again(self):
        assert next_wait(AuthError("no"), 1, self.policy) is None

    def test_the_last_attempt_ends_it(self):
        assert next_wait(ServerError("x"), 2, self.policy) is not None
        assert next_wait(ServerError("x"), 3, self.policy) is None

    @given(st.integers(1, 50))
    def test_waits_grow_and_are_bounded(self, failures):
        policy = Retry(max_attempts=99, base_seconds=1, max_seconds=5)
        wait = next_wait(ServerError("x"), failures, policy)
        assert 0 <= wait <= min(5, 2 ** (failures - 1))

    @given(st.floats(0, 600))
    def test_retry_after_is_a_lower_bound(self, seconds):
        error = RateLimitError("slow", retry_after=seconds)
        wait = next_wait(error, 1, self.policy)
        assert seconds <= wait <= seconds * 1.1 + 1e-9


class TestGate:
    async def test_an_open_gate_does_not_wait(self):
        await asyncio.wait_for(Gate().wait(), 5)

    async def test_stop_wakes_who_waits(self):
        gate = Gate()
        gate.pause()
        waiting = asyncio.ensure_future(gate.wait())
        await asyncio.sleep(0)
        gate.stop()
        with pytest.raises(StopDispatchError):
            await waiting

    async def test_many_wait_and_all_go_on(self):
        gate = Gate()
        gate.pause()
        waiting = [asyncio.ensure_future(gate.wait()) for _ in range(50)]
        await asyncio.sleep(0)
        gate.resume()
        await asyncio.wait_for(asyncio.gather(*waiting), 1)

    async def test_a_hold_is_never_shortened(self):
        gate = Gate()
        gate.hold(10)
        gate.hold(0.01)
        assert gate.held_for() > 9

    async def test_disk_trouble_holds_until_it_is_over(self):
        gate = Gate()
        gate.set_disk_trouble(waiting=True)
        waiting = asyncio.ensure_future(gate.wait())
        await asyncio.sleep(0.01)
        assert not waiting.done()
        gate.set_disk_trouble(waiting=False)
        await asyncio.wait_for(waiting, 1)


class TestProgress:
    def test_the_line_tells_all(self):
        progress = Progress(wanted=1500, resumed=3, requests=10, retries=2)
        progress.by_status.update({"ok": 1000, "timeout": 2})
        progress.note = "waiting: no space left"
        line = progress.line(State.RUNNING)
        for part in ("1,002 of 1,500", "1,000 ok", "2 timeout", "3 answers from the",
                     "2 retries", "left", "no space left"):  # fmt: skip
            assert part in line
        assert "left" not in Progress(wanted=5).line(State.DONE)

    def test_an_unknown_total_has_no_eta(self):
        progress = Progress(requests=5)
        progress.by_status["ok"] = 5
        assert progress.eta() is None
        assert "of ? rows" in progress.line(State.RUNNING)

    @pytest.mark.parametrize(
        ("seconds", "text"), [(0, "0:00"), (61.9, "1:01"), (3725, "1:02:05")]
    )
    def test_clock(self, seconds, text):
        assert clock(seconds) == text


def test_troubles_are_grouped_with_an_example_and_the_next_step():
    records = [
        {"status": "ok", "row_id": "a"},
        {"status": "timeout", "row_id": "b", "detail": "10 s"},
        {"status": "context", "row_id": "c", "detail": "too long"},
        {"status": "context", "row_id": "d", "detail": "too long too"},
    ]
    found = group(records)
    assert [(t.status, t.count, t.row_id) for t in found] == [
        ("context", 2, "c"),
        ("timeout", 1, "b"),
    ]
    assert repr(found).startswith("2 context: too long (e.g. row c)\n  → Use smaller")
    assert repr(group([])) == "no failed rows"


def test_errors_carry_their_next_step():
    assert str(SynthnbError("it broke", hint="mend it")) == "it broke\n  → mend it"
    assert str(SynthnbError("it broke")) == "it broke"
