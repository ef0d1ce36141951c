"""Delays that repeat: the same request waits as long for every client."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import Final, Protocol

_Z99: Final = 2.3263478740408408
"""The 99th percentile of the standard normal distribution."""


class Delay(Protocol):
    """A drawn delay."""

    def draw(self, rng: random.Random) -> float:
        """Return the seconds of one request."""


@dataclass(frozen=True, slots=True)
class Jitter:
    """``seconds``, more or less by up to ``spread`` of it, all alike likely.

    Attributes:
        seconds: the mean.
        spread: from 0 (none) to 1 (between 0 and twice the mean).
    """

    seconds: float
    spread: float = 0.5

    def draw(self, rng: random.Random) -> float:
        """Return the seconds of one request."""
        return self.seconds * (1 + self.spread * rng.uniform(-1, 1))


@dataclass(frozen=True, slots=True)
class LogNormal:
    """A heavy tail, as answers of language models have it.

    Attributes:
        mean: seconds.
        p99: seconds that one request of a hundred passes; from ``mean`` to 14.9 times
            it (no lognormal distribution has a larger ratio).
    """

    mean: float
    p99: float

    def __post_init__(self) -> None:
        """Refuse a pair that no lognormal distribution has."""
        if not 0 < self.mean <= self.p99 <= self.mean * math.exp(_Z99**2 / 2):
            raise ValueError(
                "a lognormal delay needs mean <= p99 <= 14.9 * mean, above 0"
            )

    def draw(self, rng: random.Random) -> float:
        """Return the seconds of one request."""
        # From mean = exp(m + s^2 / 2) and p99 = exp(m + z * s).
        sigma = _Z99 - math.sqrt(_Z99**2 - 2 * math.log(self.p99 / self.mean))
        return rng.lognormvariate(math.log(self.mean) - sigma**2 / 2, sigma)


def draw(delay: Delay, seed: int, prompt: str, nth: int) -> float:
    """Draw for the ``nth`` request of a prompt, whatever came between."""
    return delay.draw(random.Random(f"{seed}/{prompt}/{nth}"))  # noqa: S311
