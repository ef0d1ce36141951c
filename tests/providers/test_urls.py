from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthnb.errors import ConfigError
from synthnb.providers.urls import is_loopback, normalise, origin_of, root_of


@pytest.mark.parametrize(
    ("pasted", "base_url"),
    [
        ("host:8000", "http://host:8000/v1"),
        ("localhost:8000/", "http://localhost:8000/v1"),
        (":8000", "http://localhost:8000/v1"),
        ("http://localhost:11434", "http://localhost:11434/v1"),
        ("http://localhost:11434/api", "http://localhost:11434/v1"),
        ("localhost:11434/api/chat", "http://localhost:11434/v1"),
        ("localhost:1234/api/v0", "http://localhost:1234/v1"),
        ("http://h:8000/v1", "http://h:8000/v1"),
        ("http://h:8000/v1/", "http://h:8000/v1"),
        ("http://h:8000//v1//", "http://h:8000/v1"),
        ("http://h:8000/v1/chat/completions", "http://h:8000/v1"),
        ("http://h:8000/v1/models", "http://h:8000/v1"),
        ("http://h:8000/v1/completions/", "http://h:8000/v1"),
        ("http://h:8000/docs", "http://h:8000/v1"),
        ("http://h:8000/health", "http://h:8000/v1"),
        ("localhost:8000/chat/completions", "http://localhost:8000/v1"),
        ('  "http://h:8000/v1" \n', "http://h:8000/v1"),
        ("“http://h:8000/v1”", "http://h:8000/v1"),
        ("<http://h:8000>", "http://h:8000/v1"),
        ("HTTP://Host:8000/V1", "http://host:8000/V1"),
        ("https://api.openai.com", "https://api.openai.com/v1"),
        ("api.openai.com", "https://api.openai.com/v1"),
        ("api.example.com:8443", "https://api.example.com:8443/v1"),
        ("api.example.com:9000", "http://api.example.com:9000/v1"),
        ("https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1"),
        ("https://openrouter.ai/api", "https://openrouter.ai/api/v1"),
        ("https://x.ai/v1beta/openai/", "https://x.ai/v1beta/openai"),
        ("https://h.ai/inference/chat/completions", "https://h.ai/inference"),
        ("https://api.h.ai/chat/completions", "https://api.h.ai"),
        ("192.168.1.4", "http://192.168.1.4/v1"),
        ("8.8.8.8", "https://8.8.8.8/v1"),
        ("gpu-box", "http://gpu-box/v1"),
        ("gpu.local", "http://gpu.local/v1"),
        ("[::1]:8000", "http://[::1]:8000/v1"),
        ("::1", "http://[::1]/v1"),
        ("http://[2001:db8::1]:8000/v1", "http://[2001:db8::1]:8000/v1"),
        ("0.0.0.0:8000", "http://127.0.0.1:8000/v1"),
        ("[::]:8000", "http://[::1]:8000/v1"),
        ("http://h:8000/v1?key=abc#top", "http://h:8000/v1"),
    ],
)
def test_what_people_paste_becomes_a_base_url(pasted, base_url):
    assert normalise(pasted).base_url == base_url


@pytest.mark.parametrize(
    ("pasted", "word"),
    [
        ("localhost:8000/v1", "http:// was put in front"),
        ("http://localhost:8000", "/v1 was added"),
        ("http://h:8000/v1/models", "/models was left out"),
        ("http://0.0.0.0:8000/v1", "0.0.0.0 is an address to listen on"),
        (":8000", "no host was named"),
        ("http://h/v1?x=1", "what followed the path"),
        ("http://localhost:11434/api", "/api is the server's own API"),
    ],
)
def test_each_change_is_noted(pasted, word):
    assert any(note.startswith(word) for note in normalise(pasted).notes)


def test_a_right_url_is_left_alone():
    assert normalise("http://h:8000/v1").notes == ()


@pytest.mark.parametrize(
    ("pasted", "word"),
    [
        ("", "empty"),
        ('""', "empty"),
        ("http://", "no host"),
        ("http:///v1", "no host"),
        ("ftp://h/v1", "neither http nor https"),
        ("http://a b/v1", "space"),
        ("http://h\\@evil/v1", "backslash"),
        ("http://h\x00/v1", "control"),
        ("http://h:99999/v1", "port"),
        ("http://h:abc/v1", "port"),
        ("http://[::1/v1", "cannot be read"),
        ("http://2130706433/v1", "incomplete"),
        ("http://0x7f.1/v1", "incomplete"),
        ("http://127.1/v1", "incomplete"),
        ("http://169.254.169.254/v1", "link-local"),
        ("http://[fe80::1]/v1", "link-local"),
    ],
)
def test_what_is_no_url_is_refused_with_an_example(pasted, word):
    with pytest.raises(ConfigError, match=word) as caught:
        normalise(pasted)
    assert caught.value.hint


@pytest.mark.parametrize(
    "pasted", ["http://bob:hunter2@h/v1", "https://hunter2@h/v1", "bob:hunter2@h:80"]
)
def test_a_password_in_the_url_is_refused_and_not_repeated(pasted):
    with pytest.raises(ConfigError, match="user name or a password") as caught:
        normalise(pasted)
    assert "hunter2" not in str(caught.value)
    assert "bob" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://localhost:1/v1", True),
        ("http://api.localhost/v1", True),
        ("http://127.9.9.9/v1", True),
        ("http://[::1]:1/v1", True),
        ("http://[::ffff:127.0.0.1]/v1", True),
        ("http://localhost.evil.com/v1", False),
        ("http://10.0.0.1/v1", False),
        ("http://[::ffff:8.8.8.8]/v1", False),
        ("https://api.openai.com/v1", False),
    ],
)
def test_loopback_is_told_apart(url, expected):
    assert is_loopback(url) is expected


def test_an_origin_is_scheme_host_and_port():
    assert origin_of("https://a.com/v1") == ("https", "a.com", 443)
    assert origin_of("http://127.0.0.1:80/x") == origin_of("http://localhost/y")
    assert origin_of("http://a.com/v1") != origin_of("https://a.com/v1")
    assert root_of("http://h:8/v1/x") == "http://h:8"


@given(
    st.sampled_from(["", "http://", "https://"]),
    st.sampled_from(
        ["h", "localhost", "a.example.com", "10.0.0.7", "[::1]", "8.8.8.8"]
    ),
    st.sampled_from(["", ":80", ":443", ":8000", ":11434", ":1234"]),
    st.lists(st.sampled_from(["v1", "api", "openai", "v1beta", "x", ""]), max_size=4),
)
def test_a_result_is_a_fixed_point(scheme, host, port, path):
    once = normalise(f"{scheme}{host}{port}/{'/'.join(path)}")
    assert not once.base_url.endswith("/")
    assert normalise(once.base_url).base_url == once.base_url


@given(st.text(max_size=40))
def test_any_text_gives_a_url_or_a_config_error(text):
    try:
        found = normalise(text)
    except ConfigError:
        return
    assert found.base_url.startswith(("http://", "https://"))


@pytest.mark.parametrize("start", ["sk-", "sk-proj-", "hf_", "gsk_", "AIza", "ghp_"])
def test_a_key_in_the_place_of_a_url_is_refused_and_not_repeated(start):
    key = start + "q7Zk2mWx9" * 5
    with pytest.raises(ConfigError, match="looks like an API key") as caught:
        normalise(f' "{key}" ')
    assert "q7Zk2" not in str(caught.value)
