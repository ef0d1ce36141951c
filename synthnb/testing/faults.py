"""What a fault server answers, and the script of what goes wrong."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, get_args

FaultKind: TypeAlias = Literal[
    "reset",
    "drop",
    "half_body",
    "hang",
    "trickle",
    "endless",
    "html",
    "garbage",
    "empty",
    "huge",
    "length",
    "content_filter",
    "no_usage",
    "negative_usage",
]

KINDS: Final[frozenset[str]] = frozenset(get_args(FaultKind))


@dataclass(frozen=True, slots=True)
class Answer:
    """One chat answer, where a plain text says too little."""

    text: str | None
    finish_reason: str | None = "stop"
    reasoning: str | None = None
    """Sent as ``message.reasoning_content``."""
    usage: Mapping[str, int] | Literal["estimate"] | None = "estimate"
    """``"estimate"`` counts four characters a token; ``None`` sends no usage at all."""
    model: str | None = None
    """``None`` echoes the model that was asked for."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One rule of the script: what goes wrong, and for which requests.

    A rule fits a request when *all* its conditions do; of several that fit, the first
    in the list is used.

    Attributes:
        what: an HTTP status (an error answer with that status), or

            - ``"reset"``: half of the answer, then a TCP reset (SO_LINGER 0);
            - ``"drop"``: closed without one byte;
            - ``"half_body"``: half of the answer, then FIN before Content-Length;
            - ``"hang"``: no byte, until the client leaves;
            - ``"trickle"``: ``chunk`` bytes each ``interval`` seconds;
            - ``"endless"``: a chunked answer that never ends (stops at 1 GB);
            - ``"html"``, ``"garbage"``, ``"empty"``: a 200 that is no JSON;
            - ``"huge"``: an answer of ``size`` characters;
            - ``"length"``, ``"content_filter"``: that finish reason;
            - ``"no_usage"``, ``"negative_usage"``.
        numbers: of the chat requests, counted from 1 as they arrive.
        contains: a part of the raw request body.
        rate: share of the requests, drawn from the server's seed and the request number.
        times: fires at most so often.
        per_prompt: fires at most so often for one prompt (1 = "fails once, then works").
        retry_after: seconds for the ``Retry-After`` header; ``None`` sends none.
        as_date: ``Retry-After`` as an HTTP date (whole seconds, rounded up).
        body: of the error answer: JSON, or a text sent as ``text/plain``.
    """

    what: int | FaultKind
    numbers: Collection[int] | None = None
    contains: str = ""
    rate: float = 1.0
    times: int | None = None
    per_prompt: int | None = None
    retry_after: float | None = None
    as_date: bool = False
    body: Mapping[str, Any] | str | None = None
    size: int = 6_000_000
    chunk: int = 1
    interval: float = 0.05

    def __post_init__(self) -> None:
        """Refuse a name that is no fault, so that a script cannot silently do nothing."""
        if isinstance(self.what, str) and self.what not in KINDS:
            message = f"{self.what!r} is no fault; there are {', '.join(sorted(KINDS))}"
            raise ValueError(message)

    @property
    def name(self) -> str:
        """The key under which ``stats.faults`` counts it."""
        return str(self.what)


@dataclass(slots=True)
class FaultScript:
    """The rules of one server, with what they have done so far."""

    rules: list[Fault]
    seed: int = 0
    _fired: Counter[int] = field(default_factory=Counter)
    _fired_for: Counter[tuple[int, str]] = field(default_factory=Counter)

    @classmethod
    def of(cls, faults: Iterable[Fault], seed: int) -> FaultScript:
        """Make a script of the rules, in their order."""
        return cls(list(faults), seed)

    def match(self, number: int, raw: bytes, prompt: str) -> Fault | None:
        """Return the first rule that fits the request, and count it as used."""
        for index, rule in enumerate(self.rules):
            if self._fits(index, rule, number, raw, prompt):
                self._fired[index] += 1
                self._fired_for[index, prompt] += 1
                return rule
        return None

    def _fits(
        self, index: int, rule: Fault, number: int, raw: bytes, prompt: str
    ) -> bool:
        if rule.numbers is not None and number not in rule.numbers:
            return False
        if rule.contains and rule.contains.encode() not in raw:
            return False
        if rule.times is not None and self._fired[index] >= rule.times:
            return False
        if (
            rule.per_prompt is not None
            and self._fired_for[index, prompt] >= rule.per_prompt
        ):
            return False
        # Drawn from the number, not from a shared stream: the outcome of request 7 does
        # not depend on which rules looked at requests 1 to 6.
        draw = random.Random(f"{self.seed}/{index}/{number}").random()  # noqa: S311
        return draw < rule.rate
