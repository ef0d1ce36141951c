"""The picker's fields: what is missing, which provider they make, where a key may go."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path

import pytest

from synthnb.errors import ConfigError
from synthnb.local import Provider
from synthnb.providers.presets import PRESETS
from synthnb.providers.secrets import Key
from synthnb.providers.servers import ListedModel
from synthnb.widgets import picker_form
from synthnb.widgets.picker_fields import preview
from synthnb.widgets.picker_form import HOSTED, Form, MissingError
from synthnb.widgets.picker_model import PickerModel

CANARY = "sk-CANARY-9f3b7d21"


@pytest.fixture(autouse=True)
def alone(monkeypatch, tmp_path):
    """An empty working folder, and no key of whoever runs this."""
    monkeypatch.chdir(tmp_path)
    for preset in PRESETS.values():
        if preset.key_variable:
            monkeypatch.delenv(preset.key_variable, raising=False)


def form(**arguments) -> Form:
    values = {"url": None, "model": None, "preset": None, "env_file": None}
    return Form.filled(**(values | arguments))


def models(*ids) -> tuple[ListedModel, ...]:
    return tuple(ListedModel(name) for name in ids)


def missing(form, listed=None) -> str:
    with pytest.raises(MissingError) as caught:
        form.provider(listed)
    assert caught.value.hint
    return caught.value.field


# ---- filling it in


def test_the_built_in_model_needs_nothing():
    assert form().provider() == Provider.local()


def test_the_environments_url_and_model_count_as_in_provider(monkeypatch):
    monkeypatch.setenv("SYNTHNB_BASE_URL", "gpu:8000")
    monkeypatch.setenv("SYNTHNB_MODEL", "qwen")
    filled = form()
    assert (filled.way, filled.url_from) == ("url", "environment SYNTHNB_BASE_URL")
    assert filled.provider() == Provider()
    assert filled.chosen_model() == "qwen"
    # A server that is known not to have it gets no such model.
    assert filled.chosen_model(models("a", "b")) == ""
    assert missing(filled, models("a", "b")) == "model"
    assert filled.chosen_model(models("a", "qwen")) == "qwen"


def test_arguments_fill_the_form():
    assert form(url="gpu:8000", model="m").provider() == Provider("gpu:8000", "m")
    assert form(preset="ollama", model="m").provider().base_url.endswith(":11434/v1")
    hosted = form(preset="OpenAI", model="m")
    assert (hosted.way, hosted.preset) == ("hosted", "openai")


@pytest.mark.parametrize(
    "arguments",
    [
        {"url": "x:1", "preset": "openai"},
        {"preset": "opnai"},
        {"env_file": "no-such-file"},
    ],
)
def test_arguments_that_cannot_work_are_refused_at_once(arguments):
    with pytest.raises(ConfigError) as caught:
        form(**arguments)
    assert caught.value.hint


def test_a_missing_field_is_named_with_the_next_step(monkeypatch):
    assert missing(form(url="")) == "url"
    assert missing(form(url="http://")) == "url"
    assert missing(form(url="ollama")) == "url"
    assert missing(form(preset="openai", model="m")) == "key"
    assert missing(form(preset="azure", model="m")) == "resource"
    assert missing(Form(way="hosted")) == "preset"
    assert missing(form(url="x:1"), models("a", "b")) == "model"
    assert missing(form(model="no-such-model")) == "builtin"
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    assert missing(form(preset="openai")) == "model"
    monkeypatch.setattr(picker_form, "find_spec", lambda name: None)
    assert missing(form()) == "builtin"


def test_a_server_may_have_just_one_model():
    assert form(url="x:1").provider().model is None
    assert form(url="x:1").provider(models("only")).model == "only"


def test_a_preset_takes_its_variable_by_reference(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    provider = form(preset="openai", model="m").provider()
    assert provider == Provider.preset("openai", "m")
    assert provider.origins == Provider.preset("openai", "m").origins
    assert pickle.loads(pickle.dumps(provider)).key_state == "set (env:OPENAI_API_KEY)"


@pytest.mark.parametrize(
    "resource", ["evil.example/", "a.b", "a@b", "-a", "a b", "a:1", ""]
)
def test_a_resource_cannot_lead_to_another_host(resource, monkeypatch):
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", CANARY)
    filled = form(preset="azure", model="m")
    filled.resource = resource
    assert filled.target() is None
    assert missing(filled) == "resource"
    filled.resource = "mine-1"
    assert filled.provider().base_url == "https://mine-1.openai.azure.com/openai/v1"
    assert filled.provider().key_state == "set (env:AZURE_OPENAI_API_KEY)"


def test_every_hosted_preset_makes_a_provider(monkeypatch):
    for preset in HOSTED:
        monkeypatch.setenv(preset.key_variable, CANARY)
        filled = form(preset=preset.name, model="m")
        filled.resource = "mine"
        assert filled.provider()._key.reveal() == CANARY


def test_a_typed_url_is_shown_as_what_it_stands_for():
    seen = preview(" 'localhost:8000/v1/chat/completions' ")
    assert seen["base_url"] == "http://localhost:8000/v1"
    assert "/chat/completions was left out" in seen["notes"]
    assert preview("http://")["error"]
    assert preview("   ")["error"] == ""


# ---- keys: which server gets which


def key_sent_to(picker) -> str | None:
    return picker.provider._key.reveal()


def test_a_key_of_the_environment_is_not_sent_to_a_url_that_was_typed(monkeypatch):
    monkeypatch.setenv("SYNTHNB_API_KEY", CANARY)
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    picker = PickerModel()
    picker.set_url("http://127.0.0.1:9")
    assert key_sent_to(picker) is None
    state = picker.state()["key"]
    assert [offer["label"] for offer in state["offers"]] == [
        "environment SYNTHNB_API_KEY"
    ]
    assert "only if you choose it" in " ".join(state["notes"])
    picker.choose_key("environment:SYNTHNB_API_KEY")
    assert key_sent_to(picker) == CANARY
    # The choice was for that server.
    picker.set_url("http://127.0.0.1:10")
    assert key_sent_to(picker) is None


def test_a_url_that_code_names_gets_the_key_as_in_provider(monkeypatch):
    monkeypatch.setenv("SYNTHNB_API_KEY", CANARY)
    picker = PickerModel(url="http://127.0.0.1:9")
    assert key_sent_to(picker) == CANARY
    picker.set_url("http://127.0.0.1:10")
    assert key_sent_to(picker) is None


def test_no_key_is_no_key_even_where_one_stands_in_the_environment(monkeypatch):
    monkeypatch.setenv("SYNTHNB_API_KEY", CANARY)
    picker = PickerModel(url="http://127.0.0.1:9")
    picker.choose_key("none")
    assert key_sent_to(picker) is None


def test_a_typed_key_stays_with_its_server():
    picker = PickerModel(url="http://127.0.0.1:9")
    picker.type_key(CANARY)
    assert key_sent_to(picker) == CANARY
    picker.set_url("http://gpu.invalid:9")
    assert key_sent_to(picker) is None
    assert "http://localhost:9 is not sent to" in " ".join(
        picker.state()["key"]["notes"]
    )
    picker.set_url("https://127.0.0.1:9")
    assert key_sent_to(picker) is None
    picker.choose_way("hosted")
    picker.choose_preset("openai")
    with pytest.raises(ConfigError, match="key for OpenAI is missing"):
        _ = picker.provider
    picker.set_url("127.0.0.1:9/v1/models")
    assert key_sent_to(picker) == CANARY
    picker.forget_key()
    assert key_sent_to(picker) is None


def test_a_key_that_was_typed_while_the_form_named_another_server_is_thrown_away():
    picker = PickerModel(url="http://127.0.0.1:9")
    picker.type_key(CANARY, {"way": "url", "url": "http://127.0.0.1:8"})
    assert key_sent_to(picker) is None
    assert "thrown away" in picker.state()["key"]["error"]
    picker.type_key(CANARY, {"way": "url", "url": "http://127.0.0.1:9"})
    assert key_sent_to(picker) == CANARY
    assert picker.state()["key"]["error"] == ""


@pytest.mark.parametrize(
    "typed", ["", "   ", "“smart”", "two words", "env:NOT_SET_AT_ALL"]
)
def test_a_key_that_is_none_changes_nothing_and_says_why(typed):
    picker = PickerModel(url="http://127.0.0.1:9")
    picker.type_key(CANARY)
    picker.type_key(typed)
    assert picker.state()["key"]["error"]
    assert "smart" not in json.dumps(picker.state())
    assert key_sent_to(picker) == CANARY


def test_keys_without_a_server_go_nowhere():
    picker = PickerModel(url="")
    picker.type_key(CANARY)
    assert picker.state()["key"]["error"]
    for act in (picker.forget_key, lambda: picker.choose_key("none"), lambda: picker.choose_model("m")):  # fmt: skip
        with pytest.raises(ConfigError, match="no server"):
            act()
    with pytest.raises(ConfigError, match="not there any more"):
        PickerModel(url="x:1").choose_key("keyring:elsewhere")


def test_a_key_over_plain_http_to_another_machine_is_remarked():
    picker = PickerModel(url="http://gpu.invalid:9")
    picker.type_key(CANARY)
    assert "unencrypted" in " ".join(picker.state()["key"]["notes"])


def test_a_file_of_the_working_folder_is_offered_and_read_anew(tmp_path):
    (tmp_path / ".env").write_text("OPENAI_API_KEY=sk-first")
    picker = PickerModel(preset="openai", model="m")
    assert key_sent_to(picker) == "sk-first"
    assert picker.state()["key"]["from"] == ".env OPENAI_API_KEY"
    assert "chmod 600" in picker.state()["key"]["warnings"][0]
    Path(".env").write_text("OPENAI_API_KEY=sk-second")
    assert key_sent_to(picker) == "sk-second"
    assert "OPENAI_API_KEY" not in os.environ


def test_another_file_can_be_named(tmp_path):
    other = tmp_path / "keys"
    other.write_text("OPENAI_API_KEY=sk-there")
    assert (
        key_sent_to(PickerModel(preset="openai", model="m", env_file=other))
        == "sk-there"
    )


def test_no_text_of_the_form_holds_a_key(monkeypatch, tmp_path):
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    (tmp_path / ".env").write_text(f"OPENAI_API_KEY={CANARY}")
    picker = PickerModel(preset="openai", model="m")
    picker.type_key(CANARY)
    texts = [json.dumps(picker.state()), picker.describe(), repr(picker._form), repr(picker.provider)]  # fmt: skip
    for text in texts:
        assert not any(CANARY[i : i + 6] in text for i in range(3, len(CANARY) - 5))


# ---- providers that were handed out


def test_a_provider_that_was_handed_out_stays_as_it_was():
    picker = PickerModel(url="http://127.0.0.1:9", model="a")
    picker.type_key(CANARY)
    first = picker.provider
    picker.choose_model("b")
    picker.forget_key()
    picker.set_url("http://127.0.0.1:10")
    assert (first.base_url, first.model) == ("http://127.0.0.1:9/v1", "a")
    assert first._key.reveal() == CANARY
    assert picker.provider.base_url == "http://127.0.0.1:10/v1"
    assert picker.provider.model is None


def test_the_model_of_one_server_is_not_the_next_ones():
    picker = PickerModel(url="http://127.0.0.1:9", model="a")
    picker.set_url("http://127.0.0.1:10")
    picker.choose_model("b")
    picker.set_url("http://127.0.0.1:9")
    assert picker.provider.model == "a"


def test_wrong_choices_are_refused():
    picker = PickerModel()
    with pytest.raises(ConfigError):
        picker.choose_way("sideways")
    with pytest.raises(ConfigError):
        picker.choose_preset("ollama")


def test_a_key_object_of_ones_own_is_no_text():
    picker = PickerModel(url="x:1")
    picker._form.keys.type(picker._target(), Key(CANARY))
    assert "CANARY" not in repr(picker._form.keys)
