from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from raw_server import SCHEMA, ask, chat, http, models, serving

from synthnb.errors import ContextError, RequestRefusedError
from synthnb.providers import Provider
from synthnb.providers.dialect import Dialect, forget_dialects
from synthnb.providers.fitting import Planner, characters, shortened
from synthnb.providers.tokenize import Count
from synthnb.testing import Fault, FaultServer

WORDS = "The quick brown fox jumps over the lazy dog. "


def prompt(tokens):
    """A text of so many of the fault server's tokens, of four characters each."""
    return (WORDS * (tokens // 10 + 1))[: 4 * tokens - 4]


def planner(context):
    dialect = Dialect()
    dialect.learn_context(context)
    return Planner(dialect)


async def plan(context, request, tokens, *, is_exact=True):
    async def count(_):
        return None if tokens is None else Count(tokens, is_exact)

    return await planner(context).plan(request, count)


def fits(planner, request):
    return planner.fits(characters(request), request)


def tokenizations(server):
    return server.stats.paths["POST /tokenize"]


# ---- the plan


@pytest.mark.parametrize(
    ("tokens", "wanted", "sent"),
    [
        (900, 100, 100),
        (900, 124, 124),
        (900, 125, 124),
        (900, 496, 124),
        (900, 497, None),
        (900, None, None),
        (1024, None, "refused"),
        (1023, 1, 1),
        (1023, 4, 1),
        (1023, 5, "refused"),
        (2000, 100, "refused"),
    ],
)
async def test_the_budget_is_context_minus_prompt_minus_answer(tokens, wanted, sent):
    request = ask(prompt(900), max_tokens=wanted)
    if sent == "refused" or (wanted and sent is None):
        with pytest.raises(ContextError) as caught:
            await plan(1024, request, tokens)
        error = caught.value
        assert (error.limit, error.prompt_tokens, error.sent) == (1024, tokens, False)
        assert error.http_status is None
        assert not error.retryable
        assert "it was not sent" in error.message
    else:
        assert (await plan(1024, request, tokens)).sampling.max_tokens == sent


async def test_a_guessed_template_refuses_nothing_that_is_close():
    request = ask(prompt(1000))
    assert await plan(1024, request, 1000, is_exact=False) is request
    assert await plan(1024, request, 1020, is_exact=False) is request
    with pytest.raises(ContextError):
        await plan(1024, request, 1100, is_exact=False)


async def test_without_a_tokenizer_only_what_cannot_fit_is_refused():
    request = ask(WORDS * 100)  # 4,500 characters
    assert await plan(1024, request, None) is request
    with pytest.raises(ContextError, match="4,500 characters"):
        await plan(300, request, None)


async def test_long_runs_of_one_character_are_few_tokens():
    for piece in (" ", "-", "= ", "\n\n"):
        request = ask(piece * 20_000)
        assert await plan(1024, request, None) is request


async def test_a_size_of_an_earlier_kernel_refuses_nothing():
    dialect = Dialect()
    dialect.context = 16
    request = ask(prompt(900))
    assert await Planner(dialect).plan(request, None) is request


def test_an_unknown_context_fits_everything():
    assert Planner(Dialect()).fits(10**9, ask())


def test_answers_tell_how_dense_the_prompts_are():
    one, request = planner(4096), ask(WORDS * 200, max_tokens=512)  # 9,000 characters
    assert not fits(one, request)
    one.saw(9_000, 2_250)
    assert fits(one, request)
    one.saw(9_000, 4_000)  # another language
    assert not fits(one, request)
    one.saw(9_000, 2_250)
    assert not fits(one, request)  # the densest counts


def test_a_short_prompt_tells_of_the_template_only():
    one, request = planner(4096), ask(WORDS * 200)
    one.saw(9_000, 2_250)
    one.saw(3, 70)
    assert fits(one, request)


@given(st.integers(1, 10_000), st.integers(-100, 10_000))
def test_a_shorter_answer_fits_and_is_worth_having(wanted, room):
    found = shortened(ask(max_tokens=wanted), room)
    if found is None:
        assert wanted <= room or room * 4 < wanted
    else:
        assert wanted / 4 <= found.sampling.max_tokens == room < wanted


# ---- end to end


async def complete(server, *requests, model=None, **options):
    """Send requests in turn; give what came of each."""
    provider = Provider(server.base_url, model or server.chat.models[0], **options)
    client = await provider.connect()
    found = []
    for request in requests:
        try:
            found.append(await client.complete(request))
        except ContextError as error:
            found.append(error)
    await client.aclose()
    return found


@pytest.mark.parametrize("kind", ["vllm", "kaito-vllm", "llama.cpp"])
async def test_what_cannot_fit_is_never_sent(kind):
    async with FaultServer.like(kind, max_model_len=1024) as server:
        error, fine = await complete(server, ask(prompt(2_000)), ask("hi"))
        assert isinstance(error, ContextError)
        assert not error.sent
        assert error.limit == 1024
        assert abs(error.prompt_tokens - 2_000) < 20
        assert fine.text
        assert server.stats.requests == 1


@pytest.mark.parametrize("kind", ["sglang", "trtllm", "lm-studio", "openai", "mistral"])
async def test_without_a_tokenizer_the_server_decides(kind):
    async with FaultServer.like(kind, max_model_len=1024) as server:
        error, again = await complete(server, *[ask(prompt(2_000))] * 2)
        assert error.sent
        assert again.sent
        assert error.limit == 1024
        assert server.stats.requests == 2
        (hopeless,) = await complete(server, ask(prompt(9_000)))
        assert not hopeless.sent
        assert server.stats.requests == 2


@pytest.mark.parametrize("kind", ["vllm", "vllm-old", "sglang", "openai", "litellm"])
async def test_an_answer_is_shortened_to_the_room_that_is_left(kind):
    """Planned where the server counts, else after its refusal."""
    request = ask(prompt(800), max_tokens=400)
    async with FaultServer.like(kind, max_model_len=1024) as server:
        (found,) = await complete(server, request)
        assert found.adapted == ("max_tokens_lowered",)
        sent = server.stats.bodies[-1]
        assert 200 <= sent.get("max_tokens", 0) <= 224
        assert server.stats.requests == (1 if "vllm" in kind else 2)
    assert request.sampling.max_tokens == 400


async def test_an_answer_that_would_mostly_be_cut_off_is_refused():
    async with FaultServer.like("vllm", max_model_len=1024) as server:
        (error,) = await complete(server, ask(prompt(1_000), max_tokens=900))
        assert not error.sent
        assert "1,000 tokens and an answer of up to 900" in error.message
        assert "smaller max_tokens" in error.hint
        assert server.stats.requests == 0


async def test_short_prompts_ask_nothing():
    async with FaultServer.like("vllm", max_model_len=1024) as server:
        await complete(server, *[ask(prompt(100), max_tokens=50)] * 5)
        assert tokenizations(server) == 0


async def test_after_the_first_answer_ordinary_prompts_ask_nothing():
    async with FaultServer.like("vllm", max_model_len=4096) as server:
        requests = [ask(f"{n}{prompt(1_500)}", max_tokens=500) for n in range(5)]
        await complete(server, *requests)
        assert tokenizations(server) == 1


async def test_many_answers_to_one_prompt_ask_once():
    async with FaultServer.like("vllm", max_model_len=1024) as server:
        found = await complete(server, *[ask(prompt(800), max_tokens=400)] * 5)
        assert tokenizations(server) == 1
        assert {f.adapted for f in found} == {("max_tokens_lowered",)}


async def test_what_the_form_adds_is_counted():
    async with FaultServer.like(
        "vllm", answer='{"answer": "a"}', max_model_len=1024, no_response_format=True
    ) as server:
        (first, *_) = await complete(server, ask(prompt(100), schema=SCHEMA))
        assert first.adapted == ("prompt_only",)
        (error,) = await complete(server, ask(prompt(1_010), schema=SCHEMA))
        assert not error.sent
        assert error.prompt_tokens > 1_024


async def test_fit_alone_sends_nothing():
    async with FaultServer.like("vllm", max_model_len=1024) as server:
        client = await Provider(server.base_url, server.chat.models[0]).connect()
        assert client.context == 1024
        await client.fit(ask("hi"))
        with pytest.raises(ContextError):
            await client.fit(ask(prompt(2_000)))
        assert server.stats.requests == 0
        await client.aclose()


async def test_a_size_that_does_not_explain_the_refusal_is_not_believed():
    body = {"error": {"message": "maximum context length is 200 tokens"
                      " (150 in the messages)", "code": "context_length_exceeded"}}  # fmt: skip
    async with FaultServer(faults=[Fault(400, numbers=[1], body=body)]) as server:
        error, fine = await complete(server, ask("x"), ask(prompt(300)), model="m")
        assert error.limit == 200
        assert fine.text


async def test_a_server_that_takes_more_than_it_said_is_believed_in_that():
    async with serving(
        lambda seen: http(200, models("m", max_model_len=4)
                          if seen.method == "GET" else chat("hello"))
    ) as raw:  # fmt: skip
        client = await Provider(raw.url, "m").connect()
        assert client.context == 4
        await client.complete(ask("hi"))
        assert client.context is None
        await client.aclose()


async def test_a_refused_context_is_learned_for_the_next_kernel_as_a_hint():
    async with FaultServer.like("openai", max_model_len=1024) as server:
        (error,) = await complete(server, ask(prompt(2_000)))
        assert error.sent
        forget_dialects()
        (error,) = await complete(server, ask(prompt(9_000)))
        assert error.sent  # confirmed by the server first
        (error,) = await complete(server, ask(prompt(9_000)))
        assert not error.sent


async def test_other_refusals_are_no_matter_of_size():
    async with FaultServer(faults=[Fault(400, body={"error": "bad n"})]) as server:
        with pytest.raises(RequestRefusedError):
            await complete(server, ask("hi", max_tokens=5), model="m")
        assert server.stats.requests == 1
