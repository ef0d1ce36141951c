from __future__ import annotations

import asyncio
import json
import os
import stat
import subprocess
import sys
import time

import pytest
from raw_server import CANARY, SCHEMA, ask, chat, http, models, serving

from synthnb.providers import Provider, dialect_cache
from synthnb.providers.dialect import Dialect, dialect_of, forget_dialects
from synthnb.providers.forms import Form, Structured
from synthnb.testing import FaultServer

URL = "https://models.invalid/v1"
NEAR = "http://127.0.0.1:8000/v1"
DAY = 86_400


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("SYNTHNB_DIALECTS", str(tmp_path / "kept"))
    return tmp_path / "kept"


def learned(url=URL, model="m"):
    dialect = dialect_of(url, model)
    dialect.form = Form(
        Structured.JSON_OBJECT, completion_limit=True, dropped=frozenset({"seed"})
    )
    dialect.learn_context(4096)
    dialect.learn_settled(48)
    return dialect


def again(url=URL, model="m"):
    """As a new kernel would see it."""
    forget_dialects()
    return dialect_of(url, model)


def only_file(folder):
    (file,) = folder.glob("*.json")  # a new one may just be written beside it
    return file


def change(folder, **values):
    file = only_file(folder)
    file.write_text(json.dumps(json.loads(file.read_text()) | values))


def test_a_new_kernel_knows_what_was_learned(folder):
    before = learned()
    known = again()
    assert known is not before
    assert known.form == before.form
    assert (known.context, known.is_context_sure) == (4096, False)
    assert known.settled == 48
    assert time.time() - known.learned_at < 60
    assert known.describe() == before.describe()


def test_other_servers_and_models_are_not_mixed_up(folder):
    learned()
    assert again(model="n").form == Form()
    assert again(url="https://other.invalid/v1").form == Form()


def test_the_file_is_private_small_and_holds_what_it_may(folder):
    learned()
    file = only_file(folder)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert file.stat().st_size < 1_000
    assert set(json.loads(file.read_text())) == {
        "version", "base_url", "model", "server", "learned_at", "context",
        "structured", "completion_limit", "fold_system", "plain_schema", "dropped",
        "reasoning", "sends_usage", "cuts_prompts", "settled",
    }  # fmt: skip


def test_what_is_like_every_server_is_not_written(folder):
    dialect = dialect_of(URL, "m")
    dialect.meet("vllm 0.14.1")
    dialect.learn_usage(is_sent=True)
    dialect.keep()
    assert not folder.exists() or not list(folder.iterdir())


@pytest.mark.parametrize(
    ("url", "days", "known"),
    [(URL, 29, True), (URL, 31, False), (NEAR, 0.9, True), (NEAR, 1.1, False), (URL, -1, False)],
)  # fmt: skip
def test_it_ages_out(folder, url, days, known):
    learned(url)
    change(folder, learned_at=time.time() - days * DAY)
    assert (again(url).form != Form()) is known


def test_a_later_lesson_of_another_kind_makes_no_refusal_younger(folder):
    learned()
    old = time.time() - 20 * DAY
    change(folder, learned_at=old)
    again().learn_settled(12)
    known = again()
    assert (known.settled, known.learned_at) == (12, old)
    assert known.form != Form()


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '"x"', "{}", '{"version": 2}', "[" * 100_000, "\x00"],
)
def test_a_damaged_file_is_as_good_as_none(folder, text):
    learned()
    only_file(folder).write_text(text)
    assert again().form == Form()
    assert learned().form != Form()
    assert again().form != Form()


@pytest.mark.parametrize(
    "values",
    [
        {"version": 3},
        {"version": "2"},
        {"structured": 9},
        {"structured": "x"},
        {"dropped": None},
        {"base_url": "https://other.invalid/v1"},
        {"model": "n"},
        {"learned_at": "yesterday"},
        {"learned_at": True},
    ],
)
def test_a_newer_or_strange_file_is_ignored(folder, values):
    learned()
    change(folder, **values)
    known = again()
    assert (known.form, known.context, known.settled) == (Form(), None, None)


@pytest.mark.parametrize(
    ("values", "attribute"),
    [
        ({"context": "4096"}, "context"),
        ({"context": -1}, "context"),
        ({"context": True}, "context"),
        ({"settled": 0}, "settled"),
        ({"settled": 10**9}, "settled"),
        ({"reasoning": "elsewhere"}, "reasoning"),
        ({"sends_usage": "no"}, "sends_usage"),
    ],
)
def test_one_strange_value_costs_that_value(folder, values, attribute):
    learned()
    change(folder, **values)
    known = again()
    assert getattr(known, attribute) is None
    assert known.form != Form()


def test_only_parameters_that_one_can_do_without_are_dropped(folder):
    learned()
    change(folder, dropped=["seed", "messages", "model"])
    assert again().form.dropped == {"seed"}


def test_a_server_of_another_version_is_met_anew(folder):
    learned().meet("vllm 0.9.0")
    known = again()
    known.meet("vllm 0.9.0")
    assert known.form != Form()
    known = again()
    known.meet("vllm 0.14.1")
    assert (known.form, known.context, known.settled) == (Form(), None, None)
    assert again().form == Form()  # on disk as well


def test_a_server_that_tells_no_version_is_believed(folder):
    learned().meet("vllm 0.9.0")
    known = again()
    known.meet("")
    assert known.form != Form()


def test_it_can_be_switched_off_and_forgotten(folder, monkeypatch):
    learned()
    Provider(URL, "m").forget()
    assert again().form == Form()
    learned(model="m")
    learned(model="n")
    learned(url="https://other.invalid/v1")
    Provider(URL).forget()
    assert len(list(folder.iterdir())) == 1
    monkeypatch.setenv("SYNTHNB_DIALECTS", "off")
    forget_dialects()
    learned(model="o")
    assert again(model="o").form == Form()
    assert len(list(folder.iterdir())) == 1


def test_the_folder_is_beside_the_other_caches(monkeypatch, tmp_path):
    monkeypatch.delenv("SYNTHNB_DIALECTS")
    monkeypatch.setenv("SYNTHNB_CACHE", str(tmp_path))
    assert dialect_cache.folder() == tmp_path / "dialects"


def test_a_disk_that_cannot_be_written_costs_nothing(folder, monkeypatch):
    folder.write_text("a file where the folder should be")
    assert learned().form != Form()
    monkeypatch.setenv("SYNTHNB_DIALECTS", "/proc/nowhere")
    assert learned(model="n").form != Form()


def test_the_folder_stays_small(folder, monkeypatch):
    monkeypatch.setattr(dialect_cache, "_MOST_FILES", 10)
    for n in range(30):
        dialect_cache.save(URL, f"m{n}", {"learned_at": time.time()})
        os.utime(folder / dialect_cache._name(URL, f"m{n}"), (n, n))
    assert 5 <= len(list(folder.iterdir())) <= 10
    assert dialect_cache.load(URL, "m29")
    assert not dialect_cache.load(URL, "m0")


def test_processes_that_write_at_once_leave_a_whole_file(folder):
    code = """
import sys, time
from synthnb.providers import dialect_cache
for n in range(200):
    dialect_cache.save("https://a/v1", "m", {"learned_at": time.time(), "by": sys.argv[1] * 5000})
    found = dialect_cache.load("https://a/v1", "m")
    assert found and set(found["by"]) <= {"a", "b"} and len(found["by"]) == 5000
"""
    environment = dict(os.environ, SYNTHNB_DIALECTS=str(folder))
    both = [
        subprocess.Popen([sys.executable, "-c", code, name], env=environment)
        for name in "ab"
    ]
    assert [one.wait(60) for one in both] == [0, 0]
    assert len(list(folder.iterdir())) == 1


async def test_it_is_written_off_the_loop_and_in_order(folder):
    dialect = learned()
    for n in range(1, 100):
        dialect.learn_settled(n)
    await asyncio.get_running_loop().run_in_executor(None, lambda: None)
    await _until(lambda: again().settled == 99)


async def _until(condition):
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.01)


# ---- end to end


async def test_the_next_kernel_sends_the_right_form_at_once(folder):
    request = ask(temperature=0.5, max_tokens=9)
    async with FaultServer.like("openai-reasoning") as server:
        provider = Provider(server.base_url, "o4-mini")
        client = await provider.connect()
        await client.complete(request)
        assert server.stats.requests == 3
        await client.aclose()
        await _until(lambda: again(client.endpoint, "o4-mini").form.dropped)
        forget_dialects()
        client = await provider.connect()
        found = await client.complete(request)
        assert server.stats.requests == 4
        assert found.adapted == ("no_temperature",)
        await client.aclose()
        report = await provider.check()
        assert report.dialect == ("max_completion_tokens", "no_temperature")
        assert time.time() - report.learned_at < 60
        assert "learned 20" in str(report)
        provider.forget()
        client = await provider.connect()
        await client.complete(request)
        assert server.stats.requests == 8
        await client.aclose()


async def test_an_upgraded_server_is_asked_for_everything_again(folder):
    version = "0.9.0"

    def answer(seen):
        if seen.path == "/version":
            return http(200, {"version": version})
        if seen.path.endswith("/models"):
            return http(200, models("m", owned_by="vllm"))
        if "response_format" in seen.json and version == "0.9.0":
            return http(400, {"error": "response_format is not supported"})
        return http(200, chat('{"answer": "a"}'))

    async def adapted():
        forget_dialects()
        client = await Provider(raw.url, "m", CANARY).connect()
        found = await client.complete(ask(schema=SCHEMA))
        await client.aclose()
        return found.adapted

    last = Structured.PROMPT_ONLY
    async with serving(answer) as raw:
        assert await adapted() == ("prompt_only",)
        await _until(lambda: again(f"{raw.url}/v1").form.structured == last)
        assert await adapted() == ("prompt_only",)
        assert len(raw.chats) == 4
        version = "0.14.1"
        assert await adapted() == ()
    assert CANARY not in only_file(folder).read_text()


async def test_a_launched_server_is_not_kept(folder):
    dialect = dialect_of("http://127.0.0.1:4711/v1", "m", is_kept=False)
    dialect.learn_context(4096)
    assert not folder.exists()


async def test_a_settled_load_is_remembered(folder):
    async with FaultServer() as server:
        client = await Provider(server.base_url, "m").connect()
        assert client.settled_concurrency is None
        client.remember_concurrency(0)
        assert client.settled_concurrency is None
        client.remember_concurrency(37)
        await client.aclose()
        await _until(lambda: again(client.endpoint, "m").settled == 37)
        forget_dialects()
        client = await Provider(server.base_url, "m").connect()
        assert client.settled_concurrency == 37
        await client.aclose()


def test_a_dialect_without_a_place_touches_no_disk(folder):
    Dialect().learn_context(4096)
    assert not folder.exists()
