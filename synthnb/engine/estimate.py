"""What a run will take, before any money: requests, tokens, price, time."""

from __future__ import annotations

import statistics
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

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


@dataclass(frozen=True, slots=True, repr=False)
class Estimate:
    """What a run will take. Print it, or read its parts.

    Attributes:
        requests: calls, one a row and sample; a recipe that tops up may need more.
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

    def rows(self) -> list[tuple[str, str]]:
        """Return what is estimated, as (name, figure)."""
        about = "" if self.counted else "≈ "
        return [
            ("requests", f"{self.requests:,}"),
            ("prompt tokens", f"{about}{self.prompt_tokens:,}"),
            ("answer tokens", _tokens(self)),
            ("price", _money(self)),
            ("time", "unknown" if self.seconds is None else f"≈ {clock(self.seconds)}"),
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
        if self.price_as_of:
            lines.append(f"price: {self.price_as_of}")
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
    """
    requests = [next_request(recipe, row, (), 0) for row in sample]
    asked = [request for request in requests if request is not None]
    counts, counted = await _prompt_tokens(asked, count, guess)
    share = len(asked) / len(requests) if requests else 0.0
    number = round(total * share)
    prompt = round(statistics.fmean(counts) * number) if counts else 0
    limits = [r.sampling.max_tokens for r in asked]
    most = None
    if limits and all(limit is not None for limit in limits):
        most = round(statistics.fmean(filter(None, limits)) * number)
    expected = None if pace is None else round(pace.completion_tokens * number)
    return Estimate(
        requests=number,
        prompt_tokens=prompt,
        completion_tokens=expected,
        most_completion_tokens=most,
        counted=counted,
        sampled=len(sample),
        usd=price.of(prompt, expected) if price and expected is not None else None,
        most_usd=price.of(prompt, most) if price and most is not None else None,
        price_as_of=price.as_of if price else "",
        seconds=None if pace is None else pace.seconds * number / max(1, concurrency),
        known_from="nothing yet; try a few rows first (sn.preview, or rows.head(20))"
        if pace is None
        else f"the {pace.answers:,} that this run has already",
    )


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
