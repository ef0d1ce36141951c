"""The line between a key and what looks like one, from both sides."""

from __future__ import annotations

import base64
import json

import pytest

from synthnb.scan.randomness import is_orderly, is_placeholder, looks_random


def kinds(findings):
    return [found.kind for found in findings]


@pytest.mark.parametrize(
    "typed",
    ["1234567890", "abcdefgh", "xxxxxxxx", "abab", "a1b2c3d4e5", "Ab12Ab12Ab12"],
)
def test_what_was_typed_in_order_is_told_from_what_was_drawn(typed, draw):
    assert is_orderly(typed)
    assert not any(is_orderly(draw.text(24)) for _ in range(500))


def test_few_characters_are_not_random_however_mixed():
    assert not looks_random("k7p77kp7k7pk77pk7pk7kp7")


def test_long_hexadecimal_is_random_however_its_letters_fall():
    assert looks_random("07cef50288661297906489df948cad67")
    assert not looks_random("0123456789abcdef0123456789abcdef")


def test_a_word_before_a_long_drawn_part_excuses_nothing(draw):
    assert is_placeholder("my-key-goes-here")
    assert not is_placeholder(f"my-key-{draw.text(40)}")
    assert is_placeholder(f"{draw.text(40)}-CANARY")


def test_nearly_all_drawn_texts_are_random_and_no_words_are(draw):
    drawn = [draw.text(32) for _ in range(2000)]
    assert sum(map(looks_random, drawn)) > 1980
    for words in (
        "meta-llama/Llama-3.1-8B-Instruct",
        "convert_ids_to_tokens_2024",
        "SessionClientSecretExpiresAfter",
        "2026-08-01T12:00:00.000000+00:00",
        "/home/somebody/projects/synthnb/notebooks/01_quickstart.ipynb",
        "The-quick-brown-fox-jumps-over-13-lazy-dogs",
    ):
        assert not looks_random(words), words


def test_the_place_is_that_of_the_key_not_of_its_name(book, draw):
    for before in ('x = 1; api_key = "', "Authorization: Bearer ", "postgres://bob:"):
        after = "@host/db" if "://" in before else '" + x'
        (found,) = book.scan_source(f"{before}{draw.text(32)}{after}")
        assert found.column == len(before) + 1
        assert found.length == "20 to 39 characters"


def test_the_example_of_jwt_io_is_no_key(book, draw):
    parts = ({"alg": "HS256"}, {"sub": "1234567890", "name": "John Doe"})
    parts = [
        base64.urlsafe_b64encode(json.dumps(p).encode()).decode().rstrip("=")
        for p in parts
    ]
    assert book.scan_source(".".join([*parts, draw.text(43)])) == ()
    assert book.scan_source(f"eyJ{draw.text(20)}.{draw.text(20)}.{draw.text(43)}") == ()


def test_the_same_word_twice_is_no_password(book):
    assert book.scan_source("postgres://scott:scott@host/db") == ()
    assert book.scan_source("postgres://scott:changeit@host/db") == ()


def test_a_private_key_without_content_is_none(book):
    mark = "PRIVATE" + " KEY-----"
    for content in ("...", "x" * 64, "abcdefgh" * 8, '" in text'):
        assert book.scan_source(f"-----BEGIN {mark}\n{content}\n-----END {mark}") == ()


def test_no_key_begins_within_base64(book, draw):
    for key in (
        *draw.by_prefix()["AWS access key id"],
        *draw.by_prefix()["Google API key"],
    ):
        for before, after in (
            ("q8/", ""),
            ("q8+", ""),
            ("q8", ""),
            ("", "/q8"),
            ("", "+"),
        ):
            assert book.scan_output(f"{before}{key}{after} x") == ()
        assert book.scan_output(f"data:image/png;base64,{key}") == ()
        assert len(book.scan_output(f"?key={key}&x=1")) == 1


def test_a_uuid_is_a_key_where_a_key_is_named(book, draw):
    uuid = "-".join(draw.text(n, "0123456789abcdef") for n in (8, 4, 4, 4, 12))
    assert len(book.scan_source(f'api_key = "{uuid}"')) == 1
    assert book.scan_source(f'token = "{uuid}"; id = "{uuid}"') == ()


def test_code_is_told_from_values(book, draw):
    t = draw.text
    for text in (
        f'print(token, "{t(24)}")',
        f"secret = {t(13)} + 1",
        f"secret = a{t(14)}.b{t(14)}",
        f"secret = a{t(24)}(1)",
        f"table[secret] = tokens[a{t(24)}]",
        f"password {t(24)}",
        f"next_page_token='{t(24)}'",
        f"next_token='{t(24)}'",
        f"eos_token='{t(24)}'",
        f"monkey = '{t(24)}'; cache_key='{t(24)}'; public_key='{t(24)}'",
    ):
        assert book.scan_source(text) == (), text
    assert len(book.scan_source(f'f("token", "{t(24)}")')) == 1


def test_a_key_that_several_rules_know_is_one_finding(book, draw):
    key = draw.by_prefix()["Groq key"][0]
    text = f'headers = {{"Authorization": "Bearer {key}"}}; api_key = "{key}"'
    assert kinds(book.scan_source(text)) == ["Groq key", "Groq key"]
    (found,) = book.scan(book.code(f"api_key='{key}'"), environ={"GROQ_API_KEY": key})
    assert found.kind == "value of the environment variable GROQ_API_KEY"


def test_of_two_own_secrets_the_longer_one_is_named(book):
    environ = {
        "A_TOKEN": "some words of mine",
        "B_TOKEN": "some words of mine and yours",
    }
    (found,) = book.scan(book.code("'some words of mine and yours'"), environ=environ)
    assert found.kind.endswith("B_TOKEN")


def test_an_own_secret_is_found_as_html_writes_it(book):
    environ = {"A_PASSWORD": "black & white <3 red"}
    html = book.shown(text__html="<td>black &amp; white &lt;3 red</td>")
    assert len(book.scan(book.code(outputs=[html]), environ=environ)) == 1


def test_the_beginning_of_an_own_secret_reaches_behind_its_prefix(book, draw):
    value = f"github_pat_{draw.text(22)}_{draw.text(59)}"
    environ = {"GITHUB_TOKEN": value}
    assert book.scan(book.code("x.startswith('github_pat_')"), environ=environ) == ()
    (found,) = book.scan(book.code(f"'{value[:14]}'"), environ=environ)
    assert found.kind == "part of a key: the environment variable GITHUB_TOKEN"


def test_a_key_that_is_the_name_of_an_entry_is_found(book, draw):
    key = draw.by_prefix()["Groq key"][0]
    (found,) = book.scan(book.code("1"), metadata={"used": {key: 3}})
    assert found.place == 'metadata, "used", name of an entry'


def test_buffers_of_widgets_are_not_looked_through(book, draw):
    key = draw.by_prefix()["AWS access key id"][0]
    buffer = {"encoding": "base64", "path": ["value"], "data": key}
    model = {"model_name": "ImageModel", "state": {}, "buffers": [buffer]}
    assert book.scan_models(model) == ()
    assert (
        len(book.scan_models({**model, "buffers": [{**buffer, "encoding": "text"}]}))
        == 1
    )
