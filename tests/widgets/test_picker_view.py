"""The picker's view without a page: what it takes, what it shows, what it never holds."""

from __future__ import annotations

import json
import logging
from types import SimpleNamespace

import pytest

from synthnb.errors import ConfigError
from synthnb.testing import FaultServer
from synthnb.widgets.channel import View
from synthnb.widgets.picker import ProviderPicker

CANARY = "sk-CANARY-9f3b7d21"
HERE = {"way": "url", "url": "http://127.0.0.1:9"}


@pytest.fixture(autouse=True)
def alone(monkeypatch, tmp_path):
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def made(monkeypatch):
    """Make pickers that note what they send, and close them."""
    pickers = []

    def make(**arguments) -> ProviderPicker:
        picker = ProviderPicker(**arguments)
        sent: list[dict] = []
        monkeypatch.setattr(
            picker, "send", lambda content, buffers=None: sent.append(content)
        )
        picker.sent = SimpleNamespace(all=sent)
        pickers.append(picker)
        return picker

    yield make
    for picker in pickers:
        picker.close()


def leaks(text: str) -> bool:
    return any(CANARY[i : i + 6] in text for i in range(3, len(CANARY) - 5))


def type_key(picker, key: str, seen=HERE):
    """Hand over a key as the page does: its bytes are a buffer of the message."""
    picker._handle_custom_msg({"typed_for": seen}, [memoryview(key.encode())])


def test_a_typed_key_arrives_before_the_next_cell_asks_for_the_provider(made):
    picker = made(url=HERE["url"])
    picker.receive({"op": "open", "id": "1"})
    type_key(picker, CANARY)
    assert picker.provider._key.reveal() == CANARY
    states = [m["state"]["key"] for m in picker.sent.all if m.get("op") == "state"]
    assert states[-1]["from"] == "typed here for http://localhost:9"
    assert not leaks(json.dumps(picker.sent.all))


def test_nothing_that_is_written_anywhere_holds_the_key(made, caplog):
    with caplog.at_level(logging.DEBUG):
        picker = made(url=HERE["url"])
        type_key(picker, CANARY)
        type_key(picker, f"{CANARY} {CANARY}")  # refused
        _ = picker.provider
        data, _ = picker._repr_mimebundle_()
    texts = [repr(picker), str(data), str(picker.get_state()), caplog.text, repr(picker._form)]  # fmt: skip
    assert not any(map(leaks, texts))


def test_a_key_never_comes_as_text(made):
    picker = made(url=HERE["url"])
    picker.receive({"op": "typed", "typed": CANARY, "seen": HERE})
    picker.receive({"op": "key", "value": CANARY})
    picker._handle_custom_msg({"typed_for": HERE}, [])
    picker._handle_custom_msg([CANARY], [memoryview(b"x")])
    assert picker.provider._key.reveal() is None


def test_only_what_anywidget_needs_is_synced(made):
    ours, plain = set(made().get_state()), set(View().get_state())
    assert ours - plain <= {"_css"}


def test_the_static_form_names_the_provider_and_escapes(made):
    data, _ = made(url="gpu:8000", model="<img src=x>")._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert "Model provider" in data["text/html"]
    assert "&lt;Provider http://gpu:8000/v1, model &lt;img src=x&gt;, key not set&gt;" in data["text/html"]  # fmt: skip
    assert "http://gpu:8000/v1" in data["text/plain"]
    assert "not complete: no hosted API" not in made(preset="openai").__repr__()
    assert "the key for OpenAI is missing" in repr(made(preset="openai"))


def test_wrong_arguments_raise_and_leave_nothing_behind():
    with pytest.raises(ConfigError, match="two servers"):
        ProviderPicker(url="a:1", preset="openai")


def test_every_operation_of_the_page(made):
    with FaultServer.in_thread(models=["a", "b"]) as server:
        picker = made()
        assert picker.on_open({})["state"]["way"] == "builtin"
        picker.on_way({"value": "url"})
        assert (
            picker.on_preview({"value": "gpu:1"})["url"]["base_url"]
            == "http://gpu:1/v1"
        )
        picker.on_url({"value": server.base_url})
        picker.on_list({})
        picker.on_model({"value": "b"})
        picker.on_key({"value": "none"})
        assert (picker.provider.base_url, picker.provider.model) == (
            server.base_url,
            "b",
        )
        picker.on_check({})
        picker.on_stop({})
        picker.on_forget({})
        assert picker.on_models({})["models"] in ([], [["a", ""], ["b", ""]])
        picker.on_preset({"value": "azure"})
        picker.on_resource({"value": "mine"})
        with pytest.raises(ConfigError, match="key for Azure OpenAI"):
            _ = picker.provider
        picker.on_url({"value": 7})  # no text: an empty URL
        with pytest.raises(ConfigError, match="URL is empty"):
            _ = picker.provider


def test_a_closed_picker_still_has_its_provider(made):
    picker = made(url=HERE["url"])
    picker.receive({"op": "open"})
    picker.close()
    assert picker.provider.base_url == "http://127.0.0.1:9/v1"
