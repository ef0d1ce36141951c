"""Where keys are found, and to which server each may go."""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace

import pytest

from synthnb.providers import key_offers
from synthnb.providers.key_offers import (
    DotEnv,
    keyring_offer,
    offers_for,
    origin_text,
    parse_dotenv,
    read_dotenv,
)
from synthnb.providers.presets import PRESETS

CANARY = "sk-CANARY-9f3b7d21"
OURS = "http://gpu:8000/v1"
THEIRS = "https://elsewhere.example/v1"
OPENAI = "https://api.openai.com/v1"


@pytest.fixture(autouse=True)
def no_keys(monkeypatch):
    """No key of whoever runs this."""
    for preset in PRESETS.values():
        if preset.key_variable:
            monkeypatch.delenv(preset.key_variable, raising=False)


def found(offers):
    return [(offer.label, offer.bound) for offer in offers.found]


# ---- which key goes where


def test_a_presets_variable_belongs_to_the_presets_host_alone(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    assert found(offers_for(OPENAI)) == [("environment OPENAI_API_KEY", True)]
    for url in (OURS, THEIRS, "http://api.openai.com/v1", "https://api.openai.com:8443/v1",
                "https://api.openai.com.evil.example/v1", "https://openai.com/v1"):  # fmt: skip
        assert found(offers_for(url)) == []


def test_a_presets_variable_on_this_machine_is_only_offered(monkeypatch):
    monkeypatch.setenv("LITELLM_API_KEY", CANARY)
    offers = offers_for("http://localhost:4000/v1")
    assert found(offers) == [("environment LITELLM_API_KEY", False)]
    assert offers.bound is None


def test_our_key_belongs_to_the_url_beside_it(monkeypatch):
    monkeypatch.setenv("SYNTHNB_API_KEY", CANARY)
    monkeypatch.setenv("SYNTHNB_BASE_URL", "gpu:8000")
    assert found(offers_for(OURS)) == [("environment SYNTHNB_API_KEY", True)]
    offers = offers_for(THEIRS)
    assert found(offers) == []
    assert "not sent here" in offers.notes[0]
    # Not even where code names the other server.
    assert found(offers_for(THEIRS, by_caller=True)) == []


def test_our_key_without_a_url_waits_to_be_chosen_unless_code_named_the_server(
    monkeypatch,
):
    monkeypatch.setenv("SYNTHNB_API_KEY", CANARY)
    assert found(offers_for(THEIRS)) == [("environment SYNTHNB_API_KEY", False)]
    assert offers_for(THEIRS).bound is None
    assert offers_for(THEIRS, by_caller=True).bound is not None


def test_a_broken_url_beside_our_key_binds_it_to_nothing(monkeypatch):
    monkeypatch.setenv("SYNTHNB_API_KEY", CANARY)
    monkeypatch.setenv("SYNTHNB_BASE_URL", "http://")
    assert found(offers_for(OURS, by_caller=True)) == []


def test_a_preset_never_gets_our_key(monkeypatch):
    monkeypatch.setenv("SYNTHNB_API_KEY", CANARY)
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", CANARY)
    url = "https://mine.openai.azure.com/openai/v1"
    offers = offers_for(url, variable="AZURE_OPENAI_API_KEY", by_caller=True)
    assert found(offers) == [("environment AZURE_OPENAI_API_KEY", True)]


def test_the_environment_comes_before_the_file(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    offers = offers_for(OPENAI, dotenv=DotEnv({"OPENAI_API_KEY": "sk-other"}))
    assert [offer.id for offer in offers.found] == [
        "environment:OPENAI_API_KEY",
        ".env:OPENAI_API_KEY",
    ]
    assert offers.bound.key.reveal() == CANARY
    assert offers.named(".env:OPENAI_API_KEY").key.reveal() == "sk-other"
    assert offers.named("nothing") is None


def test_a_files_url_does_not_draw_the_environments_key_to_it(monkeypatch):
    monkeypatch.setenv("SYNTHNB_API_KEY", CANARY)
    file = DotEnv({"SYNTHNB_BASE_URL": THEIRS, "SYNTHNB_API_KEY": "sk-file"})
    offers = offers_for(THEIRS, dotenv=file)
    assert offers.bound.label == ".env SYNTHNB_API_KEY"
    assert offers.bound.key.reveal() == "sk-file"


def test_a_file_cannot_ask_for_a_variable_of_the_environment(monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", CANARY)
    offers = offers_for(
        OPENAI, dotenv=DotEnv({"OPENAI_API_KEY": "env:AWS_SECRET_ACCESS_KEY"})
    )
    assert offers.found == ()
    assert "refers to a variable" in offers.warnings[0]


@pytest.mark.parametrize("value", ["", "  ", "\t"])
def test_an_empty_variable_is_no_offer(monkeypatch, value):
    monkeypatch.setenv("OPENAI_API_KEY", value)
    assert offers_for(OPENAI).found == ()


def test_a_key_that_cannot_be_sent_is_named_and_not_shown(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", f"{CANARY} {CANARY}")
    offers = offers_for(OPENAI)
    assert offers.found == ()
    assert "OPENAI_API_KEY is no usable key" in offers.warnings[0]
    assert "CANARY" not in repr(offers)


def test_no_text_of_an_offer_holds_the_key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    file = DotEnv({"OPENAI_API_KEY": CANARY})
    text = repr(offers_for(OPENAI, dotenv=file)) + repr(file)
    assert "CANARY" not in text
    assert "9f3b7d" not in text


# ---- the file


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("K=abc", "abc"),
        ("export K=abc", "abc"),
        ("  K = abc  ", "abc"),
        ("K=abc # a remark", "abc"),
        ("K=abc#no-remark", "abc#no-remark"),
        ('K="a b # c" # d', "a b # c"),
        ('K="say \\"x\\""', 'say "x"'),
        ("K='a\\b'", "a\\b"),
        ("K=", ""),
        ("K=# nothing", ""),
        ("K=a=b==", "a=b=="),
        ("K='a'b", "'a'b"),
        ("K=$HOME", "$HOME"),
        ("K=first\nK=second", "second"),
        ("\n# K=no\nK=yes\r\n", "yes"),
    ],
)
def test_lines_of_a_file(line, value):
    assert parse_dotenv(line) == {"K": value}


@pytest.mark.parametrize(
    "line", ["", "K", "K: v", "=v", "1K=v", "K-L=v", "#K=v", "exportK"]
)
def test_what_is_no_line(line):
    assert parse_dotenv(line) == {}


def test_a_line_of_backslashes_is_read_at_once():
    line = 'K="' + "\\" * 60 + "x"
    assert parse_dotenv(line) == {"K": line[2:]}


def test_a_file_is_read_and_never_exported(tmp_path):
    path = tmp_path / ".env"
    path.write_bytes(b"\xef\xbb\xbfSYNTHNB_TEST_ONLY=x\n")
    path.chmod(0o600)
    read = read_dotenv(path)
    assert read.values == {"SYNTHNB_TEST_ONLY": "x"}
    assert read.warning == ""
    assert "SYNTHNB_TEST_ONLY" not in os.environ


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_a_file_that_others_can_read_is_used_with_a_warning(tmp_path, mode):
    path = tmp_path / ".env"
    path.write_text(f"OPENAI_API_KEY={CANARY}")
    path.chmod(mode)
    offers = offers_for(OPENAI, dotenv=read_dotenv(path))
    assert offers.bound is not None
    assert "chmod 600 .env" in offers.warnings[0]


def test_files_that_are_none(tmp_path):
    assert read_dotenv(tmp_path / ".env") == DotEnv()
    assert read_dotenv(tmp_path) == DotEnv()  # a folder: often a virtual environment
    broken, large = tmp_path / "a", tmp_path / "b"
    broken.write_bytes(b"K=\xff\xfe")
    large.write_text("K=v\n" * 20_000)
    assert "cannot be read" in read_dotenv(broken).warning
    assert read_dotenv(large) == DotEnv(warning="b is too large for a file of settings")


# ---- the keyring


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://api.openai.com/v1", "https://api.openai.com"),
        ("https://api.openai.com:443/x", "https://api.openai.com"),
        ("http://gpu:8000/v1", "http://gpu:8000"),
        ("http://127.0.0.1:8000/v1", "http://localhost:8000"),
        ("http://[2001:db8::1]:80/v1", "http://[2001:db8::1]"),
    ],
)
def test_the_servers_name(url, origin):
    assert origin_text(url) == origin


@pytest.fixture
def keyring(monkeypatch):
    """The keyring's three calls, as the package documents them."""
    kept: dict[tuple[str, str], str] = {}
    backend = SimpleNamespace(priority=5, get_password=lambda s, u: kept.get((s, u)))
    module = SimpleNamespace(get_keyring=lambda: backend)
    monkeypatch.setitem(sys.modules, "keyring", module)
    return SimpleNamespace(kept=kept, backend=backend)


def test_a_key_of_the_keyring_is_for_its_server_alone(keyring):
    keyring.kept["synthnb", "https://api.openai.com"] = CANARY
    offer = keyring_offer(OPENAI)
    assert (offer.label, offer.bound, offer.key.reveal()) == ("keyring", True, CANARY)
    assert "CANARY" not in repr(offer)
    assert keyring_offer(THEIRS) is None


def test_a_keyring_that_keeps_nothing_is_not_asked(keyring):
    keyring.kept["synthnb", "https://api.openai.com"] = CANARY
    keyring.backend.priority = 0
    assert keyring_offer(OPENAI) is None


def test_a_keyring_that_fails_offers_nothing(keyring):
    def locked(service, user):
        raise RuntimeError("locked")

    keyring.backend.get_password = locked
    assert keyring_offer(OPENAI) is None
    keyring.backend.get_password = lambda s, u: "env:HOME"
    assert keyring_offer(OPENAI) is None


def test_without_the_package_there_is_no_keyring(monkeypatch):
    monkeypatch.delitem(sys.modules, "keyring", raising=False)
    monkeypatch.setattr(key_offers, "find_spec", lambda name: None)
    assert not key_offers.has_keyring()
    assert keyring_offer(OPENAI) is None
