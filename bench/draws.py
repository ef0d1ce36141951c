"""What the stub draws for a request: its latency and its fault.

Both are a hash of (seed, number of the request, attempt), so every client meets the same
luck whatever its order, and the best possible time can be computed. The hash is that of
the peers' ``stub.c`` (splitmix64), so either server gives the same work.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from urllib.parse import parse_qsl, urlencode

FAULTS = ("e429", "e500", "ereset", "ehang", "ewrong")
_MASK = (1 << 64) - 1


def _mix(x: int) -> int:
    """One step of splitmix64 (Steele, Lea and Flood 2014)."""
    x = (x + 0x9E3779B97F4A7C15) & _MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return x ^ (x >> 31)


def uniform(seed: int, number: int, stream: int) -> float:
    """Return a number between 0 and 1, the same for the same three."""
    mixed = _mix((seed * 1000003 + number) & _MASK)
    return ((_mix((mixed + stream) & _MASK) >> 11) + 0.5) / 9007199254740992.0


@dataclass(frozen=True)
class Work:
    """How the server behaves; the names are those of its ``/__cfg`` query."""

    dist: str = "fixed"
    """``fixed``, or ``ln``: lognormal."""
    lat: float = 0.0
    """Milliseconds an answer takes; the mean where ``dist`` is ``ln``."""
    sigma: float = 1.43
    cap: float = 10_000.0
    """The longest latency of ``ln``, in milliseconds."""
    seed: int = 1
    bytes: int = 400
    """Length of an answer's text."""
    e429: float = 0.0
    ra: float = 1.0
    """Seconds of Retry-After."""
    e500: float = 0.0
    ereset: float = 0.0
    ehang: float = 0.0
    ewrong: float = 0.0
    """Share of the answers that belong to another request; ``stub.c`` has none such."""

    @classmethod
    def of(cls, query: str) -> Work:
        """Read a ``/__cfg`` query; what it does not name has its default.

        Raises:
            ValueError: a value is no number.
        """
        given = dict(parse_qsl(query))
        kinds = {field.name: type(field.default) for field in fields(cls)}
        known = {name: kinds[name](given[name]) for name in given if name in kinds}
        return cls(**known)

    @property
    def query(self) -> str:
        """The ``/__cfg`` query; ``of`` is the way back."""
        return urlencode(
            {k: v for k, v in asdict(self).items() if v != getattr(Work, k)}
        )

    @property
    def is_plain(self) -> bool:
        """Whether all requests are treated alike, so nothing has to be drawn."""
        faults = sum(getattr(self, name) for name in FAULTS)
        return self.dist == "fixed" and not faults

    def seconds(self, number: int) -> float:
        """Return how long the answer to a request takes."""
        if self.dist != "ln":
            return self.lat / 1e3
        radius = math.sqrt(-2 * math.log(uniform(self.seed, number, 1)))
        normal = radius * math.cos(2 * math.pi * uniform(self.seed, number, 2))
        middle = math.log(self.lat) - self.sigma**2 / 2
        return min(self.cap, math.exp(middle + self.sigma * normal)) / 1e3

    def fault(self, number: int, attempt: int) -> str | None:
        """Return what goes wrong at an attempt (counted from 0), if anything does."""
        drawn = uniform(self.seed, number, 100 + attempt)
        for name in FAULTS:
            drawn -= getattr(self, name)
            if drawn < 0:
                return name
        return None


def list_bound(seconds: Sequence[float], workers: int) -> float:
    """Return when the last job ends if a free worker always takes the next one.

    This is list scheduling (Graham 1966) in the order given: no client that keeps
    ``workers`` requests in flight and knows no latency beforehand can plan better.
    """
    ends = [0.0] * workers
    for job in seconds:
        heapq.heapreplace(ends, ends[0] + job)
    return max(ends)
