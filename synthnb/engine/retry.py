"""When to try again: the one place in the project that decides it."""

from __future__ import annotations

import random

from synthnb.config import Retry
from synthnb.errors import ProviderError


def next_wait(error: ProviderError, failures: int, policy: Retry) -> float | None:
    """Return the seconds to wait, or ``None`` when it was the last attempt.

    Exponential back-off with full jitter (M. Brooker, "Exponential Backoff And Jitter",
    2015), and never less than the server's Retry-After.

    Args:
        error: what the attempt raised.
        failures: failed attempts of this slot so far, this one included.
        policy: the run's retry policy.
    """
    if not error.retryable or failures >= policy.max_attempts:
        return None
    ceiling = min(policy.max_seconds, policy.base_seconds * 2 ** (failures - 1))
    jitter = random.uniform(0.0, ceiling)  # noqa: S311 - spreads load, guards nothing
    if error.retry_after is None:
        return jitter
    # The jitter on top keeps the pool from coming back in one instant.
    spread = min(jitter, 0.1 * error.retry_after)
    return error.retry_after + spread
