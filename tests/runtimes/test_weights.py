"""Where the weights are found, in which order, and what is said when they are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from synthnb.errors import ConfigError
from synthnb.runtimes import weights
from synthnb.runtimes.llamacpp import EmbeddedServer
from synthnb.runtimes.models import (
    DEFAULT_MODEL,
    KNOWN_MODELS,
    cache_dir,
    license_path,
    model_name,
    models_dir,
)


def no_download(*_):
    raise AssertionError("nothing should be fetched here")


@pytest.fixture
def only_tiny(monkeypatch, tiny):
    monkeypatch.setattr(weights, "KNOWN_MODELS", {"tiny": tiny})
    return tiny


def test_a_path_comes_first(gguf):
    for named in (gguf, str(gguf)):
        found = weights.ensure(named, download=no_download)
        assert (found.name, found.path) == ("tiny-model", gguf)


def test_then_the_cache(only_tiny, cache, gguf):
    (cache / "models").mkdir(parents=True)
    target = cache / "models" / "tiny.gguf"
    target.write_bytes(gguf.read_bytes())
    found = weights.ensure("tiny", download=no_download)
    assert (found.path, found.license) == (target, "MIT")


def test_then_it_is_fetched(only_tiny, index):
    def download(model, folder, progress):
        progress("copying", 1, 2)
        return (index / model.wheel_name).rename(folder / model.wheel_name)

    told = []
    assert weights.locate("tiny").path is None
    found = weights.ensure("tiny", lambda *step: told.append(step), download=download)
    assert found.path == models_dir() / "tiny.gguf"
    assert found.path.read_bytes().startswith(b"GGUF")
    assert license_path(found.path).read_text() == "Do what you like."
    assert told[0][0].startswith("fetching Tiny, MIT, 0 MB, once, into ")
    assert ("copying", 1, 2) in told
    assert told[-1] == ("Tiny is ready", only_tiny.wheel_size, only_tiny.wheel_size)


def test_a_copy_that_was_cut_short_does_not_count(only_tiny, cache, gguf):
    (cache / "models").mkdir(parents=True)
    (cache / "models" / "tiny.gguf").write_bytes(gguf.read_bytes()[:-1])
    assert weights.locate("tiny").path is None


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ("nowhere/model.gguf", "cannot read the model file"),
        (Path("nowhere"), "No such file"),
        ("nobody", "no model is called 'nobody'"),
    ],
)
def test_what_is_not_there(named, words):
    with pytest.raises(ConfigError, match=words) as caught:
        weights.ensure(named, download=no_download)
    assert "gguf" in caught.value.hint.lower()


def test_a_file_of_another_kind_is_named(tmp_path):
    path = tmp_path / "model.gguf"
    path.write_bytes(b"PK\3\4 a zip")
    with pytest.raises(ConfigError, match="is no GGUF file") as caught:
        weights.locate(path)
    assert "safetensors" in caught.value.hint


def test_a_folder_is_no_model(tmp_path):
    with pytest.raises(ConfigError, match="cannot read"):
        weights.locate(tmp_path)


def test_listing_shows_size_licence_and_place(only_tiny, cache, gguf):
    (cache / "models").mkdir(parents=True)
    for name in ("tiny.gguf", "other.gguf"):
        (cache / "models" / name).write_bytes(gguf.read_bytes())
    license_path(cache / "models" / "other.gguf").write_text("text")
    known, other = weights.list_models()
    assert str(known) == f"tiny  0 MB  MIT  {cache / 'models' / 'tiny.gguf'}"
    assert (other.name, other.license) == ("other", "licence beside it")
    assert weights.locate("other").path == other.path


def test_the_default_is_listed_before_it_is_fetched():
    (model,) = weights.list_models()
    assert model.name == DEFAULT_MODEL
    assert str(model).endswith("98 MB  Apache-2.0  not fetched yet")


def test_known_models_have_whole_hashes_and_plain_names():
    for name, model in KNOWN_MODELS.items():
        assert model.name == name
        assert model_name(Path(model.file_name)) == name
        assert len(model.sha256) == len(model.wheel_sha256) == 64
        assert "/" not in model.file_name
        assert "==" in model.requirement


def test_the_cache_is_the_users_unless_named(monkeypatch):
    monkeypatch.setenv("SYNTHNB_CACHE", "~/here")
    assert cache_dir() == Path("~/here").expanduser()
    monkeypatch.delenv("SYNTHNB_CACHE")
    assert cache_dir().name == "synthnb"


@pytest.mark.parametrize(
    ("stem", "name"),
    [("Qwen3-0.6B Q8", "qwen3-0.6b-q8"), ("名前", "model"), ("a_b", "a_b")],
)
def test_names_of_models(stem, name):
    assert model_name(Path(f"{stem}.gguf")) == name


@pytest.mark.parametrize("model", [3, ["a.gguf"], b"a.gguf"])
def test_a_model_that_is_no_name_is_refused(model):
    with pytest.raises(ConfigError, match="str or a Path") as caught:
        weights.locate(model)
    assert caught.value.hint


@pytest.mark.parametrize("number", ["8", 2.5, True, 0])
def test_a_number_of_slots_that_is_none_is_refused(number):
    with pytest.raises(ConfigError, match="slots") as caught:
        EmbeddedServer(slots=number)
    assert caught.value.hint
