"""Providers: where an OpenAI-compatible API lives, and the client that calls it."""

from __future__ import annotations

from synthnb.providers.protocol import ChatClient
from synthnb.providers.provider import Provider
from synthnb.providers.report import CheckReport

__all__ = ["ChatClient", "CheckReport", "Provider"]
