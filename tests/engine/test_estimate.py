"""What a run will take, before any money, beside what it really took."""

from __future__ import annotations

import pandas as pd
import pytest

from synthnb.config import Limits
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
    assert found.completion_tokens == 700
    assert "the 5 that this run has already" in repr(found)
    assert found.seconds is not None
    run = generate(echo(), rows, client, name="same", limits=Limits())
    await run
    beside = found.beside(run)
    assert "really took" in beside
    assert "≈ 700" in beside
    assert "665" in beside  # the other 95 answers
    assert "$" in beside


async def test_rows_that_can_be_read_but_once_are_left_alone(puppet):
    rows = ({"text": str(i)} for i in range(3))
    with pytest.raises(ConfigError, match="read but once"):
        await estimate(RECIPE, rows, puppet())
    assert len(list(rows)) == 3


async def test_no_rows_cost_nothing(puppet):
    found = await estimate(RECIPE, [], puppet())
    assert (found.requests, found.prompt_tokens) == (0, 0)
