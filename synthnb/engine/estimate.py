"""What a run will take, before any money: requests, tokens, price, time."""

from __future__ import annotations

import statistics
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from synthnb.config import Limits
from synthnb.engine.already import Already
from synthnb.engine.progress import clock
from synthnb.engine.replay import next_request
from synthnb.providers.prices import Price
from synthnb.recipes.base import Recipe
from synthnb.records import Message, Request, Row

if TYPE_CHECKING:
    from synthnb.engine.run import Run

Counter = Callable[[Sequence[Message]], Awaitable[int | None]]


@dataclass(frozen=True, slots=True)
class Pace:
    """What earlier answers of the same run took, on average."""

    answers: int
    completion_tokens: float
    seconds: float
    calls_per_slot: float = 1.0
    """More than one where the recipe topped up."""


@dataclass(frozen=True, slots=True, repr=False)
class Estimate:
    """What a run will take. Print it, or read its parts.

    Attributes:
        requests: calls, one a row and sample that has no answer yet; top-ups as far as
            earlier answers tell.
        prompt_tokens: of all of them, from the sampled rows.
        completion_tokens: expected ones; ``None`` where nothing tells.
        most_completion_tokens: if every answer is as long as ``max_tokens`` allows.
        counted: whether the server's own tokenizer counted the prompts.
        sampled: rows that were looked at.
        usd: expected price; ``None`` without a price or without expected tokens.
        most_usd: the price at ``most_completion_tokens``.
        price_as_of: where the price comes from.
        seconds: expected time; ``None`` before there are answers to go by.
        known_from: what the expected answers are known from.
        least_seconds: what the limits on requests and tokens a minute alone make of it.
        ended_by: the budget or time that would end the run early, in words.
        present: answers that the run has already; they are in none of these figures.
        present_is_counted: whether all rows were looked up, not a part of them.
    """

    requests: int
    prompt_tokens: int
    completion_tokens: int | None
    most_completion_tokens: int | None
    counted: bool
    sampled: int
    usd: float | None
    most_usd: float | None
    price_as_of: str
    seconds: float | None
    known_from: str
    least_seconds: float = 0.0
    ended_by: str = ""
    present: int = 0
    present_is_counted: bool = True

    def rows(self) -> list[tuple[str, str]]:
        """Return what is estimated, as (name, figure)."""
        about = "" if self.counted else "≈ "
        return [
            ("requests", f"{self.requests:,}"),
            ("prompt tokens", f"{about}{self.prompt_tokens:,}"),
            ("answer tokens", _tokens(self)),
            ("price", _money(self)),
            ("time", _time(self)),
        ]

    def beside(self, run: Run) -> str:
        """Return the estimate beside what a run really took, as a small table."""
        usage = run.usage
        took = [
            f"{usage.requests:,}",
            f"{usage.prompt_tokens:,}",
            f"{usage.completion_tokens:,}",
            "unknown" if usage.usd is None else f"${usage.usd:.4f}",
            clock(run.progress.seconds),
        ]
        if usage.unknown:
            took[1] = took[2] = f"unknown for {usage.unknown:,} answers"
        lines = [f"{'':<14} {'estimated':<34} really took"]
        pairs = zip(self.rows(), took, strict=True)
        lines += [f"{name:<14} {figure:<34} {real}" for (name, figure), real in pairs]
        return "\n".join(lines)

    def __repr__(self) -> str:
        """Return the estimate as a small table and what it rests on."""
        lines = [f"{name:<14} {figure}" for name, figure in self.rows()]
        how = (
            "the server's own tokenizer" if self.counted else "the length of the texts"
        )
        lines.append(f"prompts counted by {how}, on {self.sampled:,} rows")
        lines.append(f"answers: {self.known_from}")
        if self.present:
            about = "" if self.present_is_counted else "≈ "
            lines.append(
                f"there already: {about}{self.present:,} answers, which cost nothing again"
            )
        if self.price_as_of:
            lines.append(f"price: {self.price_as_of}")
        if self.ended_by:
            lines.append(self.ended_by)
        return "\n".join(lines)


def _tokens(estimate: Estimate) -> str:
    expected, most = estimate.completion_tokens, estimate.most_completion_tokens
    parts = [] if expected is None else [f"≈ {expected:,}"]
    parts += [] if most is None else [f"at most {most:,}"]
    return ", ".join(parts) or "unknown"


def _money(estimate: Estimate) -> str:
    parts = [] if estimate.usd is None else [f"≈ ${estimate.usd:.4f}"]
    parts += [] if estimate.most_usd is None else [f"at most ${estimate.most_usd:.4f}"]
    return ", ".join(parts) or "unknown"


def _time(estimate: Estimate) -> str:
    if estimate.seconds is not None:
        return f"≈ {clock(estimate.seconds)}"
    least = estimate.least_seconds
    return f"at least {clock(least)}" if least >= 1 else "unknown"


async def estimate_run(
    recipe: Recipe,
    sample: Sequence[Row],
    total: int,
    *,
    count: Counter,
    guess: Callable[[str], int],
    price: Price | None,
    pace: Pace | None,
    concurrency: int,
    limits: Limits | None = None,
    there: Already | None = None,
) -> Estimate:
    """Estimate from a sample of the rows.

    Args:
        recipe: asked for the prompts.
        sample: rows spread over all of them.
        total: requests in all, without top-ups.
        count: the server's token counter; gives ``None`` where there is none.
        guess: counts the tokens of a text where the server does not.
        price: of the model.
        pace: of earlier answers.
        concurrency: requests at once, for the time.
        limits: whose rates, budgets and time are told of.
        there: what the ledger has of the answers.
    """
    present = _present(there, total)
    total -= present
    asked = [r for row in sample if (r := _request(recipe, row)) is not None]
    counts, counted = await _prompt_tokens(asked, count, guess)
    calls = 1.0 if pace is None else pace.calls_per_slot
    number = round(total * len(asked) / len(sample) * calls) if sample else 0
    prompt = round(statistics.fmean(counts) * number) if counts else 0
    most = _most(asked, number)
    expected = None if pace is None else round(pace.completion_tokens * number)
    least = _least_seconds(limits, number, prompt + (expected or 0))
    seconds = None
    if pace is not None:
        seconds = max(least, pace.seconds * number / max(1, concurrency))
    made = Estimate(
        requests=number,
        prompt_tokens=prompt,
        completion_tokens=expected,
        most_completion_tokens=most,
        counted=counted,
        sampled=len(sample),
        usd=price.of(prompt, expected) if price and expected is not None else None,
        most_usd=price.of(prompt, most) if price and most is not None else None,
        price_as_of=price.as_of if price else "",
        seconds=seconds,
        least_seconds=least,
        known_from="nothing yet; try a few rows first (sn.preview, or rows.head(20))"
        if pace is None
        else f"as long as the {pace.answers:,} that this run has",
        present=present,
        present_is_counted=there is None or there.looked_at >= total + present,
    )
    return replace(made, ended_by=_ended_by(limits, made, price))


def _present(there: Already | None, total: int) -> int:
    if there is None or not there.looked_at:
        return 0
    return min(total, round(total * there.present / there.looked_at))


def _request(recipe: Recipe, row: Row) -> Request | None:
    try:
        return next_request(recipe, row, (), 0)
    except Exception:  # noqa: BLE001 - user code: in a run it costs this row, no call
        return None


def _most(asked: Sequence[Request], number: int) -> int | None:
    limits = [r.sampling.max_tokens for r in asked]
    known = [limit for limit in limits if limit is not None]
    if not known or len(known) < len(limits):
        return None
    return round(statistics.fmean(known) * number)


def _least_seconds(limits: Limits | None, requests: int, tokens: int) -> float:
    if limits is None:
        return 0.0
    minutes = 0.0
    if limits.requests_per_minute:
        minutes = requests / limits.requests_per_minute
    if limits.tokens_per_minute:
        minutes = max(minutes, tokens / limits.tokens_per_minute)
    return 60 * minutes


def _ended_by(limits: Limits | None, made: Estimate, price: Price | None) -> str:
    """Say which limit ends the run first, going by what is expected, else by the most."""
    if limits is None or not made.requests:
        return ""
    answers = made.completion_tokens
    if answers is None:
        answers = made.most_completion_tokens or 0
    usd = None if price is None else price.of(made.prompt_tokens, answers)
    shares = {
        name: allowed / whole
        for name, allowed, whole in (
            ("budget_tokens", limits.budget_tokens, made.prompt_tokens + answers),
            ("budget_usd", limits.budget_usd, usd),
            ("max_seconds", limits.max_seconds, made.seconds or made.least_seconds),
        )
        if allowed is not None and whole and allowed < whole
    }
    if not shares:
        return ""
    name = min(shares, key=lambda key: shares[key])
    after = int(shares[name] * made.requests)
    return f"{name} ends it after ≈ {after:,} of the {made.requests:,} requests"


async def _prompt_tokens(
    requests: Sequence[Request], count: Counter, guess: Callable[[str], int]
) -> tuple[list[int], bool]:
    counts: list[int] = []
    counted = True
    for request in requests:
        found = await count(request.messages) if counted else None
        if found is None:
            counted = False
            found = sum(guess(m.content) for m in request.messages)
        counts.append(found)
    return counts, counted and bool(counts)
