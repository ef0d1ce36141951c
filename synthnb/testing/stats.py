"""What a fault server saw. It keeps no header values, so no key."""

from __future__ import annotations

import re
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Any

_MARK = re.compile(rb"#R\d+#")


def prompt_key(raw: bytes, body: dict[str, Any]) -> str:
    """Return what names a request: its ``#R<digits>#`` mark, else its last user message."""
    mark = _MARK.search(raw)
    return mark.group().decode() if mark else last_user_message(body)


def last_user_message(body: dict[str, Any]) -> str:
    """Return the text of the last message whose role is user, or an empty text."""
    messages = body.get("messages")
    for message in reversed(messages if isinstance(messages, list) else []):
        if isinstance(message, dict) and message.get("role") == "user":
            return str(message.get("content"))
    return ""


@dataclass(slots=True)
class Stats:
    """Counts of one server. Read them at any time, from any thread.

    Attributes:
        requests: chat requests that arrived.
        by_prompt: the same, by prompt (see ``prompt_key``).
        answered: complete 200 answers that were sent, by prompt. What a provider bills.
        abandoned: requests whose client left before its answer.
        in_flight: chat requests without an answer so far.
        max_in_flight: the most at once.
        connections: TCP connections accepted.
        statuses: HTTP statuses sent on any path.
        faults: faults done, by name.
        paths: requests of any kind, by "METHOD /path".
        authorized: requests with an Authorization header.
        header_names: names of the headers seen on chat requests (never their values).
        bodies: the last chat bodies, oldest first.
        refused: chat requests over the capacity.
        prompt_tokens: of complete answers, as the server counts them.
        completion_tokens: the same, of what it wrote.
        finish_reasons: of complete answers.
    """

    requests: int = 0
    by_prompt: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)
    abandoned: int = 0
    in_flight: int = 0
    max_in_flight: int = 0
    connections: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    paths: Counter[str] = field(default_factory=Counter)
    authorized: int = 0
    header_names: Counter[str] = field(default_factory=Counter)
    bodies: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=100))
    refused: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    finish_reasons: Counter[str] = field(default_factory=Counter)

    def arrive(self, prompt: str, body: dict[str, Any]) -> int:
        """Count a chat request and return its number, from 1."""
        self.requests += 1
        self.by_prompt[prompt] += 1
        self.in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self.in_flight)
        self.bodies.append(body)
        return self.requests

    def to_json(self) -> dict[str, Any]:
        """Return the counts as plain JSON values, without the bodies."""
        counters = ("by_prompt", "answered", "statuses", "faults", "paths")
        plain = ("requests", "abandoned", "in_flight", "max_in_flight", "connections")
        more = ("authorized", "refused", "prompt_tokens", "completion_tokens")
        return {
            **{name: getattr(self, name) for name in (*plain, *more)},
            **{
                name: {str(key): n for key, n in getattr(self, name).items()}
                for name in (*counters, "header_names", "finish_reasons")
            },
        }
