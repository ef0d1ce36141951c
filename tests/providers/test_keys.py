from __future__ import annotations

import copy
import pickle
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from synthnb.errors import ConfigError
from synthnb.providers.headers import ExtraHeaders
from synthnb.providers.redaction import Redactor
from synthnb.providers.secrets import Key

CANARY = "sk-CANARY-9f3b7d21"


def leaks(text: str, key: str = CANARY, size: int = 6) -> bool:
    return any(key[i : i + size] in text for i in range(len(key) - size + 1))


def test_a_literal_key_is_sent_but_never_shown():
    key = Key(CANARY)
    assert key.reveal() == CANARY
    assert str(key) == "set"
    assert repr(key) == "<Key: set>"
    assert key.reference == "literal"


@pytest.mark.parametrize(
    "pasted",
    [
        f" {CANARY}\n",
        f'"{CANARY}"',
        f"'{CANARY}' ",
        f"Bearer {CANARY}",
        f"{CANARY}\r\n",
    ],
)
def test_what_stands_around_a_pasted_key_is_taken_off(pasted):
    assert Key(pasted).reveal() == CANARY


@pytest.mark.parametrize(
    ("pasted", "word"),
    [
        (f"“{CANARY}”", "typographic"),
        (f"{CANARY[:9]}\n{CANARY[9:]}", "line break"),
        (f"{CANARY} {CANARY}", "space"),
        (f"{CANARY[:9]}\x00{CANARY[9:]}", "control"),
        (f"{CANARY}é", "not ASCII"),
        (f"env: {CANARY}", "not the name"),
        (f"env:{CANARY}", "not the name"),
    ],
)
def test_a_bad_key_is_refused_and_not_repeated(pasted, word):
    with pytest.raises(ConfigError, match=word) as caught:
        Key(pasted)
    assert not leaks(str(caught.value))


def test_bytes_and_other_types_are_refused():
    with pytest.raises(ConfigError, match="bytes"):
        Key(CANARY.encode())


@pytest.mark.parametrize("nothing", [None, "", "  ", "\n"])
def test_no_key_is_no_key(nothing):
    key = Key(nothing)
    assert key.reveal() is None
    assert not key.is_set
    assert str(key) == "not set"


def test_a_secret_str_is_taken():
    assert Key(SecretStr(CANARY)).reveal() == CANARY


def test_an_environment_reference_is_read_when_it_is_needed(monkeypatch):
    key = Key("env:MY_KEY")
    assert str(key) == "not set (env:MY_KEY)"
    with pytest.raises(ConfigError, match="MY_KEY is not set"):
        key.reveal()
    monkeypatch.setenv("MY_KEY", f"{CANARY}\n")
    assert key.reveal() == CANARY
    assert str(key) == "set (env:MY_KEY)"


def test_a_key_pasted_as_a_variable_name_is_not_shown():
    key = Key("env:sk_canary_9f3b7d21")
    assert "canary" not in repr(key)
    with pytest.raises(ConfigError) as caught:
        key.reveal()
    assert "canary" not in str(caught.value)


def test_a_function_is_asked_each_time():
    answers = iter([CANARY, f" {CANARY}2 "])
    key = Key(lambda: next(answers))
    assert str(key) == "set (callable)"
    assert [key.reveal(), key.reveal()] == [CANARY, f"{CANARY}2"]


def test_a_function_that_fails_is_reported_without_its_text():
    def broken():
        raise RuntimeError(f"vault said {CANARY}")

    with pytest.raises(ConfigError, match="raised RuntimeError") as caught:
        Key(broken).reveal()
    assert caught.value.__suppress_context__
    for nothing in (None, "", 7):
        with pytest.raises(ConfigError, match="returned no key"):
            Key(lambda value=nothing: value).reveal()


@pytest.mark.parametrize("source", [CANARY, lambda: CANARY])
@pytest.mark.parametrize(
    "twin", [copy.deepcopy, lambda k: pickle.loads(pickle.dumps(k))]
)
def test_a_copy_leaves_the_key_behind_and_says_how_to_give_it(source, twin):
    key = Key(source)
    other = twin(key)
    assert not other.is_set
    assert "left behind" in str(other)
    with pytest.raises(ConfigError, match="did not travel") as caught:
        other.reveal()
    assert "env:NAME" in caught.value.hint
    assert key.reveal() == CANARY


def test_a_reference_and_no_key_survive_a_copy(monkeypatch):
    monkeypatch.setenv("MY_KEY", CANARY)
    packed = pickle.dumps(Key("env:MY_KEY"))
    assert CANARY.encode() not in packed
    assert pickle.loads(packed).reveal() == CANARY
    assert copy.deepcopy(Key()).reveal() is None
    assert copy.copy(Key(CANARY)).reveal() == CANARY


# ---- the redactor


@pytest.mark.parametrize(
    "text",
    [
        f"bad key {CANARY}.",
        f"bad key {CANARY.upper()}.",
        f"bad key {CANARY[:9]}***{CANARY[-4:]}",
        f"bad key {CANARY[:5]}...{CANARY[-4:]}",
        f"bad key {CANARY[:5]}…",
        f"cut short {CANARY[2:10]}",
        f"Authorization: Bearer {CANARY}",
        f"http://h/?key={quote(CANARY, safe='')}&x=1",
        f'{{"key": "{CANARY}"}}',
        f"glued{CANARY}glued",
    ],
)
def test_no_part_of_a_key_gets_through(text):
    clean = Redactor([CANARY])(text)
    assert "[key]" in clean
    assert not leaks(clean.lower(), CANARY.lower(), 4)


def test_other_secrets_go_too():
    clean = Redactor()("Bearer abcdef and http://bob:pw@proxy:1 and sk-12*****89")
    assert "abcdef" not in clean
    assert "bob" not in clean
    assert "sk-12" not in clean
    assert "proxy:1" in clean


def test_encoded_keys_are_known():
    key = 'a+b/c="d\\e'
    clean = Redactor([key])(f'{quote(key, safe="")} a+b/c=\\"d\\\\e {key}')
    assert clean == "[key] [key] [key]"


def test_ordinary_text_is_untouched():
    text = "The model `x` does not exist... try another; wait for it."
    assert Redactor([CANARY, "EMPTY", "ollama", "none"])(text) == text
    assert Redactor([])(text) == text


def test_a_short_key_goes_only_as_a_whole_word():
    assert Redactor(["abc"])("abc, abcd (abc) fabc") == "[key], abcd ([key]) fabc"


def test_a_redactor_shows_and_pickles_nothing():
    redactor = Redactor([CANARY])
    assert repr(redactor) == "<Redactor>"
    assert b"canary" not in pickle.dumps(redactor).lower()


_KEYS = st.text(
    st.characters(min_codepoint=33, max_codepoint=126), min_size=6, max_size=60
)


@given(_KEYS, st.text(max_size=40), st.text(max_size=40))
def test_any_key_is_taken_out_of_any_text(key, before, after):
    if key.lower() in {"ollama", "lm-studio", "not-needed"}:
        return
    clean = Redactor([key])(f"{before}{key}{after}")
    assert key not in clean.replace("[key]", "")


# ---- headers


def test_headers_that_sound_secret_are_keys(monkeypatch):
    monkeypatch.setenv("MY_KEY", CANARY)
    headers = ExtraHeaders(
        {"X-Title": "demo", "Api-Key": "env:MY_KEY", "Authorization": f"Basic {CANARY}"}
    )
    assert dict(headers.plain) == {"x-title": "demo"}
    assert headers.reveal() == {"api-key": CANARY, "authorization": f"Basic {CANARY}"}
    assert headers.names == ("api-key", "authorization", "x-title")
    assert not leaks(repr(headers))
    packed = pickle.dumps(headers)
    assert CANARY.encode() not in packed
    again = pickle.loads(packed)
    assert dict(again.plain) == {"x-title": "demo"}
    with pytest.raises(ConfigError, match="did not travel"):
        again.reveal()


@pytest.mark.parametrize(
    "headers",
    [{"a b": "x"}, {"x": "a\nb"}, {"x": "é"}, {"Content-Length": "3"}, {"": "x"}],
)
def test_headers_that_cannot_be_sent_are_refused(headers):
    with pytest.raises(ConfigError, match="header"):
        ExtraHeaders(headers)


@pytest.mark.parametrize(
    "text", ["x" * 8_000, "*" * 8_000, "a." * 4_000, "://" * 2_000]
)
def test_a_long_hostile_text_costs_no_more_than_its_length(text):
    redactor = Redactor([CANARY])
    for _ in range(20):  # a pattern that backtracks takes minutes here
        assert redactor(text)


@pytest.mark.filterwarnings("error")
def test_an_asynchronous_function_is_said_to_be_one():
    async def later():
        return CANARY

    with pytest.raises(ConfigError, match="asynchronous"):
        Key(later).reveal()
