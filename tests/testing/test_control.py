"""The flags of the process, and changing it while it runs."""

from __future__ import annotations

import json
import urllib.error
import urllib.request

import pytest

from synthnb.testing import fault_process


def ask(url, value=None):
    data = None if value is None else json.dumps(value).encode()
    try:
        with urllib.request.urlopen(url, data, timeout=10) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


def chat(server, **fields):
    body = {"model": "m", "messages": [{"role": "user", "content": "hello"}], **fields}
    return ask(f"{server.base_url}/chat/completions", body)


def test_a_process_that_is_like_a_kind():
    arguments = ["--kind", "vllm", "--model", "m", "--thinking", "hm"]
    rate = ["--capacity", '{"kind": "rate", "limit": 2, "per": 3600}']
    with fault_process(*arguments, *rate, "--think-form", "inline") as server:
        status, body = chat(server)
        assert status == 200
        assert b"<think>" in body
        assert chat(server)[0] == 200
        assert chat(server)[0] == 429
        root = server.base_url.removesuffix("/v1")
        assert b"vllm:num_requests_running" in ask(f"{root}/metrics")[1]
        server.set(capacity=None, faults=[{"what": 503}])
        assert chat(server)[0] == 503
        server.set(faults=[], thinking=None, served_model="other")
        status, body = chat(server)
        assert json.loads(body)["model"] == "other"
        assert b"think" not in body
        server.set(outages=[{"after": 0, "seconds": None, "how": 502}])
        assert chat(server)[0] == 502
        assert server.stats()["refused"] == 1


def test_flags_left_out_are_as_the_kind_has_them():
    with fault_process("--kind", "openai-reasoning") as server:
        fields = {"model": "o4-mini", "max_tokens": 3}
        assert b"unsupported_parameter" in chat(server, **fields)[1]
        assert chat(server)[0] == 404


def test_times_metrics_and_usage_by_flags():
    flags = ["--latency", "0.001", "--p99", "0.002", "--no-usage", "--no-metrics"]
    with fault_process(*flags, "--kind", "llama.cpp", "--seed", "3") as server:
        assert b"usage" not in chat(server)[1]
        root = server.base_url.removesuffix("/v1")
        assert ask(f"{root}/metrics")[0] == 501
    with fault_process("--latency", "0.001", "--jitter", "0.5") as server:
        assert chat(server)[0] == 200


@pytest.mark.parametrize(
    "settings",
    [
        {"nothing": 1},
        {"capacity": {"kind": "none", "limit": 1}},
        {"faults": [{"what": "nonsense"}]},
        {"faults": [{"where": "here"}]},
    ],
)
def test_settings_that_are_wrong_change_nothing(settings):
    with fault_process() as server:
        with pytest.raises(ValueError, match=r"no|where"):
            server.set(served_model="other", **settings)
        assert json.loads(chat(server)[1])["model"] == "m"


@pytest.mark.parametrize(
    ("flag", "text", "words"),
    [
        ("--capacity", '{"kind": "none", "limit": 1}', "no kind of capacity"),
        ("--outage", "{", "Expecting"),
        ("--kind", "toaster", "invalid choice"),
    ],
)
def test_flags_that_are_wrong_are_told(flag, text, words, capfd):
    with (
        pytest.raises(RuntimeError, match="ended before it listened"),
        fault_process(flag, text),
    ):
        pass
    assert words in capfd.readouterr().err
