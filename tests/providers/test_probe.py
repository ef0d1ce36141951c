from __future__ import annotations

import pytest
from raw_server import Broken, chat, free_port, http, models, serving

from synthnb.providers import Provider

NAMES = [
    "reached",
    "key accepted",
    "models listed",
    "model present",
    "answered",
    "server kind",
    "max context",
]


def routes(table, default=None):
    """Answer by path; what is not in the table is 404."""

    def reply(seen):
        found = table.get(seen.path, default or http(404, {"detail": "Not Found"}))
        return found(seen) if callable(found) else found

    return reply


def vllm(**more):
    listed = models("qwen", owned_by="vllm", max_model_len=4096)
    table = {
        "/v1/models": http(200, listed),
        "/v1/chat/completions": http(200, chat("x")),
    }
    return routes(table | more)


async def check(answer, *arguments, path="", **options):
    async with serving(answer) as raw:
        report = await Provider(raw.url + path, *arguments, **options).check()
    return report, raw


def outcomes(report):
    return [(step.name, step.outcome) for step in report.steps]


def step(report, name):
    return next(s for s in report.steps if s.name == name)


async def test_a_good_server_passes_every_step():
    report, raw = await check(vllm())
    assert outcomes(report) == [(name, "ok") for name in NAMES]
    assert report.ok
    assert (report.models, report.model) == (("qwen",), "qwen")
    assert (report.server, report.context) == ("vllm", 4096)
    assert all(s.seconds > 0 for s in report.steps)
    assert [s.path for s in raw.seen] == [
        "/v1/models", "/version", "/v1/chat/completions", "/tokenize",
    ]  # fmt: skip


async def test_the_one_token_call_sends_the_bare_minimum():
    _, raw = await check(vllm())
    assert raw.chats[0].json == {
        "model": "qwen",
        "messages": [{"role": "user", "content": "Hi"}],
        "max_tokens": 1,
    }


async def test_the_text_is_readable_and_names_origins(monkeypatch):
    monkeypatch.setenv("SYNTHNB_MODEL", "qwen")
    report, _ = await check(vllm())
    text = str(report)
    assert text.splitlines()[0] == report.base_url
    for word in ("reached", "4,096 tokens", "model from environment SYNTHNB_MODEL"):
        assert word in text
    assert "note: /v1 was added" in text


async def test_a_dead_server_fails_first_and_skips_the_rest():
    report = await Provider(f"http://127.0.0.1:{free_port()}").check()
    assert outcomes(report) == [
        ("reached", "failed"),
        *((n, "skipped") for n in NAMES[1:]),
    ]
    assert not report.ok
    assert "Provider.local()" in str(report)


async def test_an_unknown_host_is_reached_no_further():
    report = await Provider("http://nope.invalid:8000").check()
    assert step(report, "reached").outcome == "failed"
    assert "unknown" in step(report, "reached").detail


async def test_a_missing_key_is_no_dead_server(monkeypatch):
    report, raw = await check(routes({}, http(401, {"error": "no key"})))
    assert outcomes(report)[:3] == [
        ("reached", "ok"),
        ("key accepted", "failed"),
        ("models listed", "skipped"),
    ]
    assert "api_key=" in step(report, "key accepted").next_step
    assert len(raw.seen) == 1


async def test_a_variable_that_is_not_set_is_named():
    report = await Provider.preset("openai", "m").check()
    assert "OPENAI_API_KEY is not set" in str(report)
    assert not report.ok


async def test_a_public_list_does_not_hide_a_refused_key():
    answer = vllm(**{"/v1/chat/completions": http(401, {"error": "no"})})
    report, _ = await check(answer, api_key="sk-CANARY-9f3b7d21")
    assert step(report, "key accepted").outcome == "failed"
    assert step(report, "answered").outcome == "skipped"
    assert not report.ok


async def test_a_wrong_model_gets_a_close_one():
    report, raw = await check(vllm(), "qwem")
    assert step(report, "model present").next_step == "did you mean 'qwen'?"
    assert step(report, "answered").outcome == "skipped"
    assert raw.chats == []


async def test_several_models_and_adapters_are_listed():
    listed = models("base", "lora", owned_by="vllm")
    listed["data"][1]["parent"] = "base"
    report, _ = await check(routes({"/v1/models": http(200, listed)}))
    assert report.models == ("base", "lora")
    assert report.adapters == {"lora": "base"}
    assert "lora (adapter of base)" in step(report, "models listed").detail
    assert step(report, "model present").outcome == "failed"


async def test_ollama_names_need_no_latest_and_its_context_is_asked_for():
    answer = routes(
        {
            "/v1/models": http(200, models("llama3:latest", owned_by="library")),
            "/v1/chat/completions": http(200, chat("x")),
            "/api/ps": http(
                200, {"models": [{"name": "llama3:latest", "context_length": 4096}]}
            ),
        }
    )
    report, _ = await check(answer, "llama3")
    assert report.ok
    assert (report.server, report.context) == ("ollama", 4096)


async def test_no_model_pulled_yet():
    report, _ = await check(
        routes({"/v1/models": http(200, {"object": "list", "data": None})})
    )
    assert "pull" in step(report, "models listed").next_step


# ---- llama.cpp


def llama_cpp(health, meta):
    listed = models("/models/x.gguf", owned_by="llamacpp", meta=meta)
    return routes(
        {
            "/v1/models": http(200, listed),
            "/v1/chat/completions": http(200, chat("x")),
            "/health": health,
            "/props": http(200, {"default_generation_settings": {"n_ctx": 2048}}),
        }
    )


async def test_llama_cpp_answers_under_any_name_with_its_slot_context():
    report, _ = await check(llama_cpp(http(200), {"n_ctx_train": 32768}), "gpt-4")
    assert report.ok
    assert (report.server, report.context) == ("llama.cpp", 2048)
    assert "/models/x.gguf" in step(report, "model present").detail


@pytest.mark.parametrize(
    ("health", "meta"),
    [(http(503, {"error": {"message": "Loading model"}}), {"n": 1}), (http(200), None)],
)
async def test_llama_cpp_that_loads_is_not_ready(health, meta):
    report, raw = await check(llama_cpp(health, meta))
    assert step(report, "model present").outcome == "failed"
    assert "still loading" in str(report)
    assert raw.chats == []


# ---- KAITO, loading servers, wrong paths


async def test_a_loading_server_is_told_from_a_dead_one():
    report, _ = await check(
        routes({}, http(503, {"error": {"message": "Loading model"}}))
    )
    assert step(report, "reached").outcome == "ok"
    assert "still loading" in step(report, "models listed").next_step


@pytest.mark.parametrize(
    ("left", "word"), [("42.5", "about 42 s left"), ("-1", "downloading")]
)
async def test_kaito_that_downloads_its_model_shows_how_long(left, word):
    gauges = f'# HELP x\nkaito_model_download_remaining_seconds{{a="b"}} {left}\n'
    report, _ = await check(routes({"/metrics": http(200, gauges)}))
    assert word in step(report, "models listed").detail
    assert "still loading" in step(report, "models listed").next_step


async def test_a_wrong_path_is_corrected():
    report, _ = await check(vllm(), path="/other/v2")
    assert report.base_url.endswith("/other/v2")
    assert step(report, "models listed").next_step.endswith("/v1?")
    assert "did you mean http://127.0.0.1" in str(report)


async def test_a_server_without_a_list_is_tried_with_the_named_model():
    answer = routes({"/v1/chat/completions": http(200, chat("x"))})
    report, _ = await check(answer, "m")
    assert report.ok
    assert step(report, "models listed").outcome == "skipped"
    report, raw = await check(answer)
    assert not report.ok
    assert step(report, "models listed").outcome == "failed"
    assert raw.chats == []


async def test_litellm_health_is_never_asked():
    def litellm(seen):
        if seen.path == "/v1/models":
            return http(200, models("gpt"), x_litellm_version="1.80")
        return http(200, chat("x"))

    report, raw = await check(litellm)
    assert report.server == "litellm"
    assert report.ok
    refused, raw_404 = await check(
        routes({}, http(404, "no", x_litellm_version="1.80"))
    )
    assert not refused.ok
    paths = {s.path for s in (*raw.seen, *raw_404.seen)}
    assert "/health" not in paths
    assert "/metrics" not in paths


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"owned_by": "sglang", "max_model_len": 8192}, "sglang"),
        ({"owned_by": "local"}, "transformers"),
        ({"owned_by": "organization_owner"}, "lm-studio"),
        ({"owned_by": "somebody"}, "openai-compatible"),
        ({}, "openai-compatible"),
        ({"owned_by": 7, "parent": 7, "max_model_len": "x"}, "openai-compatible"),
    ],
)
async def test_the_kind_of_server_is_told(fields, kind):
    answer = routes(
        {
            "/v1/models": http(200, models("m", **fields)),
            "/v1/chat/completions": http(200, chat("x")),
        }
    )
    report, _ = await check(answer)
    assert report.ok
    assert report.server == kind
    assert report.dialect == (("prompt_only",) if kind == "transformers" else ())


async def test_lm_studio_tells_the_loaded_context():
    answer = routes(
        {
            "/v1/models": http(200, models("m", owned_by="organization_owner")),
            "/v1/chat/completions": http(200, chat("x")),
            "/api/v0/models": http(
                200, {"data": [{"id": "m", "loaded_context_length": 4096}]}
            ),
        }
    )
    report, _ = await check(answer)
    assert report.context == 4096


# ---- the last step


async def test_a_reasoning_model_learns_and_one_token_is_enough_to_see_it_works():
    def reply(seen):
        if "max_tokens" in seen.json:
            error = {
                "message": "Use 'max_completion_tokens': unsupported",
                "param": "max_tokens",
            }
            return http(400, {"error": error})
        return http(
            400,
            {"error": "Could not finish: max_tokens or model output limit was reached"},
        )

    report, _ = await check(vllm(**{"/v1/chat/completions": reply}))
    assert report.ok
    assert report.dialect == ("max_completion_tokens",)


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (http(500, {"error": "CUDA out of memory"}), "CUDA out of memory"),
        (http(200, "<html>"), "a page instead of JSON"),
        (Broken(b"", "close"), "connection broke"),
    ],
)
async def test_a_model_that_does_not_answer_fails_that_step_only(answer, word):
    report, _ = await check(vllm(**{"/v1/chat/completions": answer}))
    assert step(report, "model present").outcome == "ok"
    assert step(report, "answered").outcome == "failed"
    assert word in step(report, "answered").detail
    assert step(report, "max context").outcome == "skipped"
    assert not report.ok


@pytest.mark.parametrize(
    "body", ["[]", "[1]", '{"data": 3}', '{"data": [{"id": 4}]}', "[[[["]
)
async def test_odd_lists_of_models_do_no_harm(body):
    report, _ = await check(routes({"/v1/models": http(200, body)}), "m")
    assert not report.ok
    assert step(report, "models listed").outcome == "failed"
