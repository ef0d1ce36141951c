from __future__ import annotations

import math
import pickle
import re
import socket

import pytest

import synthnb as sn
from synthnb.errors import ConfigError
from synthnb.providers.prices import Price, price_of


def test_a_hosted_models_list_price_is_known_without_the_network(monkeypatch):
    def no_network(*_):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", no_network)
    price = price_of("gpt-4o-mini", "https://api.openai.com/v1")
    assert (price.input_per_million, price.output_per_million) == (0.15, 0.6)
    assert re.fullmatch(
        r"genai-prices [\d.]+, last verified 20\d\d(-\d\d){2}", price.as_of
    )
    assert price.of(1_000_000, 500_000) == pytest.approx(0.45)


@pytest.mark.parametrize(
    ("model", "url"),
    [
        ("no-such-model", "https://api.openai.com/v1"),
        ("gpt-4o-mini", "https://my.own.example/v1"),
        ("gpt-4o-mini", "http://localhost:8000/v1"),
        ("qwen-3-coder-480b", "https://api.cerebras.ai/v1"),  # listed without a price
        ("text-embedding-3-small", "https://api.openai.com/v1"),  # none for answers
        (None, "https://api.openai.com/v1"),
        ("gpt-4o-mini", None),
    ],
)
def test_what_is_not_in_the_table_has_no_price_rather_than_a_wrong_one(model, url):
    assert price_of(model, url) is None


@pytest.mark.parametrize("value", [-1, math.nan, math.inf, "0.15", None])
def test_what_is_no_price_is_refused(value):
    with pytest.raises(ConfigError, match="no price in US dollars"):
        Price(value, 1)


def test_a_price_that_is_given_counts_before_the_table():
    given = Price(1, 2)
    provider = sn.Provider(
        "https://api.openai.com/v1", model="gpt-4o-mini", price=given
    )
    assert provider.known_price == given
    assert pickle.loads(pickle.dumps(provider)).known_price == given
    listed = sn.Provider("https://api.openai.com/v1", model="gpt-4o-mini")
    assert listed.known_price.input_per_million == 0.15
    assert sn.Provider("http://localhost:8000", model="gpt-4o-mini").known_price is None
