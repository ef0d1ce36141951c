"""The proxy that the environment names for a host, as urllib reads it."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from synthnb.errors import ConfigError
from synthnb.providers.urls import is_loopback


@dataclass(frozen=True, slots=True, repr=False)
class Proxy:
    """Where requests are sent through, and its password as a header's value."""

    host: str
    port: int
    encrypted: bool
    authorization: str = ""

    def __repr__(self) -> str:
        return f"<Proxy {self.host}:{self.port}>"


def proxy_for(base_url: str) -> Proxy | None:
    """Return the proxy for a URL: ``HTTPS_PROXY``, ``HTTP_PROXY``, ``ALL_PROXY``.

    ``NO_PROXY`` is heeded; this machine itself is never reached through a proxy.

    Raises:
        ConfigError: the variable holds no http(s) address (SOCKS is not spoken).
    """
    if is_loopback(base_url):
        return None
    parts = urlsplit(base_url)
    named = getproxies()
    address = named.get(parts.scheme) or named.get("all")
    if not address or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    return _read(address if "://" in address else f"http://{address}", parts.scheme)


def _read(address: str, scheme: str) -> Proxy:
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port, parts = None, None, urlsplit("")
    if host is None or parts.scheme not in {"http", "https"}:
        # The address may hold a password: it is not repeated.
        raise ConfigError(
            f"the environment's proxy for {scheme} is no http:// or https:// address",
            hint=f"set {scheme.upper()}_PROXY=http://host:port, or name the host in "
            "NO_PROXY",
        )
    encrypted = parts.scheme == "https"
    secret = ""
    if parts.username is not None:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        secret = f"Basic {b64encode(pair.encode()).decode()}"
    return Proxy(host, port or (443 if encrypted else 80), encrypted, secret)
