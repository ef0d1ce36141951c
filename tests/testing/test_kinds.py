"""Servers that are like one of a kind: paths, metrics, error shapes, contexts."""

from __future__ import annotations

import asyncio
import json

import pytest

from synthnb.engine.gauges import read_gauges
from synthnb.providers.answers import Answer as RawAnswer
from synthnb.providers.error_bodies import read_failure
from synthnb.testing import Capacity, Fault, FaultServer
from synthnb.testing.kinds import KINDS
from synthnb.testing.overflow import OVERFLOWS

LOOKED_AT = [
    ("vllm", "vllm:num_requests_running", "vllm:num_requests_waiting"),
    ("vllm-old", "vllm:num_requests_running", "vllm:num_requests_waiting"),
    ("kaito-vllm", "vllm:num_requests_running", "vllm:num_requests_waiting"),
    ("sglang", "sglang:num_running_reqs", "sglang:num_queue_reqs"),
    ("llama.cpp", "llamacpp:requests_processing", "llamacpp:requests_deferred"),
]


def lenient(kind, **options):
    return FaultServer.like(kind, strict_model=False, **options)


@pytest.mark.parametrize("kind", list(KINDS))
async def test_every_kind_lists_its_models_and_answers_one(chat, get, kind):
    async with FaultServer.like(kind) as server:
        listed = await get(server, "/v1/models")
        model = listed.json["data"][0]
        answer = await chat(server, model=model["id"])
        health = await get(server, "/nowhere")
    assert answer.text == "You said: hello"
    assert model["owned_by"] == server.owned_by
    assert health.status == (200 if kind == "lm-studio" else 404)


@pytest.mark.parametrize("names", LOOKED_AT, ids=lambda names: names[0])
async def test_metrics_show_what_runs_and_waits(chat, get, until, names):
    kind, running, waiting = names
    capacity = Capacity("queue", 2)
    async with lenient(kind, latency=3600, capacity=capacity) as server:
        tasks = [asyncio.create_task(chat(server)) for _ in range(5)]
        await until(lambda: server.waiting == 3)
        page = (await get(server, "/metrics")).body.decode()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    gauges = read_gauges(page)
    assert (gauges.running, gauges.waiting) == (2, 3)
    assert f"# TYPE {running} gauge" in page
    assert f"# TYPE {waiting} gauge" in page
    if kind != "llama.cpp":
        assert gauges.cache == 1.0


async def test_metrics_count_tokens_and_finish_reasons(chat, get):
    faults = [Fault("length", numbers=[2])]
    async with lenient("vllm", faults=faults) as server:
        for _ in range(3):
            await chat(server, "x" * 40)
        page = (await get(server, "/metrics")).body.decode()
    values = dict(
        line.rsplit(" ", 1) for line in page.splitlines() if not line.startswith("#")
    )
    label = '{engine="0",model_name="Qwen/Qwen3-8B"}'
    assert float(values[f"vllm:prompt_tokens_total{label}"]) == 33
    written = float(values[f"vllm:generation_tokens_total{label}"])
    assert written == server.stats.completion_tokens > 0
    finished = {
        key.split('finished_reason="')[1].split('"')[0]: float(value)
        for key, value in values.items()
        if key.startswith("vllm:request_success_total")
    }
    assert (finished["stop"], finished["length"]) == (2, 1)


async def test_an_older_vllm_has_another_name_for_its_cache(get):
    async with FaultServer.like("vllm-old") as server:
        page = (await get(server, "/metrics")).body
    assert b"vllm:gpu_cache_usage_perc" in page
    assert b"kv_cache_usage_perc" not in page


async def test_kaito_counts_what_it_refused(chat, get):
    capacity = Capacity("rate", 1, per=3600)
    async with lenient("kaito-vllm", capacity=capacity) as server:
        await chat(server)
        await chat(server)
        page = (await get(server, "/metrics")).body
    assert b"kaito_ratelimit_rejected_total 1.0" in page


async def test_metrics_that_are_json(get):
    async with FaultServer.like("kaito-transformers") as server:
        value = (await get(server, "/metrics")).json
        assert (await get(server, "/health")).json == {"status": "Healthy"}
    assert value["gpu_info"][0]["memory"]["total"].endswith("GB")
    async with FaultServer.like("trtllm") as server:
        value = (await get(server, "/metrics")).json
    assert value[0]["numActiveRequests"] == 0


@pytest.mark.parametrize(
    ("kind", "status"), [("llama.cpp", 501), ("vllm", 404), ("sglang", 404)]
)
async def test_a_server_started_without_metrics(get, kind, status):
    async with FaultServer.like(kind, metrics=False) as server:
        assert (await get(server, "/metrics")).status == status


@pytest.mark.parametrize("kind", ["ollama", "openai", "mistral", "lm-studio"])
async def test_kinds_that_have_no_metrics(get, kind):
    async with FaultServer.like(kind) as server:
        page = await get(server, "/metrics")
    assert read_gauges(page.body.decode()) is None


async def test_kaito_while_it_loads_a_model(chat, get):
    async with FaultServer.like("kaito-vllm", loading=True) as server:
        page = (await get(server, "/metrics")).body
        statuses = [
            (await get(server, path)).status for path in ("/health", "/v1/models")
        ]
        statuses.append((await chat(server)).status)
        server.loading = False
        after = (await get(server, "/health")).status
    assert b"kaito_model_download_remaining_seconds" in page
    assert statuses == [404, 404, 404]
    assert after == 200


async def test_llama_cpp_while_it_loads_a_model(get):
    async with FaultServer.like("llama.cpp", loading=True) as server:
        health = await get(server, "/health")
        models = await get(server, "/v1/models")
    assert (health.status, models.status) == (503, 200)
    assert health.json["error"]["message"] == "Loading model"


async def test_tokens_are_counted_in_each_servers_form(post):
    messages = [{"role": "user", "content": "x" * 40}]
    async with FaultServer.like("vllm") as server:
        by_prompt = await post(server, "/tokenize", {"prompt": "x" * 40})
        by_chat = await post(server, "/tokenize", {"messages": messages})
        wrong = await post(server, "/tokenize", {})
    assert by_prompt.json["count"] == len(by_prompt.json["tokens"]) == 10
    assert by_prompt.json["max_model_len"] == 32_768
    assert by_chat.json["count"] == 11
    assert wrong.status == 400
    async with FaultServer.like("llama.cpp") as server:
        value = (await post(server, "/tokenize", {"content": "x" * 40})).json
    assert len(value["tokens"]) == 10


async def test_llama_cpp_shows_its_slots(chat, get, until):
    capacity = Capacity("queue", 2)
    async with FaultServer.like(
        "llama.cpp", latency=3600, capacity=capacity, max_model_len=2048
    ) as server:
        task = asyncio.create_task(chat(server))
        await until(lambda: server.running == 1)
        slots = (await get(server, "/slots")).json
        props = (await get(server, "/props")).json
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert [slot["is_processing"] for slot in slots] == [True, False]
    assert props["total_slots"] == 2
    assert props["default_generation_settings"]["n_ctx"] == 2048


async def test_ollamas_own_paths(get):
    async with FaultServer.like("ollama", models=["a:8b", "b:1b"]) as server:
        tags = (await get(server, "/api/tags")).json["models"]
        loaded = (await get(server, "/api/ps")).json["models"]
        version = (await get(server, "/api/version")).json["version"]
        root = (await get(server, "/")).body
    assert [model["name"] for model in tags] == ["a:8b", "b:1b"]
    assert loaded[0]["context_length"] == 4096
    assert version
    assert root == b"Ollama is running"


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("vllm", "/version"),
        ("sglang", "/get_server_info"),
        ("trtllm", "/health_generate"),
        ("lm-studio", "/api/v0/models"),
        ("litellm", "/health/liveliness"),
        ("litellm", "/health/readiness"),
    ],
)
async def test_other_paths(get, kind, path):
    async with FaultServer.like(kind) as server:
        assert (await get(server, path)).status == 200
    assert server.stats.paths == {f"GET {path}": 1}


# errors -------------------------------------------------------------------------------

SHAPES = {
    "vllm": lambda value: value["error"]["code"] == 500,
    "vllm-old": lambda value: value["object"] == "error" and "message" in value,
    "sglang": lambda value: value["object"] == "error",
    "trtllm": lambda value: value["object"] == "error",
    "mistral": lambda value: value["object"] == "error" and value["code"] == "500",
    "llama.cpp": lambda value: set(value["error"]) == {"code", "message", "type"},
    "lm-studio": lambda value: isinstance(value["error"], str),
    "kaito-transformers": lambda value: isinstance(value["detail"], str),
    "litellm": lambda value: value["error"]["code"] == "500",
    "openai": lambda value: value["error"]["code"] is None,
    "plain": lambda value: value["error"]["type"] == "scripted",
}


@pytest.mark.parametrize("kind", list(SHAPES))
async def test_a_scripted_error_has_the_kinds_shape(chat, kind):
    async with lenient(kind, faults=[Fault(500)]) as server:
        response = await chat(server)
    assert response.status == 500
    assert SHAPES[kind](response.json)
    assert "scripted 500" in read_failure(_raw(response)).message


async def test_mistrals_429(chat):
    capacity = Capacity("rate", 1, per=3600)
    async with lenient("mistral", capacity=capacity) as server:
        await chat(server)
        value = (await chat(server)).json
    assert (value["object"], value["type"], value["code"]) == (
        "error",
        "rate_limited",
        "1300",
    )


@pytest.mark.parametrize("kind", ["vllm", "openai", "mistral", "ollama"])
async def test_a_model_that_is_not_there(chat, kind):
    async with FaultServer.like(kind) as server:
        response = await chat(server, model="nowhere")
    assert response.status == 404
    assert read_failure(_raw(response)).is_unknown_model


# contexts -----------------------------------------------------------------------------


@pytest.mark.parametrize("overflow", [name for name in OVERFLOWS if name != "cut"])
async def test_what_does_not_fit_is_told_in_each_shape(chat, overflow):
    options = {"max_model_len": 100, "overflow": overflow}
    async with FaultServer(**options) as server:
        refused = await chat(server, "x" * 800)
        taken = await chat(server, "x" * 100)
    failure = read_failure(_raw(refused))
    assert refused.status == 400
    assert failure.is_context
    assert "100" in failure.message
    assert taken.status == 200


async def test_llama_cpp_gives_the_numbers(chat):
    async with FaultServer.like("llama.cpp", max_model_len=100) as server:
        error = (await chat(server, "x" * 800)).json["error"]
    assert error["type"] == "exceed_context_size_error"
    assert (error["n_prompt_tokens"], error["n_ctx"]) == (201, 100)


async def test_ollama_cuts_a_prompt_and_says_nothing(chat):
    messages = [
        {"role": "system", "content": "rules"},
        {"role": "user", "content": "old " * 100},
        {"role": "user", "content": "begin " + "x" * 900 + " end"},
    ]
    seen = []

    def answer(body):
        seen.extend(body["messages"])
        return "ok"

    async with FaultServer.like(
        "ollama", answer, max_model_len=100, strict_model=False
    ) as server:
        response = await chat(server, messages=messages)
        short = await chat(server, "short")
    assert response.status == 200
    assert response.json["usage"]["prompt_tokens"] == 100
    assert seen[0]["content"].endswith(" end")
    assert "begin" not in str(seen[0])
    assert short.json["usage"]["prompt_tokens"] == 2


async def test_ollamas_other_form_is_json_in_a_string(chat):
    options = {"max_model_len": 100, "overflow": "ollama-string"}
    async with lenient("ollama", **options) as server:
        value = (await chat(server, "x" * 800)).json
    inner = json.loads(value["error"])
    assert inner["error"]["n_ctx"] == 100


# refusals -----------------------------------------------------------------------------


async def test_a_kinds_refusals_are_on_and_may_be_switched_off(chat):
    async with FaultServer.like("openai-reasoning") as server:
        refused = await chat(server, model="o4-mini", max_tokens=5)
    async with FaultServer.like("openai-reasoning", no_max_tokens=False) as server:
        taken = await chat(server, model="o4-mini", max_tokens=5)
    assert refused.json["error"]["code"] == "unsupported_parameter"
    assert taken.status == 200


@pytest.mark.parametrize(
    ("flag", "fields"),
    [
        ("no_response_format", {"response_format": {"type": "json_object"}}),
        ("no_text_format", {"response_format": {"type": "text"}}),
        ("needs_user_turn", {"messages": [{"role": "system", "content": "s"}]}),
    ],
)
async def test_more_refusals(chat, flag, fields):
    async with FaultServer(**{flag: True}) as server:
        assert (await chat(server, **fields)).status == 400
        assert (await chat(server)).status == 200


def test_a_kind_that_does_not_exist():
    with pytest.raises(ValueError, match=r"llama\.cpp"):
        FaultServer.like("llamacpp")
    with pytest.raises(ValueError, match="ollama-string"):
        FaultServer(overflow="none")


def _raw(response):
    return RawAnswer(response.status, {}, response.body)
