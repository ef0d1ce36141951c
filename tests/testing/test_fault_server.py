"""The fault server on the wire: answers, faults and counts."""

from __future__ import annotations

import asyncio
import email.utils
import json
import time

import pytest

from synthnb.testing import Answer, Fault, FaultServer

SCHEMA = {"type": "object", "properties": {"kind": {"enum": ["a", "b"]}}}


# answers ---------------------------------------------------------------------------


async def test_an_answer_has_the_shape_of_a_chat_completion(chat):
    async with FaultServer(answer="42") as server:
        response = await chat(server)
    assert response.status == 200
    assert response.json == {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "42"},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 2, "completion_tokens": 1, "total_tokens": 3},
    }


async def test_by_default_it_echoes_the_last_user_message(chat):
    async with FaultServer() as server:
        assert (await chat(server, "a river")).text == "You said: a river"


async def test_a_json_schema_gets_an_instance_that_repeats(chat):
    wanted = {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA}}
    async with FaultServer() as server:
        texts = [(await chat(server, response_format=wanted)).text for _ in range(3)]
    assert json.loads(texts[0])["kind"] in {"a", "b"}
    assert len(set(texts)) == 1


async def test_a_json_object_is_json(chat):
    async with FaultServer() as server:
        answer = await chat(server, response_format={"type": "json_object"})
    assert json.loads(answer.text) == {"text": "hello"}


async def test_an_answer_of_ones_own(chat):
    def answer(body):
        return Answer(
            None,
            "tool_calls",
            reasoning=f"T={body['temperature']}",
            usage=None,
            model="other",
        )

    async with FaultServer(answer) as server:
        value = (await chat(server, temperature=0.5)).json
    assert value["model"] == "other"
    assert value["choices"][0]["message"]["reasoning_content"] == "T=0.5"
    assert value["choices"][0]["message"]["content"] is None
    assert value["choices"][0]["finish_reason"] == "tool_calls"
    assert "usage" not in value


async def test_an_answer_function_that_raises_is_seen(chat):
    async with FaultServer(lambda body: body["nothing"]) as server:
        response = await chat(server)
    assert response.status == 500
    assert "KeyError('nothing')" in response.json["error"]["message"]


async def test_latency_may_depend_on_the_body(chat):
    waits = []

    def latency(body):
        waits.append(body["messages"][0]["content"])
        return 0.01

    async with FaultServer(latency=latency) as server:
        assert (await chat(server, "slow")).status == 200
    assert waits == ["slow"]


# other paths -------------------------------------------------------------------------


async def test_models_health_and_unknown_paths(get):
    async with FaultServer(
        models=["a", "b/c"], owned_by="llamacpp", max_model_len=512
    ) as server:
        models = (await get(server, "/v1/models?x=1")).json["data"]
        health = await get(server, "/health")
        unknown = await get(server, "/version")
    assert [model["id"] for model in models] == ["a", "b/c"]
    assert models[0]["owned_by"] == "llamacpp"
    assert models[0]["max_model_len"] == 512
    assert (health.status, health.body) == (200, b"")
    assert (unknown.status, unknown.json) == (404, {"detail": "Not Found"})


async def test_a_key_guards_v1_only(chat, get):
    async with FaultServer(require_key="sk-right") as server:
        assert (await get(server, "/health")).status == 200
        assert (await get(server, "/v1/models")).status == 401
        assert (await chat(server)).status == 401
        wrong = await chat(server, headers={"authorization": "Bearer sk-wrong"})
        right = await chat(server, headers={"authorization": "Bearer sk-right"})
        seen = await get(server, "/__stats")
    assert (wrong.status, right.status) == (401, 200)
    assert server.stats.authorized == 2
    assert b"sk-" not in seen.body
    assert "sk-" not in repr(server.stats)


@pytest.mark.parametrize(
    "payload", [b"", b"{", b"[]", b'{"messages": 3}', b'{"model": "m"}']
)
async def test_a_body_that_is_no_chat_request(connect, payload):
    async with FaultServer() as server:
        connection = await connect(server)
        response = await connection.ask("POST", "/v1/chat/completions", payload)
        await connection.close()
    assert response.status == 400
    assert server.stats.requests == 0


async def test_what_is_no_http_is_cut_off(connect):
    async with FaultServer() as server:
        connection = await connect(server)
        connection.writer.write(b"hello\r\n\r\n")
        assert await connection.reader.read() == b""
        await connection.close()


async def test_a_chunked_request_body(connect):
    payload = json.dumps({"messages": [{"role": "user", "content": "parts"}]}).encode()
    async with FaultServer() as server:
        connection = await connect(server)
        connection.writer.write(
            b"POST /v1/chat/completions HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n"
             b"5\r\n" + payload[:5] + b"\r\n"
            + b"%x\r\n" % len(payload[5:]) + payload[5:] + b"\r\n0\r\n\r\n"
        )  # fmt: skip
        assert (await connection.receive()).text == "You said: parts"
        await connection.close()


async def test_connections_are_kept_alive_until_the_client_says_close(connect):
    async with FaultServer() as server:
        connection = await connect(server)
        for _ in range(3):
            assert (await connection.ask("GET", "/health")).status == 200
        assert (
            await connection.ask("GET", "/health", connection="close")
        ).status == 200
        assert await connection.reader.read() == b""
        await connection.close()
    assert server.stats.connections == 1


# faults -----------------------------------------------------------------------------


async def test_a_status_with_a_body_of_choice(chat):
    faults = [
        Fault(429, numbers=[1], retry_after=2),
        Fault(429, numbers=[2], retry_after=0.25),
        Fault(400, numbers=[3], body={"error": "no"}),
        Fault(503, numbers=[4], body="upstream is away"),
    ]
    async with FaultServer(faults=faults) as server:
        responses = [await chat(server) for _ in range(4)]
    assert [response.status for response in responses] == [429, 429, 400, 503]
    assert responses[0].headers["retry-after"] == "2"
    assert responses[1].headers["retry-after"] == "0.25"
    assert "retry-after" not in responses[2].headers
    assert responses[2].json == {"error": "no"}
    assert responses[3].body == b"upstream is away"
    assert server.stats.statuses == {429: 2, 400: 1, 503: 1}


async def test_retry_after_as_a_date_asks_for_no_less(chat):
    before = time.time()
    async with FaultServer(
        faults=[Fault(429, retry_after=0.5, as_date=True)]
    ) as server:
        response = await chat(server)
    then = email.utils.parsedate_to_datetime(
        response.headers["retry-after"]
    ).timestamp()
    assert before + 0.5 <= then <= time.time() + 1.5


async def test_a_reset_comes_in_the_middle_of_the_answer(connect):
    async with FaultServer("x" * 1000, faults=[Fault("reset")]) as server:
        connection = await connect(server)
        await connection.send("POST", "/v1/chat/completions", b'{"messages": []}')
        with pytest.raises(ConnectionResetError):
            await connection.receive()
        await connection.close()
    assert server.stats.faults == {"reset": 1}
    assert not server.stats.answered


async def test_half_a_body_ends_before_its_length(connect):
    async with FaultServer("x" * 1000, faults=[Fault("half_body")]) as server:
        connection = await connect(server)
        await connection.send("POST", "/v1/chat/completions", b'{"messages": []}')
        with pytest.raises(asyncio.IncompleteReadError) as caught:
            await connection.receive()
        await connection.close()
    assert 0 < len(caught.value.partial) < caught.value.expected


async def test_a_drop_sends_no_byte(connect):
    async with FaultServer(faults=[Fault("drop")]) as server:
        connection = await connect(server)
        await connection.send("POST", "/v1/chat/completions", b'{"messages": []}')
        assert await connection.reader.read() == b""
        await connection.close()


async def test_a_hang_lasts_until_the_client_leaves(connect):
    async with FaultServer(faults=[Fault("hang")]) as server:
        connection = await connect(server)
        await connection.send("POST", "/v1/chat/completions", b'{"messages": []}')
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(connection.reader.read(1), 0.03)
        assert server.stats.in_flight == 1
        await connection.close()
        await _until(lambda: server.stats.in_flight == 0)
    assert server.stats.abandoned == 1
    assert not server.stats.statuses


async def test_a_trickle_comes_in_pieces_and_is_whole(chat):
    faults = [Fault("trickle", chunk=40, interval=0.001)]
    async with FaultServer("y" * 300, faults=faults) as server:
        assert (await chat(server)).text == "y" * 300
    assert server.stats.answered == {"hello": 1}


async def test_a_trickle_stops_when_the_client_leaves(connect):
    faults = [Fault("trickle", chunk=1, interval=0.01)]
    async with FaultServer("y" * 300, faults=faults) as server:
        connection = await connect(server)
        await connection.send("POST", "/v1/chat/completions", b'{"messages": []}')
        await connection.reader.readuntil(b"\r\n\r\n")
        await connection.close()
        await _until(lambda: server.stats.in_flight == 0)
    assert server.stats.abandoned == 1


async def test_an_endless_answer_stops_when_the_client_leaves(connect):
    async with FaultServer(faults=[Fault("endless")]) as server:
        connection = await connect(server)
        await connection.send("POST", "/v1/chat/completions", b'{"messages": []}')
        head = await connection.reader.readuntil(b"\r\n\r\n")
        assert b"chunked" in head
        await connection.reader.readexactly(100_000)
        await connection.close()
        await _until(lambda: server.stats.in_flight == 0)


@pytest.mark.parametrize(
    ("kind", "body"),
    [("html", b"<html>"), ("garbage", b'{"choices"'), ("empty", b"")],
)
async def test_a_200_that_is_no_json(chat, kind, body):
    async with FaultServer(faults=[Fault(kind)]) as server:
        response = await chat(server)
    assert response.status == 200
    assert response.body.startswith(body)
    with pytest.raises(json.JSONDecodeError):
        _ = response.json


async def test_finish_reasons_sizes_and_usage(chat):
    kinds = ["length", "content_filter", "huge", "no_usage", "negative_usage"]
    faults = [Fault(kind, numbers=[n], size=7_000) for n, kind in enumerate(kinds, 1)]
    async with FaultServer("0123456789", faults=faults) as server:
        cut, filtered, huge, missing, negative = [await chat(server) for _ in kinds]
    assert (cut.text, cut.finish_reason) == ("01234", "length")
    assert (filtered.text, filtered.finish_reason) == ("", "content_filter")
    assert len(huge.text) == 7_000
    assert (missing.text, "usage" in missing.json) == ("0123456789", False)
    assert negative.json["usage"]["completion_tokens"] == -7


async def test_faults_may_be_changed_while_it_runs(chat):
    async with FaultServer() as server:
        assert (await chat(server)).status == 200
        server.faults.append(Fault(503))
        assert (await chat(server)).status == 503
        server.faults.clear()
        assert (await chat(server)).status == 200


# life and counts ----------------------------------------------------------------------


async def test_it_comes_back_on_the_same_port(chat):
    server = FaultServer()
    await server.start()
    url = server.base_url
    await server.close()
    with pytest.raises(ConnectionRefusedError):
        await chat(server)
    await server.start()
    assert (await chat(server)).status == 200
    assert server.base_url == url
    await server.close()
    await server.close()


async def test_closing_cuts_what_is_in_flight(connect):
    server = FaultServer(latency=30)
    await server.start()
    connection = await connect(server)
    await connection.send("POST", "/v1/chat/completions", b'{"messages": []}')
    await _until(lambda: server.stats.in_flight == 1)
    await server.close()
    with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
        await connection.receive()
    await connection.close()
    assert server.stats.in_flight == 0


async def test_concurrency_is_what_the_client_had_open(connect):
    payload = json.dumps({"messages": [{"role": "user", "content": "x"}]}).encode()

    async def worker(server):
        connection = await connect(server)
        for _ in range(20):
            await connection.ask("POST", "/v1/chat/completions", payload)
        await connection.close()

    async with FaultServer(latency=0.001) as server:
        await asyncio.gather(*(worker(server) for _ in range(7)))
    assert server.stats.max_in_flight == 7
    assert server.stats.connections == 7
    assert server.stats.in_flight == 0
    assert server.stats.requests == 140
    assert server.stats.answered == {"x": 140}


async def test_prompts_are_named_by_their_mark_else_by_the_last_user_message(chat):
    async with FaultServer(keep_bodies=2) as server:
        await chat(server, "tell #R12# a")
        await chat(server, "tell #R12# b")
        await chat(server, "no mark", seed=3)
    assert server.stats.by_prompt == {"#R12#": 2, "no mark": 1}
    assert [body.get("seed") for body in server.stats.bodies] == [None, 3]
    assert server.stats.header_names["content-length"] == 3
    assert server.stats.paths == {"POST /v1/chat/completions": 3}


async def _until(condition):
    async with asyncio.timeout(5):
        while not condition():
            await asyncio.sleep(0.002)
