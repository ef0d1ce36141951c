"""HTTP by pyqwest: pooled connections, time-outs counted from the send, a size cap.

Rust does HTTP and TLS on its own threads, so the kernel's loop stays free. pyqwest's
errors become ``ProviderError``s here; its texts name the URL, which holds no key.
"""

from __future__ import annotations

import atexit
import time
from collections.abc import Mapping

import pyqwest

from synthnb.config import Limits
from synthnb.errors import (
    ConnectError,
    ProviderError,
    RequestTimeoutError,
    ServerError,
)
from synthnb.providers.answers import Answer
from synthnb.providers.failures import excerpt
from synthnb.providers.preflight import refused
from synthnb.providers.redaction import Redactor
from synthnb.providers.urls import host_of, is_loopback
from synthnb.providers.watch import CallEndedError, CallWatch

_SPARE = 8
"""Connections beyond the wanted ones: a cancelled call gives its own back a bit late."""
_NOWHERE = "http://127.0.0.1:9"
_SETTLE_SECONDS = 0.05


@atexit.register
def _let_threads_finish() -> None:
    # pyqwest's threads give Python objects back a moment after an answer. One that asks
    # for the interpreter while it is being taken down aborts the process (pyqwest 0.12
    # on Python 3.11: 12 of 300 exits right after a burst; 0 of 300 with this pause).
    time.sleep(_SETTLE_SECONDS)


class PyqwestTransport:
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
        """Open the pool; no connection is made yet.

        Args:
            base_url: where ``post`` paths are appended.
            headers: sent with each request, the key's header among them.
            limits: time-outs and the size cap.
            concurrency: requests at once that the pool must keep connections for.
            redactor: passes every text that goes into an error.
        """
        self._base_url = base_url
        self._limits = limits
        self._redactor = redactor
        self._headers = pyqwest.Headers(tuple(headers.items()))
        self._http = pyqwest.HTTPTransport(
            connect_timeout=limits.connect_timeout,
            pool_max_idle_per_host=concurrency,
            max_connections_per_address=concurrency + _SPARE,
            follow_redirects=False,
            enable_otel=False,
            enable_gzip=False,
            enable_brotli=False,
            enable_zstd=False,
            tls_include_system_certs=base_url.startswith("https:"),
            proxy=_no_proxy(base_url) if is_loopback(base_url) else None,
        )
        self._client = pyqwest.Client(self._http)
        self._watch = CallWatch()
        self._wait = min(limits.first_byte_timeout, limits.total_timeout)
        self._by_pieces = False

    async def post(self, path: str, body: bytes) -> Answer:
        """POST a JSON body to the base URL plus ``path``.

        Raises:
            ProviderError: refused, timed out, broken off, or larger than the cap.
        """
        url, wait = self._base_url + path, self._wait
        try:
            if not self._by_pieces:
                try:
                    return await self._whole(url, body, wait)
                except CallEndedError as ended:
                    if ended.reason != "memory":
                        raise
                    # Some answer never ends. What was in flight is asked once more, and
                    # from now on nobody sends more than the cap.
                    self._by_pieces = True
            request = pyqwest.Request("POST", url, self._headers, body)
            return await self._pieces(request, wait, self._limits.total_timeout)
        except Exception as error:  # noqa: BLE001 - pyqwest has no common base class
            raise self._typed(error) from None

    async def get(self, url: str, *, timeout_seconds: float | None = None) -> Answer:
        """GET a whole URL on the same origin.

        Raises:
            ProviderError: as ``post``.
        """
        total = timeout_seconds or self._limits.total_timeout
        try:
            request = pyqwest.Request("GET", url, self._headers)
            return await self._pieces(request, total, total)
        except Exception as error:  # noqa: BLE001 - pyqwest has no common base class
            raise self._typed(error) from None

    async def aclose(self) -> None:
        """Close the pool; calling it twice is harmless."""
        self._watch.close()
        await self._http.aclose()

    async def _whole(self, url: str, body: bytes, seconds: float) -> Answer:
        """Send and let Rust read the whole answer: one wake-up of the loop, not two.

        Raises:
            CallEndedError: it took too long, or too much memory.
        """
        with self._watch.call(seconds, blind=True):
            response = await self._client.post(url, self._headers, body)
        content = response.content
        if len(content) > self._limits.max_answer_bytes:
            raise self._too_large()
        return Answer(response.status, response.headers, content)

    async def _pieces(
        self, request: pyqwest.Request, first_byte: float, total: float
    ) -> Answer:
        """Send and read piece by piece, never more than the cap.

        Raises:
            CallEndedError: it took too long.
        """
        with self._watch.call(first_byte) as call:
            response = await self._http.execute(request)
            call.deadline += total - first_byte
            body = await self._read(response)
            return Answer(response.status, response.headers, body)

    async def _read(self, response: pyqwest.Response) -> bytes | memoryview | bytearray:
        """Read the body, never more than the cap.

        With a Content-Length the end is known, so the usual answer is one read and no
        copy; without one, the pieces are counted as they come.
        """
        length = response.headers.get("content-length", "")
        wanted = int(length) if length.isdecimal() else -1
        most = self._limits.max_answer_bytes
        if wanted > most:
            await response.aclose()
            raise self._too_large()
        body = bytearray()
        async for piece in response.content:
            if len(piece) == wanted:
                return piece
            body += piece
            if len(body) > most:
                await response.aclose()
                raise self._too_large()
            if len(body) == wanted:
                break
        return body

    def _too_large(self) -> ServerError:
        return ServerError(
            f"the answer is larger than {self._limits.max_answer_bytes:,} bytes",
            hint="set max_tokens, or raise Limits(max_answer_bytes=...)",
        )

    def _typed(self, error: Exception) -> ProviderError:
        if isinstance(error, ProviderError):
            return error
        if isinstance(error, CallEndedError):
            return RequestTimeoutError(
                f"no complete answer within {error.seconds:g} s",
                hint="lower the concurrency, ask for fewer tokens, or raise "
                "Limits(first_byte_timeout=..., total_timeout=...)",
            )
        if isinstance(error, TimeoutError):  # pyqwest's, of the connection alone
            where = host_of(self._base_url)
            return ConnectError(
                f"no connection to {where} within {self._limits.connect_timeout:g} s",
                hint="is the host right, and may this machine reach it?",
            )
        return self._failed(error)

    def _failed(self, error: Exception) -> ProviderError:
        reason = str(error)
        if isinstance(error, ConnectionError):
            return connect_error(self._base_url, reason, self._redactor)
        if isinstance(error, RuntimeError) and "closed" in reason:
            return ConnectError("the client was closed", hint="connect again")
        said = excerpt(_tail(reason), self._redactor)
        return ServerError(
            f"the connection broke before the answer was complete: {said}"
        )


def connect_error(base_url: str, reason: str, redactor: Redactor) -> ConnectError:
    """Return the error for a connection that could not be made, with its next step."""
    where = host_of(base_url)
    said = excerpt(_tail(reason), redactor)
    lower = reason.lower()
    if "too many open files" in lower or "os error 24" in lower:
        return ConnectError(
            "this process may open no more files or connections",
            hint="lower max_concurrency, or raise the limit (ulimit -n)",
        )
    if "refused" in lower:
        return refused(base_url)
    if "dns" in lower or "lookup" in lower or "resolv" in lower:
        return ConnectError(
            f"the host {where!r} is unknown",
            hint="check the spelling of the URL, and the network",
        )
    if "certificate" in lower or "tls" in lower or "ssl" in lower:
        return ConnectError(
            f"no trusted TLS connection to {where}: {said}",
            hint="use a certificate this machine trusts (SSL_CERT_FILE names a CA), or "
            "http:// if the server speaks no TLS",
        )
    return ConnectError(f"no connection to {where}: {said}")


def _tail(reason: str) -> str:
    """Return the innermost reason of pyqwest's chain of them."""
    return ": ".join(reason.split(": ")[-2:])


def _no_proxy(base_url: str) -> pyqwest.Proxy:
    # An explicit rule replaces the environment's; this one is for the scheme that is
    # never used here, so nothing goes through a proxy at all.
    unused = "http" if base_url.startswith("https:") else "https"
    return pyqwest.Proxy(_NOWHERE, scheme="http" if unused == "http" else "https")
