"""Extra request headers, of which some are keys too."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from synthnb.errors import ConfigError
from synthnb.providers.secrets import Key, KeySource

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_SECRET = re.compile(r"auth|key|token|secret|cookie|password|credential", re.IGNORECASE)
_OURS = frozenset({"content-length", "host", "transfer-encoding", "connection"})


class ExtraHeaders:
    """Header names with plain values, or with ``Key``s where the name sounds secret."""

    __slots__ = ("_keys", "plain")

    def __init__(self, headers: Mapping[str, KeySource] | None) -> None:
        """Sort the headers into plain and secret ones.

        Raises:
            ConfigError: a name or value cannot stand in a header, or belongs to HTTP.
        """
        plain: dict[str, str] = {}
        keys: dict[str, Key] = {}
        for name, value in (headers or {}).items():
            if not _NAME.fullmatch(name) or name.lower() in _OURS:
                raise ConfigError(f"the header {name!r} cannot be set")
            if _SECRET.search(name) or not isinstance(value, str):
                keys[name.lower()] = Key(value, whole=True)
            elif not value.isascii() or not value.isprintable():
                raise ConfigError(f"the header {name} holds no plain ASCII text")
            else:
                plain[name.lower()] = value
        self.plain: Mapping[str, str] = MappingProxyType(plain)
        self._keys = keys

    @property
    def names(self) -> tuple[str, ...]:
        """All names, in lower case and sorted."""
        return tuple(sorted({*self.plain, *self._keys}))

    def reveal(self) -> dict[str, str]:
        """Return the secret headers with their values, to be sent."""
        return {
            name: value for name, key in self._keys.items() if (value := key.reveal())
        }

    def __reduce__(self) -> tuple[type[ExtraHeaders], tuple[dict[str, KeySource]]]:
        return ExtraHeaders, ({**self.plain, **self._keys},)

    def __repr__(self) -> str:
        return f"<ExtraHeaders {', '.join(self.names)}>"
