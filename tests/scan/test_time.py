"""A scan takes time in proportion to the text, whoever wrote it.

Nothing is measured here: on so many characters a search whose time grows with the square
would not end within the time limit of a test.
"""

from __future__ import annotations

import pytest

from synthnb.scan.contexts import CONTEXT_RULES
from synthnb.scan.rules import RULES

MANY = 200_000
NEEDLES = sorted(
    {needle for rule in (*RULES, *CONTEXT_RULES) for needle in rule.needles}
)
ENDLESS = {
    "one long token": "sk-" + "aB3" * (MANY // 3),
    "one long base64": "aB3+/" * (MANY // 5),
    "dots": "eyJ" + "aaaaaaaaaa." * (MANY // 11),
    "tokens of three parts": "eyJaaaaaaaa." * (MANY // 12),
    "assignments without a value": "api_key = " * (MANY // 10),
    "assignments of short values": 'token="x" ' * (MANY // 10),
    "spaces": "password" + " " * MANY,
    "quotes": "secret" + "'" * MANY,
    "headers": "authorization: bearer " * (MANY // 22),
    "urls": "://a:b" * (MANY // 6),
    "url without an end": "://" + "a" * (MANY // 2) + ":" + "b" * (MANY // 2),
    "private keys": "-----BEGIN PRIVATE KEY-----" * (MANY // 27),
    "one private key": "-----BEGIN PRIVATE KEY-----" + "A1b" * (MANY // 3),
    "asterisks": "sk-" + "*" * MANY,
    "dashes": "-" * MANY,
    "new lines": "\n" * MANY,
    "escapes": "\x1b[" * (MANY // 2),
    "data": "data:image/png;base64," * (MANY // 22),
    "mail": "x@" * (MANY // 2),
    "turkish": "İ token" * (MANY // 7),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_no_text_takes_for_ever(name, book):
    assert len(book.scan_output(ENDLESS[name])) <= 1


@pytest.mark.parametrize("needle", NEEDLES)
def test_no_literal_repeated_takes_for_ever(needle, book):
    book.scan_output(needle * (MANY // len(needle)))


def test_a_notebook_of_many_numbers_is_read(book):
    plot = book.shown(
        **{"application__vnd.plotly.v1+json": {"data": [{"y": [0.5] * MANY}]}}
    )
    assert book.scan(book.code(outputs=[plot])) == ()


def test_a_notebook_of_many_keys_is_read(book, draw):
    key = draw.by_prefix()["Groq key"][0]
    assert len(book.scan_output(f"{key}\n" * 5000)) == 5000


def test_a_deep_notebook_is_read(book, draw):
    deep = draw.by_prefix()["Groq key"][0]
    for _ in range(200):
        deep = {"a": [deep]}
    assert len(book.scan(book.code("1"), metadata={"x": deep})) == 1
