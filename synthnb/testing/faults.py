"""The script of what goes wrong, and for which requests."""

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
    "zero_usage",
    "cut_json",
    "refusal",
    "tool_calls",
    "null_content",
    "wrong_field",
    "odd_text",
    "other_model",
    "late",
]

KINDS: Final[frozenset[str]] = frozenset(get_args(FaultKind))


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
            - ``"no_usage"``, ``"negative_usage"``, ``"zero_usage"``;
            - ``"cut_json"``: the answer without its last third, as a limit on tokens
              leaves it, with the finish reason ``length``;
            - ``"refusal"``: ``message.refusal``, content null;
            - ``"tool_calls"``: a call of a tool that nobody offered, content null;
            - ``"null_content"``: content null and nothing else;
            - ``"wrong_field"``: content null, the answer in the reasoning field;
            - ``"odd_text"``: ``text``, by default ``ODD_TEXTS["lone_surrogate"]``;
            - ``"other_model"``: the answer's ``model`` is ``text``;
            - ``"late"``: a good answer, ``seconds`` late. A client that gave up has
              closed its connection by then, so HTTP has no way to deliver an answer
              late, or twice; the server made it all the same (``stats.abandoned``).
        numbers: of the chat requests, counted from 1 as they arrive.
        contains: a part of the raw request body.
        rate: share of the requests, drawn from the server's seed and the request number.
        times: fires at most so often.
        per_prompt: fires at most so often for one prompt (1 = "fails once, then works").
        retry_after: seconds for the ``Retry-After`` header; ``None`` sends none.
        as_date: ``Retry-After`` as an HTTP date (whole seconds, rounded up).
        body: of the error answer: JSON, or a text sent as ``text/plain``. Without one
            it has the shape of the server's kind.
        size: of ``"huge"``, in characters.
        chunk: of ``"trickle"``, in bytes.
        interval: of ``"trickle"``, in seconds.
        seconds: of ``"late"``.
        text: of ``"odd_text"``, ``"other_model"`` and ``"refusal"``.
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
    seconds: float = 1.0
    text: str | None = None

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

    def replace(self, rules: Iterable[Fault]) -> None:
        """Take other rules, which have done nothing so far."""
        self.rules[:] = rules
        self._fired.clear()
        self._fired_for.clear()

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
        if rule.rate >= 1:
            return True
        # Drawn from the number, not from a shared stream: the outcome of request 7 does
        # not depend on which rules looked at requests 1 to 6.
        draw = random.Random(f"{self.seed}/{index}/{number}").random()  # noqa: S311
        return draw < rule.rate
