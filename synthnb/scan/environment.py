"""Values of this machine's own secrets: known exactly, so found exactly."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from urllib.parse import quote

from synthnb.scan.randomness import is_mixed

_NAME = re.compile(r"(?:_API_KEY|_TOKEN|SECRET|PASSWORD)$", re.IGNORECASE)
_SHORTEST = 12
_HEAD = 10
_PREFIX = re.compile(
    r"sk-(?:proj-|svcacct-|admin-|or-v1-|ant-(?:[a-z]{2,6}[0-9]{2}-)?)?|"
    r"[a-z]{1,10}[-_](?:pat_)?"
)
_DRAWN = 2
"""Characters behind a family's prefix from which on a part tells something."""
_MORE = 6


class EnvironmentRules:
    """Finds values of environment variables that are named like secrets."""

    __slots__ = ("_values",)

    def __init__(self, environ: Mapping[str, str]) -> None:
        """Learn the values, longest first: one may hold another."""
        known = {
            value.strip(): name
            for name, value in environ.items()
            if _NAME.search(name) and _is_value(value.strip())
        }
        self._values = sorted(known.items(), key=lambda item: -len(item[0]))

    def __repr__(self) -> str:
        return f"<EnvironmentRules: {len(self._values)} values>"

    def spans(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Yield where a value stands, or its first characters, and the kind."""
        for value, name in self._values:
            whole = f"value of the environment variable {name}"
            for form in dict.fromkeys(
                (value, quote(value, safe=""), html.escape(value))
            ):
                yield from ((*span, whole) for span in _occurrences(form, text))
        for value, name in self._values:
            if head := _head(value):
                kind = f"part of a key: the environment variable {name}"
                yield from ((*span, kind) for span in _occurrences(head, text))


def _is_value(value: str) -> bool:
    return len(value) >= _SHORTEST and len(set(value)) > 3  # noqa: PLR2004 - xxxxxxxxxxxx


def _head(value: str) -> str | None:
    """Return the first characters of a key, if they tell it from other keys and words."""
    prefix = _PREFIX.match(value)
    start = prefix.end() if prefix else 0
    shortest = max(_HEAD, start + _DRAWN)
    for end in range(shortest, min(shortest + _MORE, len(value))):
        if is_mixed(value[start:end]):
            return value[:end]
    return None


def _occurrences(part: str, text: str) -> Iterator[tuple[int, int]]:
    start = text.find(part)
    while start >= 0:
        yield start, start + len(part)
        start = text.find(part, start + len(part))
