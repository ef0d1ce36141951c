"""HTTP to one server: pooled connections, time-outs counted from the send, a size cap.

Whatever goes wrong becomes a ``ProviderError`` here. Redirects are not followed: a key is
never sent on. HTTP/2 is not spoken: each request in flight has its connection, which is
what every server of this kind expects.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from urllib.parse import urlsplit

from synthnb.config import Limits
from synthnb.errors import (
    ConfigError,
    ConnectError,
    ProviderError,
    RequestTimeoutError,
    ServerError,
)
from synthnb.providers.answers import Answer
from synthnb.providers.connect_errors import connect_error
from synthnb.providers.failures import excerpt
from synthnb.providers.http_connection import (
    AnswerTooLargeError,
    ConnectionBrokenError,
    RequestHead,
)
from synthnb.providers.http_pool import HttpPool
from synthnb.providers.proxies import proxy_for
from synthnb.providers.redaction import Redactor
from synthnb.providers.urls import host_of
from synthnb.providers.watch import CallLateError, CallWatch

_QUICK = 10.0
"""Seconds for what is no chat."""
_SPARE = 8
"""Connections beyond those of the run: for the list of models, health, metrics."""


class HttpTransport:
    """Sends to one origin only, with headers that are built once."""

    def __init__(
        self,
        base_url: str,
        headers: Mapping[str, str],
        *,
        limits: Limits,
        concurrency: int,
        redactor: Redactor,
    ) -> None:
        """Prepare the pool; no connection is made yet.

        Args:
            base_url: where ``post`` paths are appended.
            headers: sent with each request, the key's header among them.
            limits: time-outs and the size cap.
            concurrency: requests at once that the pool must have connections for.
            redactor: passes every text that goes into an error.

        Raises:
            ConfigError: a header cannot be sent, or the proxy is none.
        """
        self._base_url = base_url
        self._limits = limits
        self._redactor = redactor
        parts = urlsplit(base_url)
        encrypted = parts.scheme == "https"
        proxy = self._proxy = proxy_for(base_url)
        # A plain request through a proxy names the whole URL; a tunnel hides the proxy.
        self._prefix = f"http://{parts.netloc}" if proxy and not encrypted else ""
        if proxy and not encrypted and proxy.authorization:
            headers = {**headers, "proxy-authorization": proxy.authorization}
        self._headers = _Headers(parts.netloc, headers)
        self._path = parts.path
        self._heads: dict[str, RequestHead] = {}
        self._pool = HttpPool(
            base_url,
            most=limits.max_answer_bytes,
            size=concurrency + _SPARE,
            context=_context() if encrypted else None,
            proxy=proxy,
            connect_timeout=limits.connect_timeout,
        )
        self._watch = CallWatch()

    async def post(self, path: str, body: bytes) -> Answer:
        """POST a JSON body to the base URL plus ``path``.

        Raises:
            ProviderError: refused, timed out, broken off, or larger than the cap.
        """
        head = self._heads.get(path)
        if head is None:
            target = f"{self._prefix}{self._path}{path}"
            head = self._heads[path] = self._headers.head("POST", target)
        limits = self._limits
        return await self._send(
            head, body, limits.first_byte_timeout, limits.total_timeout
        )

    async def post_to(self, url: str, body: bytes) -> Answer:
        """POST a JSON body to a whole URL on the same origin.

        Raises:
            ProviderError: as ``post``.
        """
        head = self._headers.head("POST", self._prefix + (urlsplit(url).path or "/"))
        return await self._send(head, body, _QUICK, _QUICK)

    async def get(self, url: str, *, timeout_seconds: float | None = None) -> Answer:
        """GET a whole URL on the same origin.

        Raises:
            ProviderError: as ``post``.
        """
        parts = urlsplit(url)
        target = f"{self._prefix}{parts.path or '/'}"
        if parts.query:
            target += f"?{parts.query}"
        total = timeout_seconds or self._limits.total_timeout
        return await self._send(self._headers.head("GET", target), b"", total, total)

    async def aclose(self) -> None:
        """Close the connections; calling it twice is harmless."""
        self._watch.close()
        self._pool.close()
        await asyncio.sleep(0)  # the loop's turn, in which sockets are closed

    async def _send(
        self, head: RequestHead, body: bytes, first_byte: float, total: float
    ) -> Answer:
        if self._pool.is_closed:
            raise ConnectError("the client was closed", hint="connect again")
        try:
            with self._watch.call(min(first_byte, total)) as call:
                try:
                    connection = await self._pool.take()
                except TimeoutError:
                    raise self._no_connection() from None
                except (OSError, ssl.SSLError) as error:
                    raise connect_error(
                        self._base_url, error, self._redactor, self._proxy
                    ) from None
                try:
                    if first_byte >= total:
                        return await connection.exchange(head, body)
                    deadline = call.began + total
                    return await connection.exchange(
                        head, body, lambda: call.postpone(deadline)
                    )
                finally:
                    self._pool.give_back(connection)
        except CallLateError as error:
            raise RequestTimeoutError(
                f"no complete answer within {error.seconds:g} s",
                hint="lower the concurrency, ask for fewer tokens, or raise "
                "Limits(first_byte_timeout=..., total_timeout=...)",
            ) from None
        except AnswerTooLargeError:
            raise self._too_large() from None
        except ConnectionBrokenError as error:
            said = excerpt(str(error), self._redactor)
            msg = f"the connection broke before the answer was complete: {said}"
            raise ServerError(msg) from None

    def _no_connection(self) -> ProviderError:
        where = host_of(self._base_url)
        return ConnectError(
            f"no connection to {where} within {self._limits.connect_timeout:g} s",
            hint="is the host right, and may this machine reach it?",
        )

    def _too_large(self) -> ServerError:
        return ServerError(
            f"the answer is larger than {self._limits.max_answer_bytes:,} bytes",
            hint="set max_tokens, or raise Limits(max_answer_bytes=...)",
        )


class _Headers:
    """The header lines of every request; no ``repr`` shows them."""

    __slots__ = ("_text",)

    def __init__(self, netloc: str, headers: Mapping[str, str]) -> None:
        lines = {"host": netloc.rpartition("@")[2], "user-agent": "synthnb", **headers}
        for name, value in lines.items():
            if not value.isascii() or not value.isprintable():
                raise ConfigError(f"the header {name} holds no plain ASCII text")
        self._text = "".join(f"{name}: {value}\r\n" for name, value in lines.items())

    def head(self, method: str, target: str) -> RequestHead:
        return RequestHead(f"{method} {target} HTTP/1.1\r\n{self._text}")


def _context() -> ssl.SSLContext:
    """Return TLS settings with the certificates that this machine trusts.

    ``SSL_CERT_FILE`` and ``SSL_CERT_DIR`` name others. Where the interpreter knows no
    certificates at all (python.org's on macOS), certifi's stand in.
    """
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    known = ssl.get_default_verify_paths()
    if not (known.cafile or known.capath or context.cert_store_stats()["x509_ca"]):
        import certifi

        context.load_verify_locations(certifi.where())
    return context
