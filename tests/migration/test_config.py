from __future__ import annotations

import pytest

import synthnb as sn
from synthnb.errors import ConfigError
from synthnb.providers import Provider
from synthnb.testing import FaultServer

KEY = "sk-CANARY-0123456789abcdef"
WHOLE = f"""
llm: {{provider: api-endpoint}}
vllm: {{api_base: "http://gpu:8000/v1", model: llama}}
api-endpoint: {{api_base: "https://models.invalid/v1", api_key: "{KEY}", model: big, max_retries: 4, retry_delay: 2.5}}
generation: {{num_pairs: 40, temperature: 0.5, chunk_size: 2000, overlap: 100, batch_size: 12}}
cleanup: {{threshold: 8.5}}
prompts:
  qa_generation: |
    Make {{num_pairs}} pairs as [{{{{"question": "…"}}}}] from {{text}}
"""


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.delenv("API_ENDPOINT_KEY", raising=False)

    def file(text):
        path = tmp_path / "config.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return file


def test_a_whole_file_is_read_and_each_value_has_its_origin(write):
    config = sn.config_from_sdk(write(WHOLE), {"generation.num_pairs": 10})
    assert config["generation.num_pairs"] == 10
    assert config.origins["generation.num_pairs"] == "argument"
    assert (config["curate.threshold"], config.origins["curate.threshold"]) == (
        8.5,
        "file",
    )
    assert config.origins["generation.top_p"] == "default"
    provider = config.provider
    assert provider.base_url == "https://models.invalid/v1"
    assert provider.model == "big"
    assert provider.concurrency == 12
    assert provider.origins["model"] == "config.yaml api-endpoint.model"
    assert config.limits.retry.max_attempts == 4
    assert config.limits.retry.base_seconds == 2.5
    assert (config.chunk_tokens, config.overlap) == (500, 25)


def test_both_sections_are_the_one_provider(write):
    for section in ("vllm", "api-endpoint"):
        path = write(
            f"llm: {{provider: {section}}}\n"
            f"{section}: {{api_base: 'gpu:8000', model: m, api_key: {KEY}}}"
        )
        provider = Provider.from_config(path)
        assert (provider.base_url, provider.model) == ("http://gpu:8000/v1", "m")
        assert "file" in provider.origins["api_key"]


def test_a_part_of_a_section_leaves_the_other_defaults(write):
    config = sn.config_from_sdk(write("generation: {num_pairs: 3}"))
    assert config["generation.temperature"] == 0.7
    assert config["generation.num_pairs"] == 3
    assert config.provider.base_url == "http://localhost:8000/v1"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("vllm: {max_retries: null}", "vllm.max_retries: expected int, got null"),
        ("vllm: {max_retries: '3'}", "vllm.max_retries: expected int, got text"),
        ("vllm: {max_retries: true}", "vllm.max_retries: expected int, got true or false"),
        ("generation: {temperature: warm}", "generation.temperature: expected float, got text"),
        ("llm: {provider: ollama}", "llm.provider is 'ollama'"),
        ("llm: {provider: 3}", "llm.provider: expected text, got int"),
        ("prompts: {summary: [1]}", "prompts.summary: expected text, got a list"),
        ("- a", "holds no settings"),
        ("a: [", "line 1"),
        ("\u0000", "no YAML"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_by_its_path(write, text, told):
    with pytest.raises(ConfigError) as caught:
        sn.config_from_sdk(write(text))
    assert told in str(caught.value)


def test_all_wrong_values_are_told_at_once_and_no_key_is(write):
    text = f"api-endpoint: {{api_key: [{KEY}], max_retries: no}}\nvllm: {{port: x}}"
    with pytest.raises(ConfigError) as caught:
        sn.config_from_sdk(write(text))
    for name in ("api-endpoint.api_key", "api-endpoint.max_retries", "vllm.port"):
        assert name in str(caught.value)
    assert KEY not in str(caught.value)


def test_a_file_that_refers_to_itself_ends_all_the_same(write):
    config = sn.config_from_sdk(write("a: &a {b: *a}\ngeneration: {num_pairs: 4}"))
    assert config["generation.num_pairs"] == 4
    assert config.notes == ["a.b.b: not known"]
    many = "x: &x {" + ", ".join(f"k{n}: 1" for n in range(40)) + "}\n"
    many += "y: {" + ", ".join(f"k{n}: *x" for n in range(40)) + "}"
    with pytest.raises(ConfigError, match="more than 1,000 settings"):
        sn.config_from_sdk(write(many))


def test_null_is_a_value_where_nothing_is_the_default(write):
    config = sn.config_from_sdk(write("generation: {num_cot_enhance_examples: null}"))
    assert config["generation.num_cot_enhance_examples"] is None


def test_unknown_keys_are_told_with_what_may_be_meant(write):
    config = sn.config_from_sdk(write("generation: {num_pair: 3}\nextra: 1"))
    assert config.notes == [
        "generation.num_pair: not known, did you mean generation.num_pairs?",
        "extra: not known",
    ]
    assert config.provider.notes[-2:] == tuple(config.notes)


def test_the_newer_name_wins_over_the_older(write):
    config = sn.config_from_sdk(
        write("cleanup: {threshold: 1}\ncurate: {threshold: 9}")
    )
    assert config["curate.threshold"] == 9
    assert config.notes == ["cleanup.threshold: not used, for there is curate as well"]


def test_an_endpoint_that_nobody_named_is_not_guessed(write):
    config = sn.config_from_sdk(write("llm: {provider: api-endpoint}"))
    with pytest.raises(ConfigError, match="api_base"):
        config.provider  # noqa: B018 - the property raises


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        Provider.from_config(tmp_path / "none.yaml")


@pytest.mark.parametrize("section", ["vllm", "api-endpoint"])
async def test_the_key_of_the_environment_goes_to_the_endpoint_only(
    write, monkeypatch, section
):
    monkeypatch.setenv("API_ENDPOINT_KEY", KEY)
    async with FaultServer(require_key=KEY) as server:
        path = write(
            f"llm: {{provider: {section}}}\n{section}: {{api_base: '{server.base_url}'}}"
        )
        config = sn.config_from_sdk(path)
        report = await config.provider.check()
        assert report.ok is (section == "api-endpoint")
        given = await Provider.from_config(config, api_key=KEY).check()
        assert given.ok
    for shown in (repr(config), repr(config.provider), str(dict(config)), str(report)):
        assert KEY not in shown
    if section == "api-endpoint":
        assert "(environment API_ENDPOINT_KEY)" in repr(config)


def test_the_table_shows_values_origins_and_converted_prompts(write):
    text = repr(sn.config_from_sdk(write(WHOLE)))
    assert "curate.threshold" in text
    assert "8.5  (file)" in text
    assert "0.95  (default)" in text
    assert "vllm.api_base" not in text  # the section that is not used
    assert KEY not in text
    assert 'Make 40 pairs as [{"question": "…"}] from {{ text }}' in text


def test_pairs_are_wanted_of_the_whole_document_and_every_chunk_is_asked(write):
    config = sn.config_from_sdk(write("generation: {num_pairs: 25}"))
    assert config.qa(1).pairs == 25
    assert config.qa(10).pairs == 3
    assert config.qa(200).pairs == 1
    assert config.qa(10, pairs=40).pairs == 4
    assert config.chain_of_thought(2).examples == 3
    assert config.chain_of_thought(1, examples=7).examples == 7
