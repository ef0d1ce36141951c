"""Shared by all tests: no key, no foreign run folder, and one plain recipe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from synthnb.recipes.base import Parsed
from synthnb.records import Completion, Message, Request, Sampling, Status, Usage

_ENVIRONMENT = (
    "SYNTHNB_BASE_URL",
    "SYNTHNB_MODEL",
    "SYNTHNB_API_KEY",
    "OPENAI_API_KEY",
)


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch, tmp_path):
    """No test sees a key or URL of the person who runs it, or writes beside the code."""
    for name in _ENVIRONMENT:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SYNTHNB_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SYNTHNB_DIALECTS", str(tmp_path / "dialects"))


@dataclass(frozen=True)
class Echo:
    """Sends a row's text; every word of the answer is an item."""

    wanted: int = 1
    prompt: str = ""
    seed: int | None = None
    top_ups: int = 0
    step: str = "echo"
    fields: tuple[str, ...] = ("answer",)
    needs: tuple[str, ...] = ("text",)

    def request(self, row, earlier, sample_index):
        found = sum(len(parsed.items) for parsed in earlier)
        if earlier and (found >= self.wanted or len(earlier) > self.top_ups):
            return None
        text = f"{self.prompt}{row['text']}" + f" again {len(earlier)}" * bool(earlier)
        return Request((Message("user", text),), Sampling(seed=self.seed))

    def parse(self, row, completion, earlier):
        if row["text"] == "poison":
            raise ValueError("cannot read this")
        if not completion.text:
            return Parsed(Status.NO_JSON, detail="empty answer")
        return Parsed(Status.OK, tuple({"answer": w} for w in completion.text.split()))

    def to_json(self) -> dict[str, Any]:
        return {"recipe": "echo", "prompt": self.prompt, "wanted": self.wanted}


class Puppet:
    """A ``ChatClient`` that does what a function says, and counts."""

    model = "puppet"
    endpoint = "puppet:"
    default_concurrency = 8

    def __init__(self, answer=None, concurrency=8):
        self.answer = answer or (lambda text: text.replace(" ", "_"))
        self.default_concurrency = concurrency
        self.asked: list[str] = []
        self.seeds: list[int | None] = []
        self.in_flight = self.max_in_flight = 0

    async def complete(self, request):
        text = request.messages[-1].content
        self.asked.append(text)
        self.seeds.append(request.sampling.seed)
        self.in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self.in_flight)
        try:
            answer = self.answer(text)
            if hasattr(answer, "__await__"):
                answer = await answer
        finally:
            self.in_flight -= 1
        if isinstance(answer, BaseException):
            raise answer
        if isinstance(answer, Completion):
            return answer
        return Completion(answer, usage=Usage(5, 7), model=self.model)

    async def aclose(self):
        pass


@pytest.fixture
def echo():
    return Echo


@pytest.fixture
def puppet():
    return Puppet
