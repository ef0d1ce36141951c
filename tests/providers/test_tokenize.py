from __future__ import annotations

import asyncio

import pytest
from raw_server import ask, http, models, serving

from synthnb.providers import Provider
from synthnb.records import Message
from synthnb.testing import FaultServer

CHAT = (Message("system", "s" * 400), Message("user", "u" * 400))


def paths(raw):
    return [s.path for s in raw.seen if s.path in {"/tokenize", "/apply-template"}]


def routes(table):
    def answer(seen):
        if seen.path.endswith("/models"):
            return http(200, models("m"))
        found = table.get(seen.path, http(404, {"detail": "Not Found"}))
        return found(seen) if callable(found) else found

    return answer


async def count(table, *chats):
    async with serving(routes(table)) as raw:
        client = await Provider(raw.url, "m").connect()
        found = [await client.count_tokens(chat) for chat in chats or (CHAT,)]
        await client.aclose()
        return found, client.counts_tokens, raw


@pytest.mark.parametrize("kind", ["vllm", "llama.cpp"])
async def test_servers_that_count_are_asked(kind):
    async with FaultServer.like(kind) as server:
        client = await Provider(server.base_url, server.chat.models[0]).connect()
        assert client.counts_tokens is None
        found = await client.count_tokens(CHAT)
        assert 200 <= found <= 209  # a guessed template adds 4 a message
        assert client.counts_tokens
        await client.aclose()


async def test_vllm_counts_the_chat_with_its_template_in_one_call():
    def counted(seen):
        assert seen.json["messages"][0] == {"role": "system", "content": "s" * 400}
        return http(200, {"count": 217, "max_model_len": 4096, "tokens": []})

    assert (await count({"/tokenize": counted}, CHAT, CHAT[:1]))[:2] == (
        [217, 217],
        True,
    )


async def test_llama_cpp_applies_its_template_on_another_path():
    def counted(seen):
        sent = seen.json
        if "content" not in sent:
            return http(200, {"tokens": []})
        assert sent["parse_special"] is True
        return http(200, {"tokens": list(range(len(sent["content"])))})

    table = {
        "/tokenize": counted,
        "/apply-template": http(200, {"prompt": "<|system|>12345"}),
    }
    found, counts, raw = await count(table, CHAT, CHAT[:1])
    assert (found, counts) == ([15, 15], True)
    assert paths(raw) == [
        "/tokenize", "/apply-template", "/tokenize", "/apply-template", "/tokenize",
    ]  # fmt: skip


async def test_sglang_counts_a_text():
    def counted(seen):
        if "prompt" not in seen.json:
            return http(400, {"object": "error", "message": "prompt is missing"})
        return http(200, {"tokens": [1] * 30, "count": 30, "max_model_len": 4096})

    assert (await count({"/tokenize": counted}))[:2] == ([38], True)


async def test_a_server_without_a_tokenizer_is_asked_once():
    found, counts, raw = await count({}, CHAT, CHAT[:1], CHAT)
    assert (found, counts) == ([None] * 3, False)
    assert paths(raw) == ["/tokenize"]


@pytest.mark.parametrize("status", [429, 503, 500])
async def test_a_server_that_is_busy_is_asked_again(status):
    answers = [http(status, "busy"), http(200, {"count": 7})]
    found, counts, _ = await count({"/tokenize": lambda _: answers.pop(0)}, CHAT, CHAT)
    assert (found, counts) == ([None, 7], True)


@pytest.mark.parametrize("body", ["", "[]", "{}", {"count": -1}, {"count": "9"}, {"tokens": 3}])  # fmt: skip
async def test_what_is_no_count_is_none(body):
    assert (await count({"/tokenize": http(200, body)}))[:2] == ([None], False)


async def test_one_prompt_is_counted_once_however_often_it_is_sent():
    found, _, raw = await count({"/tokenize": http(200, {"count": 9})}, *[CHAT] * 5)
    assert found == [9] * 5
    assert paths(raw) == ["/tokenize"]


async def test_a_lone_surrogate_is_not_counted_and_does_no_harm():
    odd = (Message("user", "\ud800"),)
    found, counts, _ = await count({"/tokenize": http(200, {"count": 9})}, odd, CHAT)
    assert (found, counts) == ([None, 9], True)


async def test_many_learn_the_way_at_once():
    async with FaultServer.like("llama.cpp") as server:
        client = await Provider(server.base_url, "m").connect()
        chats = [(Message("user", "x" * (100 + n)),) for n in range(20)]
        found = await asyncio.gather(*(client.count_tokens(chat) for chat in chats))
        assert None not in found
        await client.aclose()


async def test_a_hosted_api_is_not_asked():
    client = await Provider("https://models.invalid/v1", "m").connect()
    assert await client.count_tokens(ask().messages) is None
    assert client.counts_tokens is False
    await client.aclose()
