"""Moments for the ledger, in UTC."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from functools import lru_cache


def now() -> str:
    """Return this moment as ISO 8601 with milliseconds, e.g. for ``started_at``."""
    moment = time.time()
    second = int(moment)
    return f"{_second(second)}.{int((moment - second) * 1000):03d}+00:00"


@lru_cache(maxsize=2)
def _second(second: int) -> str:
    # Formatting a date costs ten times what the milliseconds do; a second has thousands
    # of requests.
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")
