"""Calls through the user's own ``openai.AsyncOpenAI``; the one importer of openai.

The SDK sends; reading answers and errors is ours, so both ways behave alike. Its retries
are off (the ledger must see each attempt), and it reads an answer whole before the size
cap can be applied.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from synthnb.config import Limits
from synthnb.errors import ProviderError, RequestTimeoutError, ServerError
from synthnb.providers.answers import Answer
from synthnb.providers.client import HttpChatClient
from synthnb.providers.connect_errors import connect_error
from synthnb.providers.dialect import dialect_of
from synthnb.providers.redaction import Redactor

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_CONCURRENCY = 16


class SdkTransport:
    """Sends through an ``AsyncOpenAI`` without its retries, models and parsing."""

    def __init__(self, client: AsyncOpenAI, limits: Limits, redactor: Redactor) -> None:
        """Borrow the client; ``aclose`` leaves it open for its owner."""
        self._client = client.with_options(max_retries=0, timeout=limits.total_timeout)
        self._base_url = str(client.base_url).rstrip("/")
        self._limits = limits
        self._redactor = redactor

    async def post(self, path: str, body: bytes) -> Answer:
        """POST a JSON body to the base URL plus ``path``.

        Raises:
            ProviderError: as our own transport.
        """
        import httpx2

        def send() -> Awaitable[Any]:
            return self._client.post(
                path,
                cast_to=httpx2.Response,
                content=body,
                options={
                    "follow_redirects": False,
                    "headers": {"content-type": "application/json"},
                },
            )

        limits = self._limits
        wait = min(limits.first_byte_timeout, limits.total_timeout)
        return await self._send(send, wait)

    async def post_to(self, url: str, body: bytes) -> Answer:
        """POST a JSON body to a whole URL.

        Raises:
            ProviderError: as our own transport.
        """
        return await self.post(url, body)

    async def get(self, url: str, *, timeout_seconds: float | None = None) -> Answer:
        """GET a whole URL on the same origin.

        Raises:
            ProviderError: as our own transport.
        """
        import httpx2

        def send() -> Awaitable[Any]:
            return self._client.get(
                url, cast_to=httpx2.Response, options={"follow_redirects": False}
            )

        return await self._send(send, timeout_seconds or self._limits.total_timeout)

    async def aclose(self) -> None:
        """Do nothing: the client belongs to who made it."""

    async def _send(self, send: Callable[[], Awaitable[Any]], wait: float) -> Answer:
        import openai

        try:
            async with asyncio.timeout(wait):
                response = await send()
        except openai.APIStatusError as error:
            response = error.response
        except (openai.APITimeoutError, TimeoutError):
            raise RequestTimeoutError(
                f"no complete answer within {wait:g} s",
                hint="lower the concurrency, or raise Limits(total_timeout=...)",
            ) from None
        except openai.OpenAIError as error:
            raise self._failed(error) from None
        body = response.content
        most = self._limits.max_answer_bytes
        if len(body) > most:
            raise ServerError(f"the answer is larger than {most:,} bytes")
        return Answer(response.status_code, response.headers, body)

    def _failed(self, error: Exception) -> ProviderError:
        cause = error.__cause__ or error
        reason = f"{cause}"
        if "Connect" in type(cause).__name__:
            # httpx2 and its transports wrap the socket's own error, which says more.
            while cause.__cause__ is not None or cause.__context__ is not None:
                cause = cause.__cause__ or cause.__context__ or cause
            return connect_error(self._base_url, cause, self._redactor)
        said = self._redactor(reason)[:300]
        return ServerError(
            f"the connection broke before the answer was complete: {said}"
        )


def sdk_transport(client: AsyncOpenAI, limits: Limits) -> tuple[SdkTransport, Redactor]:
    """Return a transport over ``client``, and a redactor that knows its key."""
    key = client.api_key
    redactor = Redactor([key] if key else [])
    return SdkTransport(client, limits, redactor), redactor


class SdkClient(HttpChatClient):
    """Implements ``ChatClient`` through ``openai.AsyncOpenAI``."""

    def __init__(
        self, client: AsyncOpenAI, model: str, *, limits: Limits | None = None
    ) -> None:
        """Borrow the client; closing this one leaves it open."""
        transport, redactor = sdk_transport(client, limits or Limits())
        base_url = str(client.base_url).rstrip("/")
        super().__init__(
            transport,
            endpoint=base_url,
            model=model,
            dialect=dialect_of(base_url, model),
            redactor=redactor,
            concurrency=_CONCURRENCY,
            key_state="in the openai client",
        )
