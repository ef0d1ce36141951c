"""How long a server asks to wait, in each way that servers say so."""

from __future__ import annotations

import re
import time
from datetime import UTC
from email.utils import parsedate_to_datetime

from synthnb.providers.answers import HeaderLookup

_DAY = 86_400.0
_EPOCH = 1e9
_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)(ms|s))?")
_IN_TEXT = re.compile(
    r"(?:again|retry) (?:in|after) (\d+(?:\.\d+)?) ?(ms|milliseconds|s\b|sec|seconds)",
    re.IGNORECASE,
)


def retry_after(headers: HeaderLookup, message: str = "") -> float | None:
    """Return the seconds that a server asks to wait, 0 to one day; ``None`` if unsaid.

    ``retry-after-ms``, ``Retry-After`` in seconds or as a date (RFC 9110, 10.2.3; counted
    from the answer's own ``Date``, so a wrong clock does no harm), then the reset
    headers of rate limits, then the words "try again in 1.2s".
    """
    seconds = _milliseconds(headers.get("retry-after-ms"))
    if seconds is None:
        seconds = _seconds_or_date(headers.get("retry-after"), headers.get("date"))
    if seconds is None:
        seconds = _reset(headers)
    if seconds is None:
        seconds = _worded(message)
    if seconds is None or seconds != seconds:  # noqa: PLR0124 - NaN differs from itself
        return None
    return min(max(seconds, 0.0), _DAY)


def _number(text: str | None) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        return None


def _milliseconds(text: str | None) -> float | None:
    value = _number(text)
    return None if value is None else value / 1000


def _seconds_or_date(text: str | None, date: str | None) -> float | None:
    if not text:
        return None
    value = _number(text)
    if value is not None:
        return value
    then, now = _timestamp(text), _timestamp(date) if date else None
    if then is None:
        return _duration(text)
    return then - (time.time() if now is None else now)


def _timestamp(text: str) -> float | None:
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _duration(text: str) -> float | None:
    match = _DURATION.fullmatch(text.strip())
    if match is None or not any(match.groups()):
        return None
    last = float(match[3] or 0) / (1000 if match[4] == "ms" else 1)
    return int(match[1] or 0) * 3600 + int(match[2] or 0) * 60 + last


def _reset(headers: HeaderLookup) -> float | None:
    exhausted = [
        wait
        for kind in ("requests", "tokens")
        if headers.get(f"x-ratelimit-remaining-{kind}") == "0"
        and (wait := _duration(headers.get(f"x-ratelimit-reset-{kind}") or ""))
        is not None
    ]
    if exhausted:
        return max(exhausted)
    value = _number(headers.get("x-ratelimit-reset") or headers.get("ratelimit-reset"))
    if value is None or value < _EPOCH:
        return value
    moment = value / 1000 if value > _EPOCH * 100 else value
    return moment - time.time()


def _worded(message: str) -> float | None:
    match = _IN_TEXT.search(message)
    if match is None:
        return None
    return float(match[1]) / (1000 if match[2].lower().startswith("m") else 1)
