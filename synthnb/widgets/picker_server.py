"""What a picker asks a server beside the check: its models, its version, its metrics."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from synthnb.config import Limits
from synthnb.errors import ConfigError, ProviderError
from synthnb.providers.connecting import Link, open_link
from synthnb.providers.failures import error_for
from synthnb.providers.servers import ListedModel, read_models
from synthnb.providers.urls import root_of

if TYPE_CHECKING:
    from synthnb.providers.provider import Provider

_LIMITS = Limits(connect_timeout=5.0, first_byte_timeout=10.0, total_timeout=20.0)
_OK = 200
_QUICK = 3.0
_NO_LIST = frozenset({404, 405, 501})
_TELLS_VERSION = frozenset({"vllm", "sglang"})
_HAS_METRICS = frozenset({"vllm", "sglang", "llama.cpp", "tensorrt-llm"})
_LONGEST_VERSION = 24


async def list_models(provider: Provider) -> tuple[ListedModel, ...] | None:
    """Return the models that a server lists; ``None`` where it keeps no list.

    Raises:
        ProviderError: it does not answer, or refuses the key.
        ConfigError: the key cannot be had, or what answers has no API there.
    """
    link = await open_link(provider, _LIMITS)
    try:
        answer = await link.transport.get(f"{link.base_url}/models")
        listed = read_models(answer) if answer.status == _OK else None
        if listed is not None:
            return listed
        if answer.status in _NO_LIST:
            return None
        if answer.status == _OK:
            raise ConfigError(
                f"what answers at {link.base_url} is no OpenAI-compatible API",
                hint="check the URL's path and port",
            )
        raise error_for(answer, link.redactor, key_state=provider.key_state)
    finally:
        await link.transport.aclose()


async def extras(provider: Provider, kind: str) -> tuple[str, bool]:
    """Return the server's version (``""`` if unsaid) and whether it shows metrics.

    Only kinds whose routes are known to be free are asked; a LiteLLM never is.
    """
    if kind not in _TELLS_VERSION | _HAS_METRICS:
        return "", False
    link = await open_link(provider, _LIMITS)
    try:
        version = await _version(link) if kind in _TELLS_VERSION else ""
        return version, kind in _HAS_METRICS and await _get(
            link, "/metrics"
        ) is not None
    finally:
        await link.transport.aclose()


async def _version(link: Link) -> str:
    text = await _get(link, "/version")
    try:
        said = json.loads(text or "").get("version")
    except (ValueError, RecursionError, AttributeError):
        return ""
    return said if isinstance(said, str) and len(said) <= _LONGEST_VERSION else ""


async def _get(link: Link, path: str) -> str | None:
    try:
        answer = await link.transport.get(
            f"{root_of(link.base_url)}{path}", timeout_seconds=_QUICK
        )
    except ProviderError:
        return None
    return answer.text() if answer.status == _OK else None
