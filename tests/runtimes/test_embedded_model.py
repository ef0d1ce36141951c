"""The real embedded model: it answers, keeps to a schema, and leaves no orphan."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request

import psutil
import pytest

from synthnb.local import EmbeddedLauncher, local_launcher
from synthnb.providers.local import Launched, make_launcher
from synthnb.runtimes.models import DEFAULT_MODEL, KNOWN_MODELS, models_dir


@pytest.fixture
def fetched(real_weights, cache):
    """The test's own cache, with the real weights in it."""
    models_dir().mkdir(parents=True)
    (models_dir() / KNOWN_MODELS[DEFAULT_MODEL].file_name).symlink_to(real_weights)


def ask(base_url, path, body=None):
    request = urllib.request.Request(
        base_url + path,
        None if body is None else json.dumps(body).encode(),
        {"Content-Type": "application/json", "Origin": "http://evil.example"},
    )
    with urllib.request.urlopen(request, timeout=50) as answer:
        return json.load(answer), answer.headers


@pytest.mark.model
async def test_the_default_model_answers(fetched):
    launcher = make_launcher(None, {"slots": 2, "context": 512})
    assert isinstance(launcher, EmbeddedLauncher)
    try:
        launched = await launcher.launch()
        assert launched == Launched(launched.base_url, DEFAULT_MODEL, 2, 512)
        models, headers = await asyncio.to_thread(ask, launched.base_url, "/models")
        body = {
            "model": launched.model,
            "messages": [{"role": "user", "content": "Name a colour."}],
            "max_tokens": 30,
            "response_format": {
                "type": "json_schema",
                "json_schema": {
                    "name": "answer",
                    "schema": {
                        "type": "object",
                        "properties": {"colour": {"enum": ["red", "blue"]}},
                        "required": ["colour"],
                    },
                },
            },
        }
        answer, _ = await asyncio.to_thread(
            ask, launched.base_url, "/chat/completions", body
        )
        with pytest.raises(urllib.error.HTTPError) as caught:
            await asyncio.to_thread(ask, launched.base_url[: -len("/v1")], "/slots")
        caught.value.close()
        pid = (await launcher.server.launch()).pid
    finally:
        launcher.release()
    assert [model["id"] for model in models["data"]] == [DEFAULT_MODEL]
    assert models["data"][0]["meta"]["n_ctx"] == 512
    content = json.loads(answer["choices"][0]["message"]["content"])
    assert content["colour"] in {"red", "blue"}
    assert answer["usage"]["completion_tokens"] > 0
    # No page of a browser may read what the model says.
    assert headers["Access-Control-Allow-Origin"] == ""
    assert not psutil.pid_exists(pid)


@pytest.mark.model
def test_it_ends_when_the_notebook_is_killed(fetched, other_process):
    parent = other_process("print(launch(None).pid, flush=True)\ntime.sleep(60)")
    server = psutil.Process(int(parent.stdout.readline()))
    parent.kill()
    server.wait(timeout=15)


def test_a_launcher_starts_and_fetches_nothing_by_itself(cache):
    said = local_launcher().describe()
    assert DEFAULT_MODEL in said
    assert "not fetched yet" in said
    assert not cache.exists()
