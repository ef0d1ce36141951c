"""From a ``Provider`` to an open client: launch, key, transport, model."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from synthnb.config import Limits
from synthnb.errors import ConfigError, ConnectError, ProviderError
from synthnb.providers.answers import Answer, Transport
from synthnb.providers.client import HttpChatClient
from synthnb.providers.dialect import Dialect, dialect_of
from synthnb.providers.failures import error_for
from synthnb.providers.redaction import Redactor
from synthnb.providers.server_details import context_of, loaded_context, version_of
from synthnb.providers.servers import (
    ListedModel,
    ignores_response_format,
    kind_of,
    read_models,
)
from synthnb.providers.urls import is_loopback, normalise

if TYPE_CHECKING:
    from synthnb.providers.provider import Provider

_OK = 200
_PEEK_SECONDS = 3.0
_NO_KEY = 401
_NO_METRICS = frozenset({"litellm", "ollama", "lm-studio"})
_FIXED = 16
"""Requests at once where nobody says how many and the run is not to find it out."""
_ABSENT = frozenset({404, 405, 501})


@dataclass(frozen=True, slots=True)
class Link:
    """An open transport to a provider's server, and what is known beforehand."""

    transport: Transport
    redactor: Redactor
    base_url: str
    model: str | None
    concurrency: int
    context: int | None = None


async def open_link(provider: Provider, limits: Limits) -> Link:
    """Launch a local server if need be, and open the transport.

    Raises:
        ConfigError: the key cannot be had.
        ModelServerError: the local server does not start.
    """
    if provider._sdk is not None:  # noqa: SLF001 - the provider's own other half
        from synthnb.providers.sdk import sdk_transport

        transport, redactor = sdk_transport(provider._sdk, limits)  # noqa: SLF001
        assert provider.base_url is not None
        return Link(
            transport,
            redactor,
            provider.base_url,
            provider.model,
            limits.max_concurrency or provider.concurrency,
        )
    launcher = provider._launcher()  # noqa: SLF001
    if launcher is None:
        assert provider.base_url is not None
        return await _http_link(provider, limits, provider.base_url)
    ready = await launcher.launch()
    return await _http_link(
        provider,
        limits,
        normalise(ready.base_url).base_url,
        model=ready.model,
        slots=ready.slots,
        context=ready.context,
    )


async def _http_link(
    provider: Provider,
    limits: Limits,
    base_url: str,
    *,
    model: str | None = None,
    slots: int | None = None,
    context: int | None = None,
) -> Link:
    from synthnb.providers.transport import HttpTransport

    concurrency = limits.max_concurrency or slots or provider.concurrency
    if not (limits.adaptive or limits.max_concurrency or slots):
        concurrency = min(concurrency, _FIXED)
    headers, redactor = _headers(provider, base_url)
    make = partial(
        HttpTransport,
        base_url,
        headers,
        limits=limits,
        concurrency=concurrency,
        redactor=redactor,
    )
    # With TLS the system's certificates are read: 90 ms that the loop must not wait for.
    encrypted = base_url.startswith("https:")
    transport = await asyncio.to_thread(make) if encrypted else make()
    return Link(
        transport, redactor, base_url, model or provider.model, concurrency, context
    )


def _headers(provider: Provider, base_url: str) -> tuple[dict[str, str], Redactor]:
    key = provider._key  # noqa: SLF001
    # A preset names its usual variable; on this machine the server may need no key.
    optional = provider.origins["api_key"].startswith("preset") and is_loopback(
        base_url
    )
    secret = None if optional and not key.is_set else key.reveal()
    hidden = provider._headers.reveal()  # noqa: SLF001
    headers = {"content-type": "application/json", "accept": "application/json"}
    if secret:
        headers["authorization"] = f"Bearer {secret}"
    headers |= provider._headers.plain  # noqa: SLF001
    headers |= hidden
    return headers, Redactor([*([secret] if secret else []), *hidden.values()])


async def connect(provider: Provider, limits: Limits | None = None) -> HttpChatClient:
    """Open a client for a provider; see ``Provider.connect``."""
    limits = limits or Limits()
    link = await open_link(provider, limits)
    try:
        listed, kind = await _look(link, limits, provider)
        model = link.model or _only(listed, link.base_url)
        await meet_server(provider, link, model, listed, kind)
    except BaseException:
        await link.transport.aclose()
        raise
    return client_for(provider, link, model, listed, kind)


async def meet_server(
    provider: Provider,
    link: Link,
    model: str,
    listed: tuple[ListedModel, ...],
    kind: str,
) -> None:
    """Ask a server of one's own for its version and its context; a hosted one is known.

    Another version than before makes what was learned void.
    """
    dialect = _dialect(provider, link, model)
    context = link.context or next((m.context for m in listed if m.id == model), None)
    if kind and link.base_url.startswith("http:"):
        version, own = await asyncio.gather(
            version_of(link, kind), context_of(link, kind, listed, model)
        )
        dialect.meet(version)
        context = own or context
    dialect.learn_context(context)


def _dialect(provider: Provider, link: Link, model: str) -> Dialect:
    # A server launched here is known, and has another port each time.
    return dialect_of(link.base_url, model, is_kept=not provider.is_local)


def client_for(
    provider: Provider,
    link: Link,
    model: str,
    listed: tuple[ListedModel, ...],
    kind: str,
) -> HttpChatClient:
    """Return the client over an open link, in the dialect that is known so far."""
    dialect = _dialect(provider, link, model)
    if ignores_response_format(kind):
        dialect.ignores_response_format()
    asks = partial(loaded_context, link, model) if kind == "ollama" else None
    return HttpChatClient(
        link.transport,
        endpoint=link.base_url,
        model=model,
        dialect=dialect,
        redactor=link.redactor,
        concurrency=link.concurrency,
        key_state=provider.key_state,
        # LiteLLM and hosted APIs keep theirs behind a key, and mean other things by it.
        has_metrics=link.base_url.startswith("http:") and kind not in _NO_METRICS,
        known_models=tuple(entry.id for entry in listed),
        ask_context=asks,
    )


async def _look(
    link: Link, limits: Limits, provider: Provider
) -> tuple[tuple[ListedModel, ...], str]:
    """Ask for the list of models: always without a model, else where it is free.

    A named model on a hosted API is left to the first call. A server of one's own is
    asked all the same: its answer tells whether it heeds ``response_format``.
    """
    named = link.model is not None
    if named and (provider.is_local or link.base_url.startswith("https:")):
        return (), ""
    wait = min(_PEEK_SECONDS, limits.connect_timeout) if named else limits.total_timeout
    try:
        answer = await link.transport.get(
            f"{link.base_url}/models", timeout_seconds=wait
        )
    except ConnectError:
        raise
    except ProviderError:
        if named:
            return (), ""
        raise
    listed = read_models(answer) if answer.status == _OK else None
    if listed is not None:
        return listed, kind_of(listed, answer, link.base_url)
    if named and answer.status != _NO_KEY:
        return (), ""
    raise _no_list(answer, link, provider)


def _no_list(answer: Answer, link: Link, provider: Provider) -> Exception:
    if answer.status in {_OK, *_ABSENT}:
        return ConfigError(
            f"{link.base_url} lists no models, so the model must be named",
            hint=f'Provider("{link.base_url}", model="..."); provider.check() tells more',
        )
    return error_for(answer, link.redactor, key_state=provider.key_state)


def _only(listed: tuple[ListedModel, ...], base_url: str) -> str:
    ids = sorted(entry.id for entry in listed)
    if len(ids) == 1:
        return ids[0]
    if not ids:
        raise ConfigError(
            f"{base_url} has no model yet",
            hint="load or pull one there, or name the model",
        )
    raise ConfigError(
        f"{base_url} has {len(ids)} models; name one with model=...",
        hint=", ".join(ids[:50]) + (" ..." if len(ids) > 50 else ""),  # noqa: PLR2004
    )
