"""Every kind of server, refusing everything that some server refuses."""

from __future__ import annotations

import pytest
from raw_server import SCHEMA, ask

from synthnb.providers import Provider
from synthnb.testing import FaultServer
from synthnb.testing.kinds import KINDS

ANSWER = '{"answer": "a"}'
EVERYTHING = ask(schema=SCHEMA, system="s", temperature=0.3, max_tokens=50)
NOTES = {
    "no_json_schema": {"json_object", "prompt_only"},
    "no_json_object": set(),
    "no_response_format": {"prompt_only"},
    "no_temperature": {"no_temperature"},
    "no_max_tokens": set(),
    "no_system_role": {"system_folded"},
}


async def send_twice(server):
    """Return what the second request was sent as, and how many the first one took."""
    client = await Provider(server.base_url, server.chat.models[0]).connect()
    first = await client.complete(EVERYTHING)
    took = server.stats.requests
    second = await client.complete(EVERYTHING)
    assert (first.text, second.text) == (ANSWER, ANSWER)
    assert first.adapted == second.adapted
    assert server.stats.requests == took + 1
    await client.aclose()
    return second, took


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("flag", NOTES)
async def test_each_refusal_of_each_kind_is_learned_once(kind, flag):
    own = set(KINDS[kind].refusals)
    async with FaultServer.like(kind, ANSWER, **{flag: True}) as server:
        found, took = await send_twice(server)
        assert not NOTES[flag] or NOTES[flag] & set(found.adapted)
        # Where the words leave open whether another format is taken, it is tried.
        assert took <= 1 + len(own | {flag}) + (flag == "no_response_format")


@pytest.mark.parametrize("kind", KINDS)
async def test_all_at_once_are_learned_one_after_the_other(kind):
    flags = dict.fromkeys(NOTES, True)
    async with FaultServer.like(kind, ANSWER, **flags) as server:
        found, took = await send_twice(server)
        assert set(found.adapted) == {"prompt_only", "no_temperature", "system_folded"}
        assert took <= 7
