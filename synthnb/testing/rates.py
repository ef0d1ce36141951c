"""A true rate limit: so many requests or tokens in a window, then nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from synthnb.testing.capacity import Capacity
from synthnb.testing.tokens import prompt_tokens, wanted_tokens


class RateWindow:
    """Counts the requests of the present window of a ``Capacity(kind="rate")``."""

    def __init__(self) -> None:
        self._start: float | None = None
        self._requests = 0
        self._tokens = 0

    def take(self, capacity: Capacity, body: Mapping[str, Any], now: float) -> bool:
        """Count a request. False if it does not fit the window any more."""
        if self._start is None or now >= self._start + capacity.per:
            self._start, self._requests, self._tokens = now, 0, 0
        cost = prompt_tokens(body) + wanted_tokens(body)
        if self._requests >= capacity.limit:
            return False
        if capacity.tokens is not None and self._tokens + cost > capacity.tokens:
            return False
        self._requests += 1
        self._tokens += cost
        return True

    def left(self, capacity: Capacity, now: float) -> float:
        """Return the seconds until the window is over."""
        if self._start is None:
            return 0.0
        return max(0.0, self._start + capacity.per - now)

    def headers(self, capacity: Capacity, now: float) -> dict[str, str]:
        """Return the ``x-ratelimit-*`` headers, in OpenAI's form."""
        reset = _duration(self.left(capacity, now))
        headers = {
            "x-ratelimit-limit-requests": str(capacity.limit),
            "x-ratelimit-remaining-requests": str(capacity.limit - self._requests),
            "x-ratelimit-reset-requests": reset,
        }
        if capacity.tokens is not None:
            headers["x-ratelimit-limit-tokens"] = str(capacity.tokens)
            remaining = max(0, capacity.tokens - self._tokens)
            headers["x-ratelimit-remaining-tokens"] = str(remaining)
            headers["x-ratelimit-reset-tokens"] = reset
        return headers


def _duration(seconds: float) -> str:
    """Write a time as OpenAI does: ``20ms``, ``1.5s``, ``6m0s``."""
    if seconds < 1:
        return f"{int(seconds * 1000)}ms"
    minutes, rest = divmod(seconds, 60)
    return f"{int(minutes)}m{int(rest)}s" if minutes else f"{rest:.3g}s"
