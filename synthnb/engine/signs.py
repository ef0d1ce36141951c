"""What the adaptive limit measures: the share of refusals, and answers a second."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

_LOOKED_AT = 16
_SIGN = 4
"""So many refusals in ``_LOOKED_AT`` outcomes are about the load. Above its limit a server
refuses every second request or more, for each answer lets two in; a few in a hundred are
refused for other reasons, by gateways and by neighbours."""


class Moment(NamedTuple):
    """How it stood when the limit changed."""

    time: float
    limit: int
    in_flight: int
    answers: int


class Refusals:
    """The last outcomes.

    Attributes:
        alone: refusals since the last answer.
    """

    def __init__(self) -> None:
        """Start with none."""
        self.alone = 0
        self._recent: deque[bool] = deque(maxlen=_LOOKED_AT)
        self._number = 0
        self._outcomes = 0
        self._refused = 0

    def answered(self) -> None:
        """Count an answer."""
        self.alone = 0
        self._put(refused=False)

    def refused(self) -> int:
        """Count a refusal; return how many came since the last answer."""
        self.alone += 1
        self._put(refused=True)
        return self.alone

    def failed(self) -> None:
        """Count what weighs as a refusal, but is no word of the server's."""
        self._put(refused=True)

    def are_a_sign(self, usual: float) -> bool:
        """Whether the last ones are too many for chance, where such a share is usual."""
        expected = 1.5 * usual * _LOOKED_AT
        return self._number >= max(_SIGN, expected + 2 * math.sqrt(expected))

    @property
    def share(self) -> float:
        """The share of refusals since ``clear``."""
        return self._refused / self._outcomes if self._outcomes else 0.0

    def are_more_than(self, usual: float) -> bool:
        """Whether those since ``clear`` exceed a usual share by more than chance.

        Where none are usual, the first says it.
        """
        expected = 1.5 * usual * self._outcomes
        return self._refused > expected + 2 * math.sqrt(expected)

    def clear(self) -> None:
        """Forget the outcomes: they belong to another limit."""
        self._recent.clear()
        self._number = self._outcomes = self._refused = 0

    def _put(self, *, refused: bool) -> None:
        recent = self._recent
        if len(recent) == _LOOKED_AT and recent[0]:
            self._number -= 1
        recent.append(refused)
        self._number += refused
        self._refused += refused
        self._outcomes += 1


class Speed:
    """Answers a second since a moment.

    Attributes:
        answers: how many came since then.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        """Start now, by ``clock``."""
        self._clock = clock
        self._since = clock()
        self.answers = 0

    def answered(self) -> None:
        """Count an answer."""
        self.answers += 1

    def rate(self) -> float:
        """Return the answers a second."""
        return self.answers / max(self._clock() - self._since, 1e-9)

    def restart(self) -> float:
        """Return the rate, and count from now on."""
        rate = self.rate()
        self._since, self.answers = self._clock(), 0
        return rate
