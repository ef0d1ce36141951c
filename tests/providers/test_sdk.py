from __future__ import annotations

import pickle

import openai
import pytest
from raw_server import (
    CANARY,
    SCHEMA,
    Broken,
    ask,
    chat,
    free_port,
    http,
    models,
    serving,
)

from synthnb.config import Limits
from synthnb.errors import (
    AuthError,
    ConnectError,
    ContextError,
    RateLimitError,
    RequestRefusedError,
    RequestTimeoutError,
    ServerError,
)
from synthnb.providers import ChatClient, Provider
from synthnb.providers.sdk import SdkClient


async def call(answer, request=None, limits=None):
    async with (
        serving(answer) as raw,
        openai.AsyncOpenAI(base_url=f"{raw.url}/v1", api_key=CANARY) as sdk,
    ):
        client = SdkClient(sdk, "m", limits=limits)
        try:
            return await client.complete(request or ask()), raw
        finally:
            await client.aclose()
            assert len(raw.chats) == 1 or raw.chats[0].json != raw.chats[1].json


async def test_it_is_a_chat_client_that_sends_the_users_key():
    found, raw = await call(http(200, chat("<think>t</think>hello")))
    assert (found.text, found.reasoning) == ("hello", "t")
    assert raw.chats[0].headers["authorization"] == f"Bearer {CANARY}"
    assert raw.chats[0].json == {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
    }


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (http(401, {"error": "no"}), AuthError),
        (http(429, {"error": "slow"}, retry_after="7"), RateLimitError),
        (http(500, "boom"), ServerError),
        (http(400, {"error": {"code": "context_length_exceeded"}}), ContextError),
        (http(404, {"error": {"code": "model_not_found"}}), RequestRefusedError),
        (http(307, "", location="http://127.0.0.1:1/"), RequestRefusedError),
        (http(200, "<html>"), ServerError),
        (http(200, ""), ServerError),
        (Broken(b"", "close"), ServerError),
        (Broken(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc"), ServerError),
        (
            Broken(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc", "reset"),
            ServerError,
        ),
    ],
)
async def test_each_failure_is_typed_as_by_our_own_client_and_asked_for_once(
    answer, kind
):
    with pytest.raises(kind) as caught:
        await call(answer)
    assert "CANARY" not in str(caught.value)
    if kind is RateLimitError:
        assert caught.value.retry_after == 7.0


async def test_time_outs_and_the_size_cap_hold():
    limits = Limits(first_byte_timeout=0.1, max_answer_bytes=1_000)
    with pytest.raises(RequestTimeoutError, match=r"0\.1 s"):
        await call(Broken(b"", "silence"), limits=limits)
    with pytest.raises(ServerError, match="larger than 1,000"):
        await call(http(200, chat("x" * 2_000)), limits=limits)


async def test_a_dead_port_is_a_connect_error():
    url = f"http://127.0.0.1:{free_port()}/v1"
    async with openai.AsyncOpenAI(base_url=url, api_key=CANARY) as sdk:
        with pytest.raises(ConnectError):
            await SdkClient(sdk, "m").complete(ask())


async def test_the_dialect_is_learned_through_the_sdk_too():
    def picky(seen):
        if "response_format" in seen.json:
            return http(400, {"error": "response_format is not supported"})
        return http(200, chat('{"answer":"a"}'))

    async with (
        serving(picky) as raw,
        openai.AsyncOpenAI(base_url=f"{raw.url}/v1", api_key=CANARY) as sdk,
    ):
        found = await SdkClient(sdk, "m").complete(ask(schema=SCHEMA))
    assert found.adapted == ("prompt_only",)


async def test_a_provider_of_an_openai_client_connects_and_checks():
    def reply(seen):
        return http(200, models("m") if seen.method == "GET" else chat("x"))

    async with (
        serving(reply) as raw,
        openai.AsyncOpenAI(base_url=f"{raw.url}/v1", api_key=CANARY) as sdk,
    ):
        provider = Provider.from_openai(sdk, "m")
        assert provider.base_url == f"{raw.url}/v1"
        assert "in the openai client" in repr(provider)
        assert (await provider.check()).ok
        client = await provider.connect()
        assert isinstance(client, ChatClient)
        assert (await client.complete(ask())).text == "x"
        await client.aclose()
        assert not sdk.is_closed()
        assert CANARY.encode() not in pickle.dumps(provider)
    assert {s.headers["authorization"] for s in raw.seen} == {f"Bearer {CANARY}"}
