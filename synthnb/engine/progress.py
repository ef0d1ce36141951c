"""What a run counts while it works, and how it reads as one line of text."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from synthnb.engine.troubles import Tally
from synthnb.records import Completion, Status


class State(StrEnum):
    """What a run is doing."""

    CONNECTING = "connecting"
    RUNNING = "running"
    STALLED = "stalled"
    """Nobody answers: its health is asked for, and the run goes on by itself."""
    PAUSED = "paused"
    STOPPING = "stopping"
    STOPPED = "stopped"
    DONE = "done"
    ERROR = "error"

    @property
    def is_final(self) -> bool:
        """Whether nothing happens any more."""
        return self in {State.STOPPED, State.DONE, State.ERROR}


@dataclass(slots=True)
class Progress:
    """Counters of one ``generate`` call. Rows are wanted records, slots x items."""

    wanted: int | None = None
    """Rows wanted; ``None`` while an iterator of unknown length is being read."""
    by_status: Counter[str] = field(default_factory=Counter)
    requests: int = 0
    """Calls made by this very ``generate`` call: 0 when everything was there."""
    resumed: int = 0
    """Answers taken from the ledger instead of being bought again."""
    cached: int = 0
    """Answers taken from the cache of earlier runs."""
    retries: int = 0
    in_flight: int = 0
    max_in_flight: int = 0
    limit: int | None = None
    """Requests at once at most; ``None`` until the model is connected."""
    answers: int = 0
    """Answers that arrived in this call, good or bad."""
    last_answer: float | None = None
    """When the last of them arrived, by ``time.monotonic``."""
    saved: int = 0
    """Answers whose commit has returned."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    unknown_usage: int = 0
    """Answers for which the server gave no usage: the sums above lack them."""
    started: float = field(default_factory=time.monotonic)
    ended: float | None = None
    failed: Tally = field(default_factory=Tally)
    """The rows that are not ok, by status, with one example each."""
    note: str = ""
    """What a person must know now: "disk full, waiting for room"."""

    @property
    def done(self) -> int:
        """Rows that are decided, well or badly."""
        return self.by_status.total()

    @property
    def ok(self) -> int:
        """Rows with a usable record."""
        return self.by_status[Status.OK]

    @property
    def seconds(self) -> float:
        """Time since the start, until the end."""
        return (self.ended or time.monotonic()) - self.started

    @property
    def tokens_per_second(self) -> float:
        """Generated tokens a second, over the whole call."""
        return self.completion_tokens / self.seconds if self.seconds > 0 else 0.0

    def sent(self) -> None:
        """Count a request that leaves."""
        self.requests += 1
        self.in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self.in_flight)

    def answered(self, completion: Completion) -> None:
        """Count an answer and its tokens."""
        self.answers += 1
        self.last_answer = time.monotonic()
        usage = completion.usage
        if usage.prompt_tokens is None or usage.completion_tokens is None:
            self.unknown_usage += 1
        self.prompt_tokens += usage.prompt_tokens or 0
        self.completion_tokens += usage.completion_tokens or 0

    def count_rows(self, status: Status, number: int, row_id: str, detail: str) -> None:
        """Count rows of one status that are decided."""
        self.by_status[str(status)] += number
        if status is not Status.OK:
            self.failed.add(status, number, row_id, detail)

    def count(self, rows: Mapping[str, int], row_id: str, detail: str) -> None:
        """Count rows that are decided, by status, and why the bad ones are bad."""
        for status, number in rows.items():
            self.count_rows(Status(status), number, row_id, detail)

    def eta(self) -> float | None:
        """Return the seconds that are probably left, from the pace so far."""
        if self.wanted is None or not self.done or not self.requests:
            return None
        return self.seconds / self.done * (self.wanted - self.done)

    def line(self, state: State) -> str:
        """Return the whole state as one line."""
        wanted = "?" if self.wanted is None else f"{self.wanted:,}"
        parts = [f"{state.value} · {self.done:,} of {wanted} rows"]
        parts += [f"{n:,} {status}" for status, n in sorted(self.by_status.items())]
        if self.resumed:
            parts.append(f"{self.resumed:,} answers from the ledger")
        if self.cached:
            parts.append(f"{self.cached:,} answers from the cache")
        parts.append(f"{self.requests:,} requests")
        if self.retries:
            parts.append(f"{self.retries:,} retries")
        if self.completion_tokens:
            parts.append(f"{self.tokens_per_second:.0f} tokens/s")
        parts.append(clock(self.seconds))
        left = self.eta()
        if left is not None and not state.is_final:
            parts.append(f"about {clock(left)} left")
        if self.note:
            parts.append(self.note)
        return " · ".join(parts)


def clock(seconds: float) -> str:
    """Return seconds as ``m:ss`` or ``h:mm:ss``."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
