"""From the URL that a person pasted to the base URL of an OpenAI-compatible API."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import SplitResult, urlsplit

from synthnb.errors import ConfigError
from synthnb.providers.secrets import refuse_key

_QUOTES = "\"'`<>“”‘’„«»"
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f-\xa0\\]")
_VERSION = re.compile(r"v\d+(?:(?:alpha|beta)\d*)?", re.IGNORECASE)
_ENDPOINT = re.compile(
    r"/(?:chat/completions|completions|models|embeddings|responses)$"
)
_PAGE = re.compile(r"/(?:docs|redoc|openapi\.json|health|metrics|index\.html)$")
_NUMBER = re.compile(r"(?:0x[0-9a-f]*|\d+)$", re.IGNORECASE)
_PRIVATE_SUFFIXES = (".local", ".lan", ".internal", ".localdomain", ".localhost")
_OLLAMA_PORT = 11434
_LM_STUDIO_PORT = 1234
_TLS_PORTS = (443, 8443)
_EXAMPLE = 'write it like "http://localhost:8000/v1" or "https://api.example.com/v1"'


@dataclass(frozen=True, slots=True)
class NormalisedURL:
    """A base URL without a final slash, and what was changed to get there."""

    base_url: str
    notes: tuple[str, ...] = ()


def normalise(url: str) -> NormalisedURL:
    """Return the base URL that ``url`` stands for.

    Takes what people paste: ``host:8000``, quotes and spaces around it, an endpoint's
    address (``.../v1/chat/completions``), Ollama's ``/api``, an address to listen on
    (``0.0.0.0``). ``/v1`` is added where no version stands, but not behind an endpoint
    that was pasted whole: that one shows where the API lives.

    Raises:
        ConfigError: it is no http(s) URL, or it holds a user name or password.
    """
    text = url.strip().strip(_QUOTES).strip()
    notes: list[str] = []
    if not text:
        raise ConfigError("the base URL is empty", hint=_EXAMPLE)
    refuse_key(text, "base URL")
    if _FORBIDDEN.search(text):
        raise ConfigError(
            "the base URL holds a space, a backslash or a control character",
            hint=_EXAMPLE,
        )
    scheme, parts = _split(text)
    host, port = _host_and_port(parts, notes)
    if parts.query or parts.fragment:
        notes.append("what followed the path (? or #) was left out")
    chosen = scheme or _likely_scheme(host, port)
    path = _api_path(parts.path, port=port, public=chosen == "https", notes=notes)
    netloc = host if port is None else f"{host}:{port}"
    base_url = f"{chosen}://{netloc}{path}"
    if not scheme:
        notes.append(f"{chosen}:// was put in front")
    return NormalisedURL(base_url, tuple(notes))


def host_of(url: str) -> str:
    """Return the host of a URL in lower case, without brackets; ``""`` if none."""
    return (urlsplit(url).hostname or "").rstrip(".")


def origin_of(url: str) -> tuple[str, str, int]:
    """Return scheme, host and port: what a key is bound to."""
    parts = urlsplit(url)
    default = 443 if parts.scheme == "https" else 80
    host = "localhost" if is_loopback(url) else host_of(url)
    return parts.scheme, host, parts.port or default


def root_of(url: str) -> str:
    """Return the URL up to host and port, where servers keep health and metrics."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def is_loopback(url: str) -> bool:
    """Tell whether a URL points at this very machine."""
    return _is_loopback_host(host_of(url))


def _is_loopback_host(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    address = _address(host)
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped.is_loopback
    return address is not None and address.is_loopback


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def _split(text: str) -> tuple[str, SplitResult]:
    scheme, mark, rest = text.partition("://")
    if not mark:
        scheme, rest = "", text
    if scheme.lower() not in {"", "http", "https"}:
        raise ConfigError("the base URL is neither http nor https", hint=_EXAMPLE)
    if isinstance(_address(rest), IPv6Address):
        rest = f"[{rest}]"
    try:
        parts = urlsplit(f"//{rest}")
    except ValueError:
        raise ConfigError("the base URL's host cannot be read", hint=_EXAMPLE) from None
    if "@" in parts.netloc:
        raise ConfigError(
            "the base URL holds a user name or a password",
            hint="take it out of the URL and give it as api_key=",
        )
    return scheme.lower(), parts


def _host_and_port(parts: SplitResult, notes: list[str]) -> tuple[str, int | None]:
    try:
        port = parts.port
    except ValueError:
        raise ConfigError(
            "the base URL's port is not a number from 1 to 65535", hint=_EXAMPLE
        ) from None
    host = (parts.hostname or "").rstrip(".")
    if not host and port is not None:
        notes.append("no host was named: localhost")
        host = "localhost"
    if not host:
        raise ConfigError("the base URL names no host", hint=_EXAMPLE)
    return _checked_host(host, notes), port


def _checked_host(host: str, notes: list[str]) -> str:
    address = _address(host)
    if address is None:
        if _NUMBER.match(host.rsplit(".", 1)[-1]):
            raise ConfigError("the base URL's address is incomplete", hint=_EXAMPLE)
        return host
    if address.is_link_local:
        raise ConfigError(
            "the base URL is a link-local address (cloud metadata lives there)",
            hint="name the server by its host name or its network address",
        )
    if address.is_unspecified:
        notes.append(f"{host} is an address to listen on: the loopback one is used")
        address = ip_address("127.0.0.1" if address.version == 4 else "::1")  # noqa: PLR2004
    return f"[{address}]" if address.version == 6 else str(address)  # noqa: PLR2004


def _likely_scheme(host: str, port: int | None) -> str:
    if port in _TLS_PORTS:
        return "https"
    bare = host.strip("[]")
    address = _address(bare)
    private = (
        port is not None
        or "." not in host
        or bare.endswith(_PRIVATE_SUFFIXES)
        or (address is not None and not address.is_global)
    )
    return "http" if private else "https"


def _api_path(path: str, *, port: int | None, public: bool, notes: list[str]) -> str:
    clean = re.sub(r"/{2,}", "/", path).rstrip("/")
    own_api = (port == _OLLAMA_PORT and re.match(r"/api(?:/|$)", clean)) or (
        port == _LM_STUDIO_PORT and re.match(r"/api/v0(?:/|$)", clean)
    )
    if own_api:
        notes.append(f"{clean} is the server's own API: its OpenAI one is at /v1")
        return "/v1"
    trimmed = _PAGE.sub("", clean)
    base = _ENDPOINT.sub("", trimmed)
    if base != clean:
        notes.append(f"{clean.removeprefix(base)} was left out")
    if any(_VERSION.fullmatch(segment) for segment in base.split("/")):
        return base
    if base != trimmed and (base or public):
        return base
    notes.append("/v1 was added")
    return f"{base}/v1"
