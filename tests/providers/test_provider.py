from __future__ import annotations

import copy
import pickle
import socket
import time

import pytest
from raw_server import CANARY, chat, free_port, http, models, serving

from synthnb.config import Limits
from synthnb.errors import AuthError, ConfigError, ConnectError, ServerError
from synthnb.providers import ChatClient, CheckReport, Provider, local
from synthnb.providers.local import Launched, set_local_factory


def test_arguments_win_and_say_so():
    provider = Provider("localhost:8000", "m", CANARY)
    assert provider.base_url == "http://localhost:8000/v1"
    assert provider.model == "m"
    assert dict(provider.origins) == dict.fromkeys(
        ("base_url", "model", "api_key"), "argument"
    )
    assert "/v1 was added" in provider.notes


def test_the_environment_fills_what_is_missing(monkeypatch):
    monkeypatch.setenv("SYNTHNB_BASE_URL", "http://gpu:8000")
    monkeypatch.setenv("SYNTHNB_MODEL", "m")
    monkeypatch.setenv("SYNTHNB_API_KEY", CANARY)
    provider = Provider()
    assert (provider.base_url, provider.model) == ("http://gpu:8000/v1", "m")
    assert provider.key_state == "set (env:SYNTHNB_API_KEY)"
    assert dict(provider.origins) == {
        "base_url": "environment SYNTHNB_BASE_URL",
        "model": "environment SYNTHNB_MODEL",
        "api_key": "environment SYNTHNB_API_KEY",
    }


def test_a_key_of_the_environment_is_bound_to_an_origin(monkeypatch):
    monkeypatch.setenv("SYNTHNB_API_KEY", CANARY)
    assert Provider("http://any:1").key_state.startswith("set")
    monkeypatch.setenv("SYNTHNB_BASE_URL", "http://gpu:8000")
    assert Provider("http://gpu:8000/v1").key_state.startswith("set")
    other = Provider("http://other:8000/v1")
    assert other.key_state == "not set"
    assert "not sent" in other.origins["api_key"]
    assert Provider("http://other:8000/v1", api_key=CANARY).key_state == "set"


def test_a_preset_takes_its_own_variable_only(monkeypatch):
    monkeypatch.setenv("SYNTHNB_API_KEY", CANARY)
    provider = Provider.preset("openai", "gpt")
    assert provider.key_state == "not set (env:OPENAI_API_KEY)"
    assert provider.origins["base_url"] == "preset openai"
    assert Provider.preset("ollama").key_state == "not set"
    assert Provider.preset("groq", "m", "env:MINE").key_state == "not set (env:MINE)"


def test_nothing_given_names_the_three_ways():
    with pytest.raises(ConfigError, match="no base URL") as caught:
        Provider()
    for way in (
        'Provider("http',
        "Provider.preset(",
        "Provider.local()",
        "SYNTHNB_BASE_URL",
    ):
        assert way in caught.value.hint


def test_a_preset_name_in_place_of_a_url_is_recognised():
    with pytest.raises(ConfigError, match="name of a preset") as caught:
        Provider("OpenAI")
    assert 'Provider.preset("openai"' in caught.value.hint


def test_a_provider_is_immutable_and_equal_by_value_without_the_key():
    provider = Provider("http://h:1", "m", CANARY)
    with pytest.raises(AttributeError, match="immutable"):
        provider.model = "other"
    with pytest.raises(AttributeError, match="immutable"):
        del provider.model
    with pytest.raises(TypeError):
        provider.origins["model"] = "x"
    same = Provider("h:1/v1/", "m")
    assert provider == same
    assert hash(provider) == hash(same)
    assert provider != Provider("http://h:1", "n")
    assert provider != Provider("http://h:1", "m", headers={"x-a": "1"})
    assert provider != "http://h:1/v1"


@pytest.mark.parametrize(
    "twin", [copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))]
)
async def test_a_copy_is_whole_but_for_the_key(twin):
    provider = Provider("http://127.0.0.1:9", "m", CANARY, concurrency=3)
    assert CANARY.encode() not in pickle.dumps(provider)
    other = twin(provider)
    assert other == provider
    assert other.concurrency == 3
    assert "left behind" in repr(other)
    with pytest.raises(ConfigError, match="did not travel"):
        await other.connect()


def test_the_repr_shows_status_only():
    text = repr(Provider("http://h:1", "m", CANARY))
    assert text == "<Provider http://h:1/v1, model m, key set>"
    assert (
        repr(Provider("http://h:1"))
        == "<Provider http://h:1/v1, model not named, key not set>"
    )


def test_concurrency_comes_from_the_argument_then_the_place():
    assert Provider("http://h:1", concurrency=3).concurrency == 3
    assert Provider("http://127.0.0.1:11434").concurrency == 4
    assert Provider("http://h:1").concurrency == 256
    assert Provider.preset("vllm").concurrency == 64
    with pytest.raises(ConfigError, match="at least 1"):
        Provider("http://h:1", concurrency=0)


# ---- preflight


def test_a_dead_port_of_this_machine_fails_at_once():
    port = free_port()
    for host in ("127.0.0.1", "localhost"):
        began = time.perf_counter()
        with pytest.raises(
            ConnectError, match=f"nothing listens at http://{host}:{port}"
        ) as caught:
            Provider(f"http://{host}:{port}/v1").preflight()
        assert time.perf_counter() - began < 1
        assert "Provider.local()" in caught.value.hint


def test_the_hint_names_the_program_of_a_known_port(monkeypatch):
    monkeypatch.setattr("synthnb.providers.provider.nothing_listens", lambda _url: True)
    with pytest.raises(ConnectError) as caught:
        Provider("http://localhost:11434").preflight()
    assert "ollama serve" in caught.value.hint


def test_preflight_says_nothing_of_a_live_port_or_another_machine():
    with socket.create_server(("127.0.0.1", 0)) as server:
        Provider(f"http://localhost:{server.getsockname()[1]}").preflight()
    Provider("http://nope.invalid:1").preflight()
    Provider("https://192.0.2.1/v1").preflight()


# ---- connect: which model


async def test_the_only_model_is_taken():
    async with serving(http(200, models("qwen"))) as raw:
        client = await Provider(raw.url).connect()
        assert isinstance(client, ChatClient)
        assert (client.model, client.endpoint) == ("qwen", f"{raw.url}/v1")
        assert client.default_concurrency == 256
        await client.aclose()
        await client.aclose()
        assert [s.path for s in raw.seen] == ["/v1/models"]


async def test_several_models_must_be_chosen_from():
    listed = models("base", "lora-a")
    listed["data"][1]["parent"] = "base"
    async with serving(http(200, listed)) as raw:
        with pytest.raises(ConfigError, match="2 models") as caught:
            await Provider(raw.url).connect()
        assert caught.value.hint == "base, lora-a"
        client = await Provider(raw.url, "lora-a").connect()
        assert client.model == "lora-a"
        await client.aclose()


@pytest.mark.parametrize(
    ("answer", "kind", "word"),
    [
        (http(404, {"detail": "Not Found"}), ConfigError, "lists no models"),
        (http(200, "<html>"), ConfigError, "lists no models"),
        (http(200, {"object": "list", "data": None}), ConfigError, "no model yet"),
        (http(401, {"error": "no"}), AuthError, "refuses the key"),
        (http(500, "boom"), ServerError, "boom"),
    ],
)
async def test_no_list_and_no_model_is_an_error_at_connect(answer, kind, word):
    async with serving(answer) as raw:
        with pytest.raises(kind, match=word):
            await Provider(raw.url).connect()


@pytest.mark.parametrize(
    "answer",
    [http(403), http(404), http(500), http(200, "<html>"), http(200, models())],
)
async def test_a_named_model_needs_no_list(answer):
    async with serving(answer) as raw:
        client = await Provider(raw.url, "m").connect()
        assert client.model == "m"
        await client.aclose()


async def test_a_refused_key_fails_at_connect_though_the_model_is_named():
    async with serving(http(401, {"error": "no"})) as raw:
        with pytest.raises(AuthError):
            await Provider(raw.url, "m").connect()


async def test_a_dead_server_fails_at_connect():
    with pytest.raises(ConnectError, match="nothing listens"):
        await Provider(f"http://127.0.0.1:{free_port()}", "m").connect()


async def test_a_missing_variable_fails_at_connect_with_its_name():
    with pytest.raises(ConfigError, match="OPENAI_API_KEY is not set"):
        await Provider.preset("openai", "m").connect()


async def test_keyless_and_keyed_requests_carry_the_right_headers(monkeypatch):
    monkeypatch.setenv("MY_KEY", CANARY)
    async with serving(
        lambda s: http(200, models("m") if s.method == "GET" else chat())
    ) as raw:
        for key in (None, "env:MY_KEY", CANARY, lambda: CANARY):
            client = await Provider(
                raw.url, api_key=key, headers={"X-Title": "t"}
            ).connect()
            await client.aclose()
    sent = [s.headers.get("authorization") for s in raw.seen]
    assert sent == [None, *[f"Bearer {CANARY}"] * 3]
    assert all(s.headers["x-title"] == "t" for s in raw.seen)


async def test_a_header_of_ones_own_replaces_ours():
    async with serving(http(200, models("m"))) as raw:
        provider = Provider(raw.url, headers={"Authorization": "Basic abc def"})
        await (await provider.connect()).aclose()
    assert raw.seen[0].headers["authorization"] == "Basic abc def"


async def test_a_server_that_ignores_response_format_gets_the_prompt_only():
    from raw_server import SCHEMA, ask

    listed = models("m", owned_by="local")
    async with serving(
        lambda s: http(200, listed if s.method == "GET" else chat("{}"))
    ) as raw:
        client = await Provider(raw.url, "m").connect()
        found = await client.complete(ask(schema=SCHEMA))
        await client.aclose()
    assert found.adapted == ("prompt_only",)
    assert "response_format" not in raw.chats[0].json


# ---- local


class Puppet:
    def __init__(self, url, model=None, **options):
        self.url, self.model, self.options, self.launches = url, model, options, 0

    async def launch(self):
        self.launches += 1
        return Launched(self.url, self.model or "tiny", 3, 2_048)

    def describe(self):
        return "puppet"


@pytest.fixture
def no_factory():
    """Take the factory away for a test, whoever has registered one before."""
    before = list(local._registered)
    set_local_factory(None)
    yield
    local._registered[:] = before


@pytest.fixture
def factory(no_factory):
    def register(url):
        made = []

        def make(model, **options):
            made.append(Puppet(url, model, **options))
            return made[-1]

        set_local_factory(make)
        return made

    return register


def test_local_without_a_runtime_says_what_to_import(no_factory):
    with pytest.raises(ConfigError) as caught:
        Provider.local()
    assert "import synthnb as sn; sn.Provider.local()" in caught.value.hint


async def test_a_local_provider_launches_when_it_connects(factory):
    async with serving(
        lambda s: http(200, models("tiny") if s.method == "GET" else chat())
    ) as raw:
        made = factory(f"{raw.url}/v1")
        provider = Provider.local(threads=2)
        assert provider.base_url is None
        assert provider.is_local
        assert repr(provider) == "<Provider local model, model not named, key not set>"
        provider.preflight()
        assert sum(p.launches for p in made) == 0
        client = await provider.connect()
        assert (client.model, client.default_concurrency) == ("tiny", 3)
        await client.aclose()
        assert made[-1].options == {"threads": 2}
        assert made[-1].launches == 1
        report = await provider.check()
        assert report.ok
        assert report.context == 2_048
        assert report.base_url == f"{raw.url}/v1"


async def test_limits_decide_the_concurrency_where_they_name_one(factory):
    async with serving(http(200, models("tiny"))) as raw:
        factory(f"{raw.url}/v1")
        client = await Provider.local().connect(Limits(max_concurrency=7))
        assert client.default_concurrency == 7
        await client.aclose()


async def test_a_launch_that_fails_is_the_first_step_of_a_check(factory):
    from synthnb.errors import ModelServerError

    async def broken(_self):
        raise ModelServerError("no weights", hint="synthnb model pull")

    made = factory("http://127.0.0.1:1/v1")
    provider = Provider.local("tiny")
    del made[:]
    original, Puppet.launch = Puppet.launch, broken
    try:
        report = await provider.check()
    finally:
        Puppet.launch = original
    assert isinstance(report, CheckReport)
    assert report.steps[0].outcome == "failed"
    assert "synthnb model pull" in str(report)


def test_local_providers_pickle_and_compare(factory):
    factory("http://127.0.0.1:1/v1")
    provider = Provider.local("tiny", threads=2)
    assert pickle.loads(pickle.dumps(provider)) == provider
    assert provider != Provider.local("tiny", threads=3)
