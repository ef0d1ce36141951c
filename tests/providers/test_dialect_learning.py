"""What a client learns from answers: usage, reasoning, cut prompts, other models."""

from __future__ import annotations

import asyncio

import pytest
from raw_server import ask, chat, http, models, serving

from synthnb.providers import Provider
from synthnb.providers.client import MODEL_CHANGED
from synthnb.providers.completions import CUT
from synthnb.testing import Fault, FaultServer

WORDS = "The quick brown fox jumps over the lazy dog. "


async def connected(server, model=None):
    return await Provider(server.base_url, model or server.chat.models[0]).connect()


@pytest.mark.parametrize(
    ("kind", "form", "place"),
    [
        ("vllm", None, "reasoning"),
        ("sglang", None, "reasoning_content"),
        ("kaito-transformers", None, "inline"),
        ("vllm", "inline", "inline"),
    ],
)
async def test_where_reasoning_stands_is_learned(kind, form, place):
    async with FaultServer.like(kind, thinking="hm", think_form=form) as server:
        client = await connected(server)
        for _ in range(3):
            assert (await client.complete(ask())).reasoning == "hm"
        assert f"reasoning: {place}" in client.dialect
        await client.aclose()


async def test_a_server_without_usage_is_shown_as_such_until_it_sends_one():
    async with FaultServer(sends_usage=False) as server:
        client = await connected(server)
        found = await client.complete(ask())
        assert found.usage.prompt_tokens is None
        assert client.dialect == ("usage: missing",)
        server.chat.sends_usage = True
        await client.complete(ask())
        assert client.dialect == ()
        await client.aclose()


async def test_one_answer_without_usage_is_no_dialect():
    async with FaultServer(faults=[Fault("no_usage", numbers=[2, 4])]) as server:
        client = await connected(server)
        for _ in range(4):
            await client.complete(ask())
        assert client.dialect == ()
        await client.aclose()


# ---- another model


async def test_another_model_in_the_middle_is_noted_in_its_rows():
    async with FaultServer(
        faults=[Fault("other_model", numbers=[2, 3], text="other")]
    ) as server:
        client = await connected(server)
        assert client.served_models == ()
        found = [await client.complete(ask(f"{n}")) for n in range(4)]
        changed = [MODEL_CHANGED in one.adapted for one in found]
        assert changed == [False, True, True, False]
        assert client.served_models == (server.chat.models[0], "other")
        await client.aclose()


async def test_the_first_answer_settles_what_an_alias_stands_for():
    async with FaultServer(strict_model=False, models=["m"]) as server:
        server.faults.append(Fault("other_model", numbers=[1, 3], text="m-2026-01-02"))
        client = await connected(server, "m")
        found = [await client.complete(ask(f"{n}")) for n in range(3)]
        assert [one.adapted for one in found] == [()] * 3
        assert client.served_models == ("m-2026-01-02",)
        await client.aclose()


# ---- prompts that a server cuts in silence


async def test_ollama_is_asked_for_its_context_once_the_model_is_loaded():
    loaded = asyncio.Event()
    most = 0

    def answer(seen):
        nonlocal most
        if seen.path == "/api/ps":
            most += loaded.is_set()
            running = [{"name": "qwen3:8b", "context_length": 8192}]
            return http(200, {"models": running if loaded.is_set() else []})
        if seen.path.endswith("/models"):
            return http(200, models("qwen3:8b", owned_by="library"))
        if seen.path.endswith("/chat/completions"):
            loaded.set()
            return http(200, chat("hello"))
        return http(404, "404 page not found")

    async with serving(answer) as raw:
        client = await Provider(raw.url, "qwen3:8b").connect()
        assert client.context is None
        found = await asyncio.gather(*(client.complete(ask()) for _ in range(10)))
        assert len(found) == 10
        assert client.context == 8192
        await client.complete(ask())
        assert most == 1
        await client.aclose()


@pytest.mark.parametrize("wanted", [None, 100])
async def test_ollamas_cut_prompt_is_told_for_sure(wanted):
    async with FaultServer.like("ollama", max_model_len=512) as server:
        client = await connected(server)
        assert client.context == 512
        fine = await client.complete(ask(WORDS * 30, max_tokens=wanted))
        cut = await client.complete(ask(WORDS * 60, max_tokens=wanted))
        assert fine.adapted == ()
        assert cut.adapted == (CUT,)
        assert cut.usage.prompt_tokens == 512
        assert "cuts_prompts" in client.dialect
        await client.aclose()


async def test_a_full_prompt_that_fits_with_its_answer_is_not_cut():
    """A judge that answers with one token may use the context to the brim."""
    fits = ask(WORDS, max_tokens=2)
    brim = {"usage": {"prompt_tokens": 4094, "completion_tokens": 2}}
    async with serving(
        lambda seen: http(200, models("m", max_model_len=4096)
                          if seen.method == "GET" else chat("4") | brim)
    ) as raw:  # fmt: skip
        client = await Provider(raw.url, "m").connect()
        assert (await client.complete(fits)).adapted == ()
        assert (await client.complete(ask(WORDS, max_tokens=3))).adapted == (CUT,)
        await client.aclose()


async def test_an_unknown_context_is_learned_from_a_prompt_that_filled_it():
    brim = {"usage": {"prompt_tokens": 4095, "completion_tokens": 9}}
    async with serving(
        lambda seen: http(200, models("m") if seen.method == "GET" else chat() | brim)
    ) as raw:
        client = await Provider(raw.url, "m").connect()
        unlike = " ".join(f"{n:x} lazy dogs" for n in range(3_000))
        found = await client.complete(ask(unlike))
        assert found.adapted == (CUT,)
        assert client.context == 4096
        assert client.dialect == ("cuts_prompts",)
        await client.aclose()


# ---- the sizes that servers tell


@pytest.mark.parametrize(
    "kind", ["vllm", "vllm-old", "kaito-vllm", "sglang", "llama.cpp", "ollama", "lm-studio"]
)  # fmt: skip
async def test_the_context_is_known_before_the_first_request(kind):
    async with FaultServer.like(kind, max_model_len=2048) as server:
        client = await connected(server)
        assert client.context == 2048
        assert server.stats.requests == 0
        await client.aclose()


@pytest.mark.parametrize("kind", ["kaito-transformers", "trtllm", "openai", "litellm"])
async def test_else_it_is_learned_from_a_refusal(kind):
    async with FaultServer.like(kind, max_model_len=2048) as server:
        client = await connected(server)
        assert client.context is None
        with pytest.raises(Exception, match="do not fit") as caught:
            await client.complete(ask("x" * 12_000))
        assert caught.value.limit == client.context == 2048
        await client.aclose()


async def test_litellm_is_never_asked_for_its_costly_health():
    async with FaultServer.like("litellm") as server:
        client = await connected(server)
        await client.complete(ask())
        await client.aclose()
        await Provider(server.base_url, server.chat.models[0]).check()
        assert "GET /health" not in server.stats.paths


async def test_the_check_shows_what_was_learned():
    async with FaultServer.like("vllm", thinking="hm") as server:
        report = await Provider(server.base_url, server.chat.models[0]).check()
        assert report.dialect == ("reasoning: reasoning",)
        assert report.counts_tokens
        assert report.context == 32_768
        assert "32,768 tokens; it counts tokens itself (/tokenize)" in str(report)
        assert report.to_json()["counts_tokens"] is True
