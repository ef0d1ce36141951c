"""A server that goes away and comes back."""

from __future__ import annotations

import asyncio
import contextlib
import urllib.error
import urllib.request

import pytest

from synthnb.testing import FaultServer, Outage


async def comes_back(chat, server):
    async with asyncio.timeout(10):
        while True:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                response = await chat(server)
                if response.status == 200:
                    return response
            await asyncio.sleep(0.005)


async def test_no_process_refuses_connections_and_cuts_those_it_had(
    chat, connect, until
):
    async with FaultServer(latency=0) as server:
        server.chat.latency = 3600
        connection = await connect(server)
        await connection.send("POST", "/v1/chat/completions", b'{"messages": []}')
        await until(lambda: server.stats.in_flight == 1)
        port = server.port
        server.down()
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            await connection.receive()
        with pytest.raises(ConnectionRefusedError):
            await chat(server)
        await until(lambda: server.stats.in_flight == 0)
        server.chat.latency = 0
        server.up()
        assert (await chat(server)).status == 200
        assert server.port == port
        await connection.close()


async def test_a_proxy_without_its_server_drops(connect):
    async with FaultServer() as server:
        server.down("drop")
        connection = await connect(server)
        with contextlib.suppress(ConnectionError):
            await connection.send("GET", "/health")
            assert await connection.reader.read() == b""
        await connection.close()
        server.up()
        again = await connect(server)
        assert (await again.ask("GET", "/health")).status == 200
        await again.close()
    assert "GET /health" in server.stats.paths


async def test_a_gateway_answers_every_path(chat, get):
    async with FaultServer() as server:
        server.down(503)
        statuses = [(await get(server, "/health")).status, (await chat(server)).status]
        assert (await get(server, "/__stats")).status == 200
        server.up()
        statuses.append((await get(server, "/health")).status)
    assert statuses == [503, 503, 200]
    assert server.stats.requests == 0


@pytest.mark.parametrize("how", ["refuse", "drop", 502])
async def test_an_outage_begins_after_so_many_requests_and_ends(chat, how):
    outage = Outage(after=3, seconds=0.05, how=how, model="another")
    async with FaultServer(outages=[outage]) as server:
        before = [(await chat(server)).json["model"] for _ in range(3)]
        if isinstance(how, int):
            assert (await chat(server)).status == how
        else:
            with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
                await chat(server)
        after = await comes_back(chat, server)
        assert server.chat.models == ["another"]
    assert before == ["m"] * 3
    assert after.json["model"] == "another"
    assert server.outages == []


async def test_an_outage_without_an_end_waits_for_up(chat, get):
    async with FaultServer(outages=[Outage(0, None, 503)]) as server:
        assert (await chat(server)).status == 503
        assert (await get(server, "/health")).status == 503
        server.up()
        assert (await chat(server)).status == 200


async def test_closing_while_it_is_away():
    server = FaultServer(outages=[Outage(0, 3600)])
    await server.start()
    server.down()
    server.down()
    await server.close()
    await server.start()
    server.up()
    await server.close()


async def test_up_twice_is_up_once(chat):
    async with FaultServer() as server:
        server.up()
        server.down()
        server.up()
        server.up()
        assert (await chat(server)).status == 200
        server.down()
        with pytest.raises(ConnectionRefusedError):
            await chat(server)


def test_down_and_up_from_another_thread():
    with FaultServer.in_thread() as server:
        server.down()
        with pytest.raises(urllib.error.URLError, match="refused"):
            urllib.request.urlopen(f"{server.url}/health", timeout=5)
        server.up()
        with urllib.request.urlopen(f"{server.url}/health", timeout=5) as answer:
            assert answer.status == 200
