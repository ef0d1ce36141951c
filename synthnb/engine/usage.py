"""What a run used."""

from __future__ import annotations

from dataclasses import dataclass

from synthnb.engine.progress import Progress
from synthnb.providers.prices import Price
from synthnb.store import RunStore


@dataclass(frozen=True, slots=True)
class RunUsage:
    """Requests and tokens: of this call, and of all calls on the run's ledger."""

    requests: int
    prompt_tokens: int
    completion_tokens: int
    unknown: int
    """Answers without a usage of the server: the token counts lack them."""
    total_requests: int
    """Every attempt ever made on this ledger, failed ones included."""
    total_prompt_tokens: int
    total_completion_tokens: int
    usd: float | None = None
    """What this call cost; ``None`` where no price is known or a usage is missing."""
    total_usd: float | None = None
    """What all calls cost, by their known tokens and today's price; ``None`` as ``usd``
    is."""
    price_as_of: str = ""

    @classmethod
    def of(
        cls, progress: Progress, store: RunStore, price: Price | None = None
    ) -> RunUsage:
        """Read the counters of a call and the sums of its ledger."""
        calls, prompt, completion = store.cost()
        usd = total = None
        if price is not None and not progress.unknown_usage:
            usd = price.of(progress.prompt_tokens, progress.completion_tokens)
            total = price.of(prompt, completion)
        return cls(
            requests=progress.requests,
            prompt_tokens=progress.prompt_tokens,
            completion_tokens=progress.completion_tokens,
            unknown=progress.unknown_usage,
            total_requests=calls,
            total_prompt_tokens=prompt,
            total_completion_tokens=completion,
            usd=usd,
            total_usd=total,
            price_as_of=price.as_of if price else "",
        )
