from __future__ import annotations

import asyncio

import pytest
from raw_server import ask

from synthnb.errors import ConfigError, ServerError
from synthnb.providers import ChatClient
from synthnb.providers.scripted import ScriptedClient
from synthnb.records import Completion


async def test_answers_come_in_turn_and_start_again():
    client = ScriptedClient(
        ["a", Completion("b", finish_reason="length"), ServerError("c")]
    )
    assert (await client.complete(ask("1"))).text == "a"
    assert (await client.complete(ask("2"))).finish_reason == "length"
    with pytest.raises(ServerError, match="c"):
        await client.complete(ask("3"))
    assert (await client.complete(ask("4"))).text == "a"
    assert [r.messages[0].content for r in client.requests] == ["1", "2", "3", "4"]


async def test_it_is_a_chat_client():
    client = ScriptedClient(["x"], model="mine", concurrency=3)
    assert isinstance(client, ChatClient)
    assert (client.model, client.default_concurrency) == ("mine", 3)
    assert client.endpoint == "scripted://"
    found = await client.complete(ask())
    assert (found.model, found.finish_reason) == ("mine", "stop")
    await client.aclose()
    await client.aclose()
    assert client.closed


async def test_a_function_may_answer_at_once_or_later():
    async def later(request):
        await asyncio.sleep(0)
        return request.messages[0].content.upper()

    for function in (lambda r: r.messages[0].content.upper(), later):
        assert (await ScriptedClient(function).complete(ask("abc"))).text == "ABC"


async def test_requests_in_flight_are_counted_also_when_cancelled():
    client = ScriptedClient(["x"], delay=30)
    tasks = [asyncio.create_task(client.complete(ask())) for _ in range(5)]
    await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert client.max_in_flight == 5
    quick = ScriptedClient(["x"])
    await asyncio.gather(*(quick.complete(ask()) for _ in range(3)))
    assert quick.max_in_flight == 3
    for _ in range(2):
        await quick.complete(ask())
    assert quick.max_in_flight == 3


def test_an_empty_script_is_refused():
    with pytest.raises(ConfigError, match="at least one"):
        ScriptedClient([])


async def test_one_text_answers_everything():
    client = ScriptedClient("hello")
    texts = [(await client.complete(ask())).text for _ in "ab"]
    assert texts == ["hello", "hello"]
