from __future__ import annotations

import pytest

from synthnb.errors import ConfigError
from synthnb.providers.presets import PRESETS, preset_at, preset_named
from synthnb.providers.urls import is_loopback, normalise


def test_every_preset_is_a_normalised_url_with_sane_defaults():
    for name, preset in PRESETS.items():
        assert normalise(preset.base_url).base_url == preset.base_url.lower(), name
        assert 1 <= preset.concurrency <= 64
        assert preset.note
        if not is_loopback(preset.base_url):
            assert preset.base_url.startswith("https://")
            assert preset.key_variable


def test_the_named_ones_are_there():
    wanted = "vllm llama.cpp ollama lm-studio sglang tensorrt-llm kaito litellm openai"
    wanted += " together openrouter groq mistral deepseek fireworks"
    assert set(wanted.split()) <= set(PRESETS)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("OpenAI", "openai"),
        ("lm_studio", "lm-studio"),
        ("LM Studio", "lm-studio"),
        ("lmstudio", "lm-studio"),
        ("llamacpp", "llama.cpp"),
        (" vLLM ", "vllm"),
    ],
)
def test_spelling_does_not_matter(written, name):
    assert preset_named(written).name == name


def test_an_unknown_name_lists_the_names_and_a_close_one():
    with pytest.raises(ConfigError, match="no preset 'opnai'") as caught:
        preset_named("opnai")
    assert "did you mean 'openai'?" in caught.value.hint
    assert "ollama" in caught.value.hint
    with pytest.raises(ConfigError) as far:
        preset_named("zzzzzz")
    assert "did you mean" not in far.value.hint


def test_a_url_finds_its_preset():
    assert preset_at("http://127.0.0.1:11434/v1").name == "ollama"
    assert preset_at("https://api.groq.com/openai/v1").name == "groq"
    assert preset_at("http://localhost:9999/v1") is None
