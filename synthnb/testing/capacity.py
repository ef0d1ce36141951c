"""How much a server takes at once, and what it does above that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

CapacityKind: TypeAlias = Literal["refuse", "queue", "batch", "rate"]

_KINDS: Final[frozenset[str]] = frozenset(get_args(CapacityKind))


@dataclass(frozen=True, slots=True)
class Capacity:
    """A server's limit. A frozen value: give the server another one to change it.

    Attributes:
        kind: what happens above the limit.

            - ``"refuse"``: an error with ``status``;
            - ``"queue"``: first come, first served: the rest wait for a free place;
            - ``"batch"``: continuous batching, as vLLM and SGLang do it. The answers of
              up to ``limit`` requests are written together, a token of each in one step;
              the rest wait. A step takes ``token_seconds`` for one request and
              ``1 + growth`` times that for a full batch, so tokens a second grow with
              the batch, ever more slowly;
            - ``"rate"``: a true rate limit. Once ``limit`` requests (or ``tokens``) came
              within ``per`` seconds, everything is refused until the window is over,
              however few are in flight. Answers carry ``x-ratelimit-*`` headers.
        limit: requests at once; of a rate, requests a window.
        status: of a refusal: 429, 503, ...
        retry_after: seconds for the ``Retry-After`` of a refusal; ``None`` sends none;
            ``"reset"`` (rate only) sends what is left of the window.
        as_date: ``Retry-After`` as an HTTP date.
        max_waiting: queue and batch refuse while so many wait already (KAITO: 429, no
            Retry-After, ``code: rate_limit_exceeded``); ``None`` lets all wait.
        token_seconds: batch only: a step of one request alone.
        growth: batch only: by how much a full batch is slower in a step.
        answer_tokens: batch only: steps of each answer; ``None`` takes its own count.
        per: rate only: the window in seconds; it starts with its first request.
        tokens: rate only: prompt tokens plus ``max_tokens`` a window.
    """

    kind: CapacityKind
    limit: int
    status: int = 429
    retry_after: float | Literal["reset"] | None = None
    as_date: bool = False
    max_waiting: int | None = None
    token_seconds: float = 0.01
    growth: float = 1.0
    answer_tokens: int | None = None
    per: float = 60.0
    tokens: int | None = None

    def __post_init__(self) -> None:
        """Refuse what would silently do nothing."""
        if self.kind not in _KINDS:
            kinds = ", ".join(sorted(_KINDS))
            raise ValueError(f"{self.kind!r} is no kind of capacity; there are {kinds}")
        if self.limit < 1:
            raise ValueError("the limit of a capacity is at least 1")
        if self.retry_after == "reset" and self.kind != "rate":
            raise ValueError('retry_after="reset" is for kind="rate"')

    def step_seconds(self, running: int) -> float:
        """Return how long one token of each of so many running answers takes."""
        share = (running - 1) / (self.limit - 1) if self.limit > 1 else 0.0
        return self.token_seconds * (1 + self.growth * max(0.0, share))
