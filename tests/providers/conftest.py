"""Lets the tests of this folder share ``raw_server``, and keeps them apart."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from synthnb.providers.dialect import forget_dialects

sys.path.insert(0, str(Path(__file__).parent))  # importlib mode does not do it

_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


@pytest.fixture(autouse=True)
def clean_providers(monkeypatch):
    """No proxy and no dialect of another test."""
    for name in _PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    forget_dialects()
