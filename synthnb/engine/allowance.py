"""What a person allows a run to use: rates, tokens, money. Time is the run's own matter.

Everything is counted for one ``generate`` call. What a limit ends is stopped, not failed:
the same call with a higher limit goes on from there.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from synthnb.config import Limits
from synthnb.providers.prices import Price
from synthnb.records import Completion, Request

_CHARS_PER_TOKEN = 4
_BURST_SECONDS = 1.0
_USUAL_ANSWER = 256
"""Tokens that an answer is taken to have before the first has come."""


class _Tokens(NamedTuple):
    """What a request is taken to use."""

    prompt: float
    answer: float


class Rate:
    """Virtual scheduling (GCRA, ITU-T I.371): so much a minute, bursts of a second."""

    def __init__(self, per_minute: float, clock: Callable[[], float]) -> None:
        """Begin with nothing used."""
        self._seconds = 60.0 / per_minute
        self._clock = clock
        self._due = clock()

    def wait(self, amount: float) -> float:
        """Take ``amount`` and return the seconds until it may be used."""
        now = self._clock()
        begin = max(self._due, now - _BURST_SECONDS)
        self._due = begin + amount * self._seconds
        return max(0.0, begin - now)

    def correct(self, amount: float) -> None:
        """Add what was used beyond the estimate, or give back what was not."""
        self._due += amount * self._seconds


class Allowance:
    """Asked before a request, told after it. Belongs to one run and its loop."""

    def __init__(
        self,
        limits: Limits,
        price: Price | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin with nothing used.

        Args:
            limits: of which the rates and budgets are heeded.
            price: of the model, for ``budget_usd``.
            clock: seconds, rising.
        """
        self._limits = limits
        self._price = price
        requests, tokens = limits.requests_per_minute, limits.tokens_per_minute
        self._requests = Rate(requests, clock) if requests else None
        self._tokens = Rate(tokens, clock) if tokens else None
        self._has_budget = bool(limits.budget_tokens or limits.budget_usd)
        self.is_free = not (requests or tokens or self._has_budget)
        self._in_flight = 0
        self._answers = 0
        self._prompt = self._completion = 0.0
        self._first = _Tokens(0.0, 0.0)
        self._reserved: dict[int, deque[float]] = {}

    def wait(self, request: Request) -> float:
        """Reserve a request and return the seconds that it has to wait."""
        seconds = self._requests.wait(1) if self._requests else 0.0
        expected = self._expected(request)
        if not self._answers:
            # The dearest so far: nothing else tells what those in flight will use.
            self._first = max(self._first, expected, key=sum)
        if self._tokens:
            amount = sum(expected)
            seconds = max(seconds, self._tokens.wait(amount))
            # Kept, for the expectation is another one when the answer comes.
            self._reserved.setdefault(id(request), deque()).append(amount)
        return seconds

    def give_back(self, request: Request) -> None:
        """Undo a ``wait`` after which nothing was sent."""
        if self._requests:
            self._requests.correct(-1)
        if self._tokens:
            self._tokens.correct(-self._take_back(request))

    def must_wait(self) -> bool:
        """Tell whether what is in flight may use the rest of a budget up.

        Near the end of a budget what is in flight is waited for, so that it is not
        exceeded by more than the last answers differ from the usual one.
        """
        if not self._has_budget or not self._in_flight:
            return False
        each, coming = self._usual(), self._in_flight + 1
        prompt = self._prompt + coming * each.prompt
        return self._over(prompt, self._completion + coming * each.answer) is not None

    def reached(self) -> str | None:
        """Return which budget is used up, in words; ``None`` while none is."""
        if not self._has_budget:
            return None
        return self._over(self._prompt, self._completion)

    def sent(self) -> None:
        """A request leaves."""
        self._in_flight += 1

    def ended(self, request: Request, completion: Completion | None) -> None:
        """A request is over; without an answer it cost nothing that is known."""
        self._in_flight -= 1
        expected = self._take_back(request) if self._tokens else 0.0
        if completion is None:
            if self._tokens:
                self._tokens.correct(-expected)
            return
        usage = completion.usage
        prompt = usage.prompt_tokens
        if prompt is None:
            prompt = _prompt_estimate(request)
        answer = usage.completion_tokens
        if answer is None:
            answer = len(completion.text) // _CHARS_PER_TOKEN
        self._answers += 1
        self._prompt += prompt
        self._completion += answer
        if self._tokens:
            self._tokens.correct(prompt + answer - expected)

    def _take_back(self, request: Request) -> float:
        amounts = self._reserved.get(id(request))
        if not amounts:
            return 0.0
        amount = amounts.popleft()
        if not amounts:
            del self._reserved[id(request)]
        return amount

    def _usual(self) -> _Tokens:
        if not self._answers:
            return self._first
        return _Tokens(self._prompt / self._answers, self._completion / self._answers)

    def _expected(self, request: Request) -> _Tokens:
        usual = self._completion / self._answers if self._answers else _USUAL_ANSWER
        most = request.sampling.max_tokens
        answer = usual if most is None else min(usual, most)
        return _Tokens(_prompt_estimate(request), answer)

    def _over(self, prompt: float, completion: float) -> str | None:
        limits, used = self._limits, prompt + completion
        if limits.budget_tokens and used >= limits.budget_tokens:
            what = f"{used:,.0f} of {limits.budget_tokens:,} tokens"
        elif limits.budget_usd and self._price is not None:
            money = self._price.of(prompt, completion)
            if money < limits.budget_usd:
                return None
            what = f"{money:.4f} of {limits.budget_usd:g} US dollars"
        else:
            return None
        return f"the budget is used up: {what}; a higher one goes on from here"


def _prompt_estimate(request: Request) -> int:
    return sum(len(m.content) for m in request.messages) // _CHARS_PER_TOKEN + 1
