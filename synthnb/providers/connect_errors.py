"""Why a connection could not be made, in words that say the next step."""

from __future__ import annotations

import errno
import re
import socket
import ssl

from synthnb.errors import ConnectError
from synthnb.providers.failures import excerpt
from synthnb.providers.preflight import refused
from synthnb.providers.proxies import Proxy
from synthnb.providers.redaction import Redactor
from synthnb.providers.urls import host_of

_FULL = {errno.EMFILE, errno.ENFILE}
_REFUSED = re.compile(
    rf"errno (?:{errno.ECONNREFUSED}|61|111|10061)\b|refused", re.IGNORECASE
)


def connect_error(
    base_url: str,
    cause: BaseException,
    redactor: Redactor,
    proxy: Proxy | None = None,
) -> ConnectError:
    """Return the error for a connection that could not be made, with its next step.

    Args:
        base_url: what was to be reached.
        cause: what the connection raised.
        redactor: passes the cause's text.
        proxy: what was connected to in its place; it is then the proxy that is not there.
    """
    where = host_of(base_url)
    said = excerpt(str(cause), redactor)
    if isinstance(cause, OSError) and cause.errno in _FULL:
        full = ConnectError(
            "this process may open no more files or connections",
            hint="lower max_concurrency, or raise the limit (ulimit -n)",
        )
        full.no_room = True
        return full
    if proxy is not None and not isinstance(cause, ssl.SSLError):
        return ConnectError(
            f"no connection to {where} through the proxy {proxy.host}:{proxy.port} that "
            f"the environment names: {said}",
            hint="start that proxy, correct HTTP_PROXY/HTTPS_PROXY/ALL_PROXY, or name "
            f"{where} in NO_PROXY",
        )
    if isinstance(cause, socket.gaierror):
        return ConnectError(
            f"the host {where!r} is unknown",
            hint="check the spelling of the URL, and the network",
        )
    if isinstance(cause, ssl.SSLError):
        return ConnectError(
            f"no trusted TLS connection to {where}: {said}",
            hint="use a certificate this machine trusts (SSL_CERT_FILE names a CA), or "
            "http:// if the server speaks no TLS",
        )
    # asyncio joins what several addresses of one host said into one text.
    if isinstance(cause, ConnectionRefusedError) or _REFUSED.search(str(cause)):
        return refused(base_url)
    return ConnectError(f"no connection to {where}: {said}")
