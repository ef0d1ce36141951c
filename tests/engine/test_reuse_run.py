"""Whole runs that share a cache."""

from __future__ import annotations

import sqlite3

import pytest

from synthnb.config import Limits
from synthnb.engine.events import Noted
from synthnb.pipeline import generate
from synthnb.providers.provider import Provider
from synthnb.store.cache import cache_path
from synthnb.testing import Answer, FaultServer

CANARY = "canary-5d02"


def rows(n):
    return [{"record_id": f"row-{i}", "text": f"t{i}"} for i in range(n)]


def counting():
    made = iter(range(10_000))
    return lambda text: f"{text}-{next(made)}"


async def test_a_second_run_buys_nothing_that_has_a_seed(echo, puppet):
    first = await generate(echo(seed=3), rows(50), puppet(counting()), name="one")
    client = puppet(counting())
    run = generate(echo(seed=3), rows(50), client, name="two")
    second = await run
    assert client.asked == []
    assert list(second["answer"]) == list(first["answer"])
    assert set(second["status"]) == {"ok"}
    assert set(second["adapted"]) == {"cached"}
    assert set(first["adapted"]) == {""}
    assert run.progress.cached == 50
    assert (run.usage.total_requests, run.usage.total_prompt_tokens) == (0, 0)
    assert "50 answers from the cache" in repr(run)
    told = repr(run.explain("row-7"))
    assert "nothing was sent" in told
    assert "cache" in told


async def test_without_a_seed_only_on_request(echo, puppet):
    for name, cache, bought in [("a", None, 4), ("b", True, 4), ("c", True, 0),
                                ("d", None, 4), ("e", False, 4)]:  # fmt: skip
        client = puppet()
        await generate(echo(), rows(4), client, name=name, cache=cache)
        assert len(client.asked) == bought, name


async def test_a_seed_and_cache_false_buys_all_and_makes_no_file(echo, puppet):
    for name in "ab":
        client = puppet()
        await generate(echo(seed=1), rows(3), client, name=name, cache=False)
        assert len(client.asked) == 3
    assert not cache_path().exists()


async def test_five_samples_and_equal_rows_stay_answers_of_their_own(echo, puppet):
    data = [{"text": "same"}, {"text": "same"}]
    first = await generate(
        echo(), data, puppet(counting()), name="one", samples=5, cache=True
    )
    client = puppet(counting())
    second = await generate(echo(), data, client, name="two", samples=6, cache=True)
    assert len(set(first["answer"])) == 10
    assert len(client.asked) == 2
    both = second[second["sample_index"] < 5]
    assert sorted(both["answer"]) == sorted(first["answer"])


async def test_the_same_run_again_uses_its_ledger(echo, puppet):
    await generate(echo(seed=1), rows(5), puppet(), name="one")
    run = generate(echo(seed=1), rows(9), puppet(), name="one")
    await run
    assert (run.progress.resumed, run.progress.cached) == (5, 0)
    assert run.progress.requests == 4


async def test_only_what_the_recipe_can_read_is_kept_and_taken(echo, puppet):
    client = puppet(lambda text: "" if text == "t1" else text)
    await generate(echo(seed=1), rows(3), client, name="one")
    again = puppet()
    df = await generate(echo(seed=1), rows(3), again, name="two")
    assert again.asked == ["t1"]
    assert set(df["status"]) == {"ok"}
    rereading = puppet(lambda _: "x y")
    await generate(echo(seed=1, wanted=2), rows(3), rereading, name="three")
    assert rereading.asked == []


async def test_another_model_is_another_request_another_server_is_not(echo):
    async with FaultServer() as one, FaultServer() as two:
        for server, model, asked in [(one, "fault-model", 5), (two, "fault-model", 0),
                                     (two, "other-model", 5)]:  # fmt: skip
            provider = Provider(server.base_url, model)
            run = generate(
                echo(seed=1), rows(5), provider, name=f"{model}{server.port}"
            )
            await run
            assert run.progress.requests == asked


async def test_a_damaged_cache_is_noted_and_the_run_goes_on(echo, puppet):
    cache_path().parent.mkdir(parents=True)
    cache_path().write_bytes(b"nonsense" * 1000)
    client, heard = puppet(), []
    run = generate(echo(seed=1), rows(20), client, name="one")
    run.subscribe(heard.append)
    df = await run
    assert set(df["status"]) == {"ok"}
    assert len(client.asked) == 20
    assert sum(isinstance(e, Noted) and "damaged" in e.text for e in heard) == 1


async def test_no_key_and_no_prompt_in_the_file(echo):
    async with FaultServer(answer=lambda _: Answer("plain words")) as server:
        provider = Provider(server.base_url, "fault-model", api_key=f"sk-{CANARY}")
        data = [{"record_id": "a", "text": f"secret prompt {CANARY}"}]
        await generate(echo(seed=1), data, provider, name="one")
    data = b"".join(p.read_bytes() for p in cache_path().parent.glob("cache.sqlite*"))
    assert CANARY.encode() not in data
    assert b"secret prompt" not in data
    assert b"127.0.0.1" not in data
    assert b"plain words" in data


async def test_answers_kept_by_a_stopped_run_serve_the_next(echo, puppet):
    client = puppet()
    limits = Limits(max_concurrency=2)
    run = generate(echo(seed=1), rows(200), client, name="one", limits=limits)
    client.answer = lambda text: (run.stop() if text == "t20" else None) or text
    await run
    bought = set(client.asked)
    assert 10 < len(bought) < 200
    second = puppet()
    await generate(echo(seed=1), rows(200), second, name="two", limits=limits)
    assert not bought & set(second.asked)
    assert len(second.asked) == 200 - len(bought)


async def test_every_answer_has_an_attempt_and_those_taken_cost_nothing(echo, puppet):
    await generate(echo(seed=1), rows(5), puppet(), name="one")
    run = generate(echo(seed=1), rows(8), puppet(), name="two")
    await run
    db = sqlite3.connect(run.folder / "run.sqlite")
    found = db.execute(
        "SELECT a.endpoint, count(*), sum(a.prompt_tokens), sum(r.adapted = 'cached')"
        " FROM attempt a JOIN result r USING (slot_id, request_key)"
        " GROUP BY a.endpoint ORDER BY a.endpoint"
    ).fetchall()
    db.close()
    assert found == [("", 5, None, 5), ("puppet:", 3, 15, 0)]
    assert run.usage.total_requests == 3


@pytest.mark.parametrize("cache", [True, None])
async def test_an_empty_run_needs_no_cache(echo, puppet, cache):
    await generate(echo(), [], puppet(), name="none", cache=cache)
    assert not cache_path().exists()


async def test_a_folder_of_ones_own_stays_alone_unless_asked(echo, puppet, tmp_path):
    for name, cache, bought in [("a", None, 3), ("b", True, 3), ("c", True, 0),
                                ("d", None, 3)]:  # fmt: skip
        client = puppet()
        await generate(
            echo(seed=1), rows(3), client, folder=tmp_path / name, cache=cache
        )
        assert len(client.asked) == bought, name
        if name == "a":
            assert not cache_path().exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "b", "c", "d", "home"]
