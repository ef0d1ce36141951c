"""A look at a port of this machine, quick enough to do in a cell before a run."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

from synthnb.errors import ConnectError
from synthnb.providers.presets import preset_at
from synthnb.providers.urls import is_loopback

_SECONDS = 0.015
_BOTH = ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"))


def nothing_listens(base_url: str) -> bool:
    """Tell whether a port of this machine refuses connections; at most 30 ms.

    Only a plain refusal counts. Another machine is never asked; what is slow or unclear
    is left to the run.
    """
    if not is_loopback(base_url):
        return False
    parts = urlsplit(base_url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    host = parts.hostname or ""
    if ":" in host:
        return _refuses(socket.AF_INET6, host, port)
    if host.endswith("localhost"):
        return all(_refuses(family, address, port) for family, address in _BOTH)
    return _refuses(socket.AF_INET, host, port)


def _refuses(family: socket.AddressFamily, address: str, port: int) -> bool:
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.settimeout(_SECONDS)
            probe.connect((address, port))
    except ConnectionRefusedError:
        return True
    except TimeoutError:
        return False
    except OSError:  # no IPv6 on this machine, no descriptor left
        return family == socket.AF_INET6
    return False


def refused(base_url: str) -> ConnectError:
    """Return the error for a port that nothing listens on."""
    start = "is the server running?"
    if is_loopback(base_url):
        preset = preset_at(base_url)
        how = f"start it ({preset.note})" if preset else "start a server there"
        start = f"{how}, or use the embedded model: Provider.local()"
    address = base_url.removesuffix("/v1")
    return ConnectError(f"nothing listens at {address}", hint=start)
