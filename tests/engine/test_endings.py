"""How a run ends: stops at awkward moments, rows that raise, counts that agree."""

from __future__ import annotations

import asyncio
import os
import shutil
import threading
import time
from collections import Counter

import pytest

from synthnb.config import Limits
from synthnb.engine.events import Noted
from synthnb.engine.progress import State
from synthnb.errors import (
    AuthError,
    ConfigError,
    RateLimitError,
    StoreError,
    StoreLockedError,
)
from synthnb.pipeline import generate, preview
from synthnb.records import Completion
from synthnb.store.ledger import RunStore
from synthnb.store.manifest import Manifest
from synthnb.store.writer import Writer


def rows(n):
    return [{"text": f"t{i}", "topic": i} for i in range(n)]


async def forever(_):
    await asyncio.sleep(100)


async def slow(_):
    await asyncio.sleep(0.01)
    return "x"


def ended(run):
    return asyncio.wait_for(run.finished(), 5)


def assert_counts_agree(run):
    assert Counter(run.frame()["status"]) == +Counter(run.status)


async def test_a_stop_before_the_first_step_ends_the_run(echo, puppet):
    run = generate(echo(), rows(3), puppet(), name="atonce")
    run.stop()
    await ended(run)
    assert run.state is State.STOPPED
    assert len(await generate(echo(), rows(3), puppet(), name="atonce")) == 3


async def test_stops_while_the_ledger_is_closed_do_not_matter(echo, puppet):
    run = generate(echo(), rows(20), puppet(forever), name="often")
    while run.progress.in_flight < 8:
        await asyncio.sleep(0)
    for _ in range(1000):
        run.stop()
        await asyncio.sleep(0)
    await ended(run)
    assert run.state is State.STOPPED
    assert_counts_agree(run)


def test_a_loop_that_ends_at_once_leaves_the_folder_free(echo, puppet):
    async def start():
        return generate(echo(), rows(30), puppet(forever), name="early")

    run = asyncio.run(start())
    assert run.state is State.STOPPED

    async def again():
        return await generate(echo(), rows(3), puppet(), name="early")

    assert len(asyncio.run(again())) == 3


def test_an_interrupt_inside_the_run_ends_it(echo, puppet):
    def answer(text):
        if text == "t3":
            raise KeyboardInterrupt
        return text

    kept = []

    async def main():
        kept.append(generate(echo(), rows(50), puppet(answer), name="ctrlc"))
        await kept[0]

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(main())
    assert kept[0].state is State.STOPPED


async def test_counts_agree_after_a_stop_during_a_long_wait(echo, puppet):
    client = puppet(lambda _: RateLimitError("slow down", retry_after=1000))
    run = generate(echo(), rows(30), client, name="held")
    while not run.progress.retries:
        await asyncio.sleep(0)
    run.stop()
    await ended(run)
    assert run.status["rate_limited"]
    assert_counts_agree(run)


async def test_counts_agree_when_top_ups_are_dropped(echo, puppet):
    async def answer(text):
        if "again" in text:
            await asyncio.sleep(100)
        return "a"

    run = generate(echo(wanted=3, top_ups=2), rows(5), puppet(answer), name="tops")
    while run.progress.requests < 10:
        await asyncio.sleep(0)
    run.stop()
    run.stop()
    await ended(run)
    assert run.status == {"ok": 5, "cancelled": 10}
    assert_counts_agree(run)


async def test_counts_agree_after_an_error(echo, puppet):
    client = puppet(lambda text: AuthError("no") if text > "t15" else text)
    run = generate(echo(), rows(30), client, name="autherr")
    with pytest.raises(AuthError):
        await ended(run)
    assert run.status["auth"]
    assert_counts_agree(run)


async def test_rows_that_raise_cost_no_paid_answer(echo, puppet):
    def broken():
        yield from rows(70)
        raise ValueError("row 70 is broken")

    client = puppet(slow)
    run = generate(echo(), broken(), client, name="broken")
    with pytest.raises(ValueError, match="row 70"):
        await ended(run)
    assert run.state is State.ERROR
    assert run.status == {"ok": 70}
    assert_counts_agree(run)


async def test_slow_rows_do_not_hold_up_the_first_answer(echo, puppet):
    taken = []

    def trickle():
        for row in rows(100):
            time.sleep(0.01)
            taken.append(row)
            yield row

    run = generate(echo(), trickle(), puppet(), name="trickle")
    while not run.progress.done:
        await asyncio.sleep(0)
    run.stop()
    await ended(run)
    assert len(taken) < 30


async def test_wait_in_a_cell_gives_up_and_the_run_goes_on(echo, puppet):
    run = generate(echo(), rows(60), puppet(slow), name="cellwait")
    with pytest.raises(TimeoutError, match="it goes on"):
        run.wait(timeout=0.02)
    assert run.state is State.RUNNING
    assert len(run.wait()) == 60


async def test_attaching_takes_no_row_of_a_live_iterator(echo, puppet):
    data = iter(rows(60))
    run = generate(echo(), data, puppet(slow), name="peek")
    await asyncio.sleep(0.01)
    assert generate(echo(), data, puppet(slow), name="peek") is run
    assert len(await run) == 60


@pytest.mark.parametrize(
    "other",
    [{"samples": 2}, {"id_column": "text"}, {"limits": Limits(max_concurrency=1)}],
)
async def test_attaching_with_other_settings_is_refused(echo, puppet, other):
    data = rows(20)
    run = generate(echo(), data, puppet(slow), name="settings")
    with pytest.raises(StoreLockedError, match="other prompts or settings"):
        generate(echo(), data, puppet(slow), name="settings", **other)
    await run


async def test_a_row_that_changed_under_its_id_is_shown_as_it_is(echo, puppet):
    for text in ("old", "new", "old"):
        data = [{"text": text, "topic": text, "chunk_id": "c1"}]
        df = await generate(echo(), data, puppet(), name="changed")
        assert df[["text", "topic", "answer"]].to_numpy().tolist() == [[text] * 3]


@pytest.mark.parametrize(
    "ids",
    [
        ["a", "a", "a#1"],
        ["a#1", "a", "a"],
        ["\ud800", "\ud801"],
        [1, "1"],
        ["\0", "\0a"],
    ],
)
async def test_ids_that_look_alike_are_rows_of_their_own(echo, puppet, ids):
    data = [{"text": f"t{i}", "id": value} for i, value in enumerate(ids)]
    again = puppet()
    df = await generate(echo(), data, puppet(), name="alike", id_column="id")
    assert list(df["answer"]) == [row["text"] for row in data]
    assert df["row_id"].is_unique
    df = await generate(echo(), data, again, name="alike", id_column="id")
    assert again.asked == []
    assert list(df["answer"]) == [row["text"] for row in data]


async def test_a_recipe_that_returns_nonsense_costs_its_row(echo, puppet):
    from synthnb.recipes.base import Parsed
    from synthnb.records import Status

    wrong = {
        "t1": None,
        "t2": Parsed(Status.OK, ("word",)),
        "t3": Parsed("ok", iter(())),
    }

    class Nonsense(echo):
        def request(self, row, earlier, sample_index):
            good = super().request(row, earlier, sample_index)
            return "hello" if row["text"] == "t4" else good

        def parse(self, row, completion, earlier):
            good = super().parse(row, completion, earlier)
            return wrong.get(row["text"], good)

    run = generate(Nonsense(), rows(6), puppet(), name="nonsense")
    df = await run
    assert list(df["status"]) == ["ok", *["schema"] * 4, "ok"]
    assert "not a Parsed" in df["detail"].iloc[1]
    assert "not a Request" in df["detail"].iloc[4]
    assert_counts_agree(run)


async def test_a_client_that_returns_nonsense_costs_its_row(echo, puppet):
    client = puppet(lambda text: Completion(None) if text == "t1" else text)
    df = await generate(echo(), rows(3), client, name="notext")
    assert list(df["status"]) == ["ok", "server", "ok"]


async def test_a_description_that_cannot_be_written_buys_nothing(
    echo, puppet, monkeypatch
):
    def full(handle):
        raise OSError(28, "No space left on device")

    client = puppet()
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(StoreError, match=r"recipe\.json cannot be written: No spa"):
            generate(echo(), rows(3), client, name="norecipe")
    await asyncio.sleep(0.05)
    assert client.asked == []
    run = generate(echo(), rows(3), client, name="norecipe")
    assert len(await run) == 3
    assert not list(run.folder.glob(".recipe-*"))


async def test_a_feeder_that_waits_for_a_dead_ledger_ends(echo, puppet, monkeypatch):
    run = generate(echo(), rows(3), puppet(), name="dead")
    await ended(run)
    monkeypatch.setattr(RunStore, "pending", 10**6)
    monkeypatch.setattr(Writer, "_write", lambda self, group: 1 / 0)
    run = generate(echo(), rows(3), puppet(), name="dead")
    with pytest.raises(StoreError, match="ZeroDivisionError"):
        await ended(run)


async def test_a_preview_of_no_rows_is_refused(echo, puppet):
    with pytest.raises(ConfigError, match="at least one row"):
        await preview(echo(), rows(3), puppet(), n=0)


async def test_a_folder_deleted_under_a_run_ends_it(echo, puppet):
    client = puppet(slow)
    run = generate(echo(), rows(5000), client, name="deleted")
    while run.progress.saved < 8:
        await asyncio.sleep(0.001)
    shutil.rmtree(run.folder)
    with pytest.raises(StoreError, match="was deleted or moved"):
        await ended(run)
    assert len(client.asked) < 5000


def test_wait_turns_a_loop_that_stands_still(echo, puppet):
    async def start():
        return generate(echo(), rows(20), puppet(slow), name="still")

    with asyncio.Runner() as runner:
        run = runner.run(start())
        with pytest.raises(TimeoutError, match="it goes on"):
            run.wait(timeout=0.01)
        assert len(run.wait()) == 20
        assert len(run.wait()) == 20


async def test_wait_after_the_end_nests_no_loop(echo, puppet, monkeypatch):
    def refuse(*_):
        raise AssertionError

    run = generate(echo(), rows(3), puppet(), name="over")
    await run
    monkeypatch.setattr("synthnb.engine.waiting.wait_nested", refuse)
    assert len(run.wait()) == 3


async def test_a_recipe_that_holds_up_the_loop_is_named_once(echo, puppet):
    class Slow(echo):
        def parse(self, row, completion, earlier):
            time.sleep(0.51)
            return super().parse(row, completion, earlier)

    run = generate(Slow(), rows(3), puppet(), name="slow")
    heard = []
    run.subscribe(heard.append)
    await run
    notes = [event.text for event in heard if isinstance(event, Noted)]
    assert len(notes) == 1
    assert "Slow.parse() took 0.5 s, and everything else waited for it" in notes[0]


async def test_a_ledger_that_takes_long_to_check_is_told(echo, puppet, monkeypatch):
    monkeypatch.setattr("synthnb.engine.run._SEEN_SECONDS", 0.01)
    seen = threading.Event()
    check = Manifest.check

    def slow(manifest):
        seen.wait(10)
        check(manifest)

    monkeypatch.setattr(Manifest, "check", slow)
    client, notes = puppet(), []
    run = generate(echo(), [{"text": "a"}], client, name="slow")
    run.subscribe(lambda e: notes.append(e.text) if isinstance(e, Noted) else None)
    while not notes:
        await asyncio.sleep(0.005)
    assert "checking the run's ledger" in run.progress.note
    assert (client.asked, run.state) == ([], State.CONNECTING)
    seen.set()
    await run
    assert (run.state, run.progress.note) == (State.DONE, "")
