"""The cache as a run uses it: what may come from it, batched, off the loop."""

from __future__ import annotations

import asyncio
import threading

import pytest

from synthnb.engine.reuse import Reuse, is_repeatable
from synthnb.fingerprint import request_key
from synthnb.records import Message, Request, Sampling
from synthnb.store import SlotRow, StoredResult
from synthnb.store.cache import AnswerCache, Place


def ask(text, **sampling):
    return Request((Message("user", text),), Sampling(**sampling))


def slot(request, sample=0):
    key = request_key("m", request)
    return SlotRow(1, "row", "echo", sample, 0, key, 1, 0)


class Spy(AnswerCache):
    """Counts visits, and the threads that they came from."""

    def __init__(self, path):
        super().__init__(path)
        self.visits, self.threads = [], set()

    def find(self, places):
        self.visits.append(len(places))
        self.threads.add(threading.current_thread())
        return super().find(places)

    def put(self, answers):
        self.threads.add(threading.current_thread())
        super().put(answers)


@pytest.fixture
def reuse(tmp_path):
    notes = []

    def make(*, every=False, cache=None):
        made = Reuse(
            cache or Spy(tmp_path / "cache.sqlite"), every=every, note=notes.append
        )
        made.notes = notes
        return made

    return make


@pytest.mark.parametrize(
    ("sampling", "repeatable"),
    [
        ({}, False),
        ({"temperature": 0.7}, False),
        ({"temperature": 0}, True),
        ({"temperature": 0.0}, True),
        ({"seed": 0}, True),
        ({"temperature": 1.0, "seed": 4}, True),
    ],
)
def test_by_default_only_what_a_model_would_repeat(reuse, sampling, repeatable):
    request = ask("x", **sampling)
    assert is_repeatable(request) is repeatable
    assert (reuse().place(slot(request), request) is not None) is repeatable
    assert reuse(every=True).place(slot(request), request) is not None


def test_equal_requests_of_one_run_have_places_of_their_own(reuse):
    one, request = reuse(every=True), ask("x")
    places = [one.place(slot(request, sample), request) for sample in (0, 0, 1, 0, 1)]
    assert [(p.sample_index, p.copy) for p in places] == [
        (0, 0),
        (0, 1),
        (1, 0),
        (0, 2),
        (1, 1),
    ]
    assert [reuse().place(slot(ask("x", seed=1)), ask("x", seed=1)).copy] == [0]


async def filled(reuse, number):
    one = reuse(every=True)
    places = [one.place(slot(ask(f"{n}")), ask(f"{n}")) for n in range(number)]
    for n, place in enumerate(places):
        one.keep(place, StoredResult("ok", "", f"answer {n}"))
    await one.aclose()
    return places


async def test_what_one_run_kept_another_finds_in_few_visits_off_the_loop(reuse):
    places = await filled(reuse, 100)
    cache = Spy(reuse()._cache.path)
    two = reuse(cache=cache)
    found = await asyncio.gather(*(two.find(place) for place in places))
    assert [f.text for f in found] == [f"answer {n}" for n in range(100)]
    assert {f.adapted for f in found} == {"cached"}
    assert cache.visits == [100]
    assert await two.find(Place("0" * 32, 0)) is None
    await two.aclose()
    assert threading.main_thread() not in cache.threads
    assert two.notes == []


async def test_an_empty_cache_is_asked_once(reuse):
    one = reuse()
    assert await one.find(Place("0" * 32, 0)) is None
    for n in range(5):
        assert await one.find(Place(f"{n:032x}", 0)) is None
    assert one._cache.visits == [1]
    await one.aclose()


async def test_a_damaged_file_is_told_once_and_nobody_waits(reuse, tmp_path):
    (tmp_path / "cache.sqlite").write_bytes(b"nonsense" * 1000)
    one = reuse(every=True)
    places = [Place(f"{n:032x}", 0) for n in range(20)]
    async with asyncio.timeout(10):
        assert set(await asyncio.gather(*map(one.find, places))) == {None}
        one.keep(places[0], StoredResult("ok", "", "x"))
        assert await one.find(places[0]) is None
    await one.aclose()
    assert len(one.notes) == 1
    assert "damaged" in one.notes[0]
    assert str(tmp_path) in one.notes[0]
    assert one.place(slot(ask("x")), ask("x")) is None


async def test_a_worker_that_is_cancelled_takes_nobody_with_it(reuse):
    places = await filled(reuse, 2)
    two = reuse()
    first = asyncio.create_task(two.find(places[0]))
    second = asyncio.create_task(two.find(places[1]))
    await asyncio.sleep(0)
    first.cancel()
    assert (await second).text == "answer 1"
    with pytest.raises(asyncio.CancelledError):
        await first
    await two.aclose()


async def test_a_visit_that_is_cancelled_leaves_nobody_waiting(reuse):
    places = await filled(reuse, 2)
    held = threading.Event()

    class Slow(AnswerCache):
        def find(self, places):
            held.wait(10)
            return super().find(places)

    two = reuse(cache=Slow(reuse()._cache.path))
    waiting = [asyncio.create_task(two.find(place)) for place in places]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    two._visits.cancel()
    async with asyncio.timeout(10):
        assert await asyncio.gather(*waiting) == [None, None]
    held.set()
    assert await two.find(places[0]) is None
    await two.aclose()


async def test_a_run_that_only_recalls_never_opens_the_file(reuse, tmp_path):
    one = reuse()
    one.place(slot(ask("x", seed=1)), ask("x", seed=1))
    await one.aclose()
    assert list(tmp_path.iterdir()) == []
