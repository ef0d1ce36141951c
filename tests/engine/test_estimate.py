"""What a run will take, before any money, beside what it really took."""

from __future__ import annotations

import pandas as pd
import pytest

from synthnb.config import Limits
from synthnb.engine.estimate import Pace, estimate_run
from synthnb.errors import ConfigError
from synthnb.pipeline import estimate, generate
from synthnb.providers.prices import Price
from synthnb.providers.provider import Provider
from synthnb.recipes import Prompt
from synthnb.testing import FaultServer
from synthnb.testing.wire import Reply

RECIPE = Prompt("Say more about {{ text }}.", max_tokens=50)


def frame(n):
    return pd.DataFrame({"text": [f"word {i}" for i in range(n)]})


class Counting(FaultServer):
    """Has vLLM's or llama.cpp's tokenizer."""

    form = "vllm"
    counted = 0

    def _plain(self, route, request):
        import json

        if route != ("POST", "/tokenize"):
            return super()._plain(route, request)
        body = json.loads(request.body)
        self.counted += 1
        if self.form == "vllm":
            return Reply.json(200, {"count": 1000, "max_model_len": 4096, "tokens": []})
        return Reply.json(200, {"tokens": [1] * len(body.get("content", "").split())})


async def test_the_servers_own_tokenizer_counts():
    async with Counting() as server:
        provider = Provider(server.base_url, "fault-model", price=Price(1, 2, "May"))
        found = await estimate(RECIPE, frame(500), provider, samples=2)
        assert server.stats.requests == 0
        assert 20 <= server.counted <= 25
    assert found.requests == 1000
    assert found.prompt_tokens == 1_000_000
    assert found.counted
    assert found.most_completion_tokens == 50_000
    assert found.most_usd == pytest.approx(1.1)
    assert found.usd is None
    assert found.seconds is None
    text = repr(found)
    assert "1,000,000" in text
    assert "≈ 1,000,000" not in text
    assert "at most $1.1000" in text
    assert "May" in text


async def test_llama_cpp_counts_texts():
    async with Counting() as server:
        server.form = "llama.cpp"
        provider = Provider(server.base_url, "fault-model")
        found = await estimate(RECIPE, frame(10), provider)
    assert found.counted
    assert found.prompt_tokens == 10 * (5 + 4)


async def test_without_a_tokenizer_it_is_marked_as_an_estimate(puppet):
    client = puppet()
    found = await estimate(RECIPE, [{"text": "word"}] * 30, client)
    assert not found.counted
    assert client.asked == []
    assert "≈ " in repr(found)
    assert "unknown" in repr(found)


async def test_what_a_run_has_already_tells_of_the_rest(echo, puppet):
    client = puppet()
    client.known_price = Price(10, 20)
    rows = [{"text": f"t{i}"} for i in range(100)]
    await generate(echo(), rows[:5], client, name="same")
    found = await estimate(echo(), rows, client, name="same")
    assert (found.requests, found.present) == (95, 5)
    assert found.completion_tokens == 665
    assert "as long as the 5 that this run has" in repr(found)
    assert found.seconds is not None
    run = generate(echo(), rows, client, name="same", limits=Limits())
    await run
    beside = found.beside(run)
    assert "really took" in beside
    assert "≈ 665" in beside
    assert beside.count("665") == 2
    assert "$" in beside


async def test_of_very_many_rows_a_part_is_looked_up(echo, puppet, monkeypatch):
    monkeypatch.setattr("synthnb.pipeline._LOOKED_UP", 10)
    client = puppet()
    rows = [{"text": f"t{i}"} for i in range(100)]
    await generate(echo(), rows[:50], client, name="same")
    found = await estimate(echo(), rows, client, name="same")
    assert (found.requests, found.present) == (50, 50)
    assert "≈ 50 answers, which cost nothing again" in repr(found)


async def test_a_changed_prompt_or_sample_is_not_there_already(echo, puppet):
    client = puppet()
    rows = [{"text": f"t{i}"} for i in range(10)]
    await generate(echo(), rows, client, name="same", samples=2)
    ask = {"name": "same", "samples": 2}
    assert (await estimate(echo(), rows, client, **ask)).requests == 0
    assert (await estimate(echo(prompt="New: "), rows, client, **ask)).requests == 20
    assert (await estimate(echo(), rows, client, name="same", samples=3)).requests == 10
    twice = [*rows, *rows]
    assert (await estimate(echo(), twice, client, **ask)).requests == 20


def words(request):
    return len(request.split())


async def no_count(_):
    return None


def estimated(recipe, rows, limits=None, price=None, pace=None):
    return estimate_run(
        recipe,
        rows,
        len(rows),
        count=no_count,
        guess=words,
        price=price,
        pace=pace,
        concurrency=10,
        limits=limits,
    )


async def test_rates_say_how_long_it_takes_at_least(echo):
    rows = [{"text": "one two three"}] * 600
    found = await estimated(echo(), rows, Limits(requests_per_minute=10))
    assert found.seconds is None
    assert found.least_seconds == 3600
    assert "at least 1:00:00" in repr(found)
    pace = Pace(5, 7.0, 1.0)
    found = await estimated(echo(), rows, Limits(requests_per_minute=10), pace=pace)
    assert found.seconds == 3600
    found = await estimated(echo(), rows, Limits(tokens_per_minute=1000), pace=pace)
    assert found.seconds == 600 * (3 + 7) / 1000 * 60
    found = await estimated(echo(), rows, pace=pace)
    assert found.seconds == 60


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (Limits(budget_tokens=1000), "budget_tokens ends it after ≈ 100 of the 600"),
        (Limits(budget_usd=0.003), "budget_usd ends it after ≈ 300 of the 600"),
        (Limits(max_seconds=30), "max_seconds ends it after ≈ 300 of the 600"),
        (Limits(max_seconds=30, budget_tokens=1000), "budget_tokens ends it after"),
        (Limits(max_seconds=61, budget_tokens=6001, budget_usd=0.1), ""),
    ],
)
async def test_a_limit_that_would_end_the_run_is_told(echo, limits, said):
    rows = [{"text": "one two three"}] * 600
    pace, price = Pace(5, 7.0, 1.0), Price(1, 1)
    found = await estimated(echo(), rows, limits, price, pace)
    assert (said in repr(found)) if said else not found.ended_by


async def test_top_ups_are_expected_as_they_came(echo):
    rows = [{"text": "a b c"}] * 100
    found = await estimated(echo(), rows, pace=Pace(15, 8.0, 1.0, 1.5))
    assert (found.requests, found.prompt_tokens) == (150, 450)
    assert (found.completion_tokens, found.seconds) == (1200, 15)


async def test_rows_that_a_recipe_cannot_use_are_no_requests(echo):
    rows = [{"text": "a b"}, {"other": "x"}] * 10
    found = await estimated(echo(), rows)
    assert (found.requests, found.prompt_tokens) == (10, 20)


async def test_rows_that_can_be_read_but_once_are_left_alone(puppet):
    rows = ({"text": str(i)} for i in range(3))
    with pytest.raises(ConfigError, match="read but once"):
        await estimate(RECIPE, rows, puppet())
    assert len(list(rows)) == 3


async def test_no_rows_cost_nothing(puppet):
    found = await estimate(RECIPE, [], puppet())
    assert (found.requests, found.prompt_tokens) == (0, 0)
