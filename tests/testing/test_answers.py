"""Forms of an answer: thinking, refusals, cuts, odd characters, another model."""

from __future__ import annotations

import json

import pytest

from synthnb.testing import ODD_TEXTS, Answer, Fault, FaultServer

THOUGHT = "First, the river."


def message(response):
    return response.json["choices"][0]["message"]


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("reasoning", {"content": "42", "reasoning": THOUGHT}),
        ("reasoning_content", {"content": "42", "reasoning_content": THOUGHT}),
        ("inline", {"content": f"<think>\n{THOUGHT}\n</think>\n\n42"}),
        ("closing_only", {"content": f"{THOUGHT}\n</think>\n\n42"}),
        ("hidden", {"content": "42"}),
    ],
)
async def test_where_thinking_stands(chat, form, expected):
    async with FaultServer(Answer("42", thinking=THOUGHT, form=form)) as server:
        one = await chat(server)
    async with FaultServer("42", thinking=THOUGHT, think_form=form) as server:
        all_alike = await chat(server)
    assert message(one) == {"role": "assistant", **expected}
    assert message(all_alike) == message(one)
    details = one.json["usage"]["completion_tokens_details"]
    assert details["reasoning_tokens"] == len(THOUGHT) // 4 + 1


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        ("vllm", "reasoning"),
        ("vllm-old", "reasoning_content"),
        ("sglang", "reasoning_content"),
        ("ollama", "reasoning"),
    ],
)
async def test_a_kind_has_its_own_form(chat, kind, field):
    async with FaultServer.like(
        kind, "42", thinking="hm", strict_model=False
    ) as server:
        assert message(await chat(server))[field] == "hm"


async def test_json_in_the_wrong_field(chat):
    async with FaultServer('{"a": 1}', faults=[Fault("wrong_field")]) as server:
        got = message(await chat(server))
    assert got["content"] is None
    assert json.loads(got["reasoning_content"]) == {"a": 1}


async def test_what_stands_in_place_of_a_text(chat):
    kinds = ["refusal", "tool_calls", "null_content", "zero_usage", "cut_json"]
    faults = [Fault(kind, numbers=[n]) for n, kind in enumerate(kinds, 1)]
    async with FaultServer('{"a": [1, 2, 3]}', faults=faults) as server:
        refusal, tool, null, zero, cut = [await chat(server) for _ in kinds]
    assert message(refusal)["content"] is None
    assert message(refusal)["refusal"].startswith("I'm sorry")
    assert tool.finish_reason == "tool_calls"
    assert message(tool)["tool_calls"][0]["function"]["name"] == "search"
    assert message(null)["content"] is None
    assert set(zero.json["usage"].values()) == {0}
    assert cut.finish_reason == "length"
    with pytest.raises(json.JSONDecodeError):
        json.loads(cut.text)


@pytest.mark.parametrize("odd", list(ODD_TEXTS))
async def test_odd_characters_reach_the_client(chat, odd):
    async with FaultServer(ODD_TEXTS[odd]) as server:
        assert (await chat(server)).text == ODD_TEXTS[odd]
    async with FaultServer(faults=[Fault("odd_text", text=ODD_TEXTS[odd])]) as server:
        assert (await chat(server)).text == ODD_TEXTS[odd]


async def test_another_model_answers_in_the_middle_of_a_run(chat):
    async with FaultServer(faults=[Fault("other_model", numbers=[2])]) as server:
        models = [(await chat(server)).json["model"] for _ in range(3)]
        server.chat.served_model = "swapped"
        models.append((await chat(server)).json["model"])
    assert models == ["m", "another-model", "m", "swapped"]


async def test_a_late_answer_comes_to_nobody(connect, until):
    faults = [Fault("late", seconds=0.05)]
    async with FaultServer(faults=faults) as server:
        patient = await connect(server)
        payload = b'{"messages": []}'
        answer = await patient.ask("POST", "/v1/chat/completions", payload)
        hasty = await connect(server)
        server.faults[:] = [Fault("late", seconds=3600)]
        await hasty.send("POST", "/v1/chat/completions", payload)
        await until(lambda: server.stats.in_flight == 1)
        await hasty.close()
        await until(lambda: server.stats.abandoned == 1)
        await patient.close()
    assert answer.status == 200
    assert server.stats.faults["late"] == 1


async def test_a_limit_on_tokens_cuts_answers_where_the_server_keeps_it(chat):
    async with FaultServer("0123456789", cuts_at_max_tokens=True) as server:
        cut = await chat(server, max_tokens=2)
        whole = await chat(server, max_tokens=20)
    async with FaultServer(
        "0123456789", cuts_at_max_tokens=True, thinking="x" * 80
    ) as server:
        thought = await chat(server, max_completion_tokens=5)
    assert (cut.text, cut.finish_reason) == ("01234567", "length")
    assert (whole.text, whole.finish_reason) == ("0123456789", "stop")
    assert (thought.text, thought.finish_reason) == ("", "length")


async def test_a_server_that_sends_no_usage_still_counts(chat):
    async with FaultServer(sends_usage=False) as server:
        assert "usage" not in (await chat(server)).json
    assert server.stats.prompt_tokens == 2


def test_a_form_that_does_not_exist():
    with pytest.raises(ValueError, match="closing_only"):
        Answer("x", thinking="y", form="brackets")
