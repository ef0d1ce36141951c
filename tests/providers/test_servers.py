"""Model lists and kinds of servers, as the servers write them."""

from __future__ import annotations

import json

import pytest

from synthnb.providers.answers import Answer
from synthnb.providers.preflight import nothing_listens
from synthnb.providers.servers import ListedModel, kind_of, read_models

VLLM = {
    "object": "list",
    "data": [
        {"id": "/workspace/vllm/weights", "owned_by": "vllm", "root": "/w", "parent": None, "max_model_len": 2048},
        {"id": "sql:lora/1", "owned_by": "vllm", "parent": "/workspace/vllm/weights", "max_model_len": None},
    ],
}  # fmt: skip
LLAMA_CPP = {
    "models": [{"name": "x"}],
    "object": "list",
    "data": [{"id": "x.gguf", "owned_by": "llamacpp", "meta": {"n_ctx_train": 8192}}],
}
OPENROUTER = {
    "data": [{"id": "a/b:free", "context_length": 131072, "architecture": {}}]
}
TOGETHER = [{"id": "org/model", "type": "chat", "context_length": 4096}]


def listed(value, **headers):
    return read_models(Answer(200, headers, json.dumps(value).encode()))


def test_vllm_lists_adapters_and_the_context():
    assert listed(VLLM) == (
        ListedModel("/workspace/vllm/weights", None, 2048, "vllm"),
        ListedModel("sql:lora/1", "/workspace/vllm/weights", None, "vllm"),
    )


def test_the_context_of_training_is_not_that_of_the_server():
    assert listed(LLAMA_CPP) == (ListedModel("x.gguf", None, None, "llamacpp"),)


def test_llama_cpp_lists_a_model_without_meta_while_it_loads():
    value = {"data": [{"id": "x", "owned_by": "llamacpp", "meta": None}]}
    assert listed(value)[0].loading
    assert not listed(LLAMA_CPP)[0].loading


def test_hosted_lists_are_read():
    assert listed(OPENROUTER)[0].context == 131072
    assert listed(TOGETHER) == (ListedModel("org/model", None, 4096, ""),)


@pytest.mark.parametrize("value", [None, 3, "x", {}, {"data": 3}, {"data": None}])
def test_what_is_no_list_is_none(value):
    assert listed(value) is None


def test_entries_without_an_id_are_left_out():
    assert listed({"data": [{}, {"id": ""}, {"id": 3}, "x", {"id": "m"}]}) == (
        ListedModel("m"),
    )


@pytest.mark.parametrize(
    ("value", "headers", "url", "kind"),
    [
        (VLLM, {}, "http://h:8000/v1", "vllm"),
        (VLLM, {"x-litellm-version": "1"}, "http://h:4000/v1", "litellm"),
        (TOGETHER, {"server": "llama.cpp"}, "http://h:1/v1", "llama.cpp"),
        (OPENROUTER, {}, "https://openrouter.ai/api/v1", "openrouter"),
        (OPENROUTER, {}, "http://localhost:8000/v1", "openai-compatible"),
        ({"data": []}, {}, "http://h:1/v1", "openai-compatible"),
    ],
)
def test_the_kind_comes_from_headers_owners_and_hosts(value, headers, url, kind):
    answer = Answer(200, headers, json.dumps(value).encode())
    assert kind_of(read_models(answer), answer, url) == kind


@pytest.mark.parametrize(
    "url", ["https://api.openai.com/v1", "http://10.0.0.1:1/v1", "http://h:1/v1"]
)
def test_another_machine_is_never_asked_whether_it_listens(url, monkeypatch):
    monkeypatch.setattr("socket.socket", None)
    assert nothing_listens(url) is False


def test_the_sixth_ip_version_is_asked_too():
    assert nothing_listens("http://[::1]:1/v1") is True
