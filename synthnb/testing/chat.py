"""What the fault server says to one chat request. No sockets here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import orjson

from synthnb.testing import overflow, replies
from synthnb.testing.answers import Answer, ThinkForm
from synthnb.testing.delays import Delay, draw
from synthnb.testing.deliveries import DELIVERIES
from synthnb.testing.faults import Fault, FaultScript
from synthnb.testing.instances import instance_of
from synthnb.testing.kinds import KINDS, Kind
from synthnb.testing.shapes import openai_error
from synthnb.testing.stats import last_user_message
from synthnb.testing.tokens import wanted_tokens
from synthnb.testing.wire import Reply

Answerer: TypeAlias = Callable[[dict[str, Any]], "str | Answer"]
Refusal: TypeAlias = Callable[[Mapping[str, Any]], Reply | None]
Latency: TypeAlias = "float | Delay | Callable[[dict[str, Any]], float]"


def echo(body: dict[str, Any]) -> str:
    """Answer with an instance of the wanted schema, else with an echo of the prompt."""
    wanted = body.get("response_format") or {}
    if wanted.get("type") == "json_schema":
        schema = wanted["json_schema"]["schema"]
        seed = orjson.dumps(body, option=orjson.OPT_SORT_KEYS).decode()
        return orjson.dumps(instance_of(schema, seed)).decode()
    if wanted.get("type") == "json_object":
        return orjson.dumps({"text": last_user_message(body)[:80]}).decode()
    return f"You said: {last_user_message(body)[:80]}"


@dataclass(slots=True)
class Plan:
    """What to do with one request: wait, then send the reply in the fault's way."""

    reply: Callable[[], Reply]
    fault: Fault | None = None
    latency: float = 0.0

    @property
    def special_delivery(self) -> bool:
        """Whether the fault is in how the bytes are sent, not in the reply."""
        return self.fault is not None and self.fault.what in DELIVERIES


@dataclass(slots=True)
class ChatScript:
    """Decides about chat requests: refuse them, spoil them or answer them.

    All fields may be changed while the server runs.
    """

    answer: Answerer | str
    latency: Latency
    script: FaultScript
    models: list[str]
    max_model_len: int | None = None
    strict_model: bool = False
    refusals: Sequence[Refusal] = field(default_factory=tuple)
    kind: Kind = KINDS["plain"]
    overflow: str = "plain"
    thinking: str | None = None
    think_form: ThinkForm = "reasoning_content"
    sends_usage: bool = True
    cuts_at_max_tokens: bool = False
    served_model: str | None = None
    """The ``model`` of answers; ``None`` echoes what was asked for."""

    def refuse(self, body: dict[str, Any]) -> Reply | None:
        """Return what the server refuses for what it is; such a request meets no fault."""
        if self.strict_model and body.get("model") not in self.models:
            message = (
                f"The model `{body.get('model')}` does not exist. Known: {self.models}"
            )
            return self.kind.error(404, message, kind="NotFoundError", param="model")
        for refusal in self.refusals:
            if reply := refusal(body):
                return reply
        if self.max_model_len is None:
            return None
        return overflow.refuse(
            self.overflow, overflow.size_of(body, self.max_model_len)
        )

    def plan(
        self, number: int, raw: bytes, body: dict[str, Any], prompt: str, nth: int = 1
    ) -> Plan:
        """Decide about chat request ``number``, the ``nth`` of its prompt."""
        fault = self.script.match(number, raw, prompt) if self.script.rules else None
        latency = self._latency(body, prompt, nth)
        if fault is not None and fault.what == "late":
            latency += fault.seconds
        return Plan(lambda: self._compose(number, body, fault), fault, latency)

    def _latency(self, body: dict[str, Any], prompt: str, nth: int) -> float:
        if isinstance(self.latency, int | float):
            return self.latency
        if callable(self.latency):
            return self.latency(body)
        return draw(self.latency, self.script.seed, prompt, nth)

    def _compose(self, number: int, body: dict[str, Any], fault: Fault | None) -> Reply:
        shape = None if self.kind.name == "plain" else self.kind.error
        if fault is not None and (reply := replies.faulty_reply(fault, shape)):
            return reply
        if self.max_model_len is not None and self.overflow == "cut":
            body = overflow.cut(body, self.max_model_len)
        try:
            given = self.answer(body) if callable(self.answer) else self.answer
        except Exception as error:  # noqa: BLE001 - shown to whoever reads the reply
            return openai_error(500, f"the answer function raised {error!r}")
        answer = given if isinstance(given, Answer) else Answer(given)
        answer = self._finish(answer, body)
        if fault is not None:
            answer = replies.faulty_answer(answer, fault)
        return replies.completion(
            answer,
            body,
            number,
            form=self.think_form,
            sends_usage=self.sends_usage,
        )

    def _finish(self, answer: Answer, body: dict[str, Any]) -> Answer:
        if self.thinking is not None and answer.thinking is None:
            answer = replace(answer, thinking=self.thinking)
        if self.served_model is not None and answer.model is None:
            answer = replace(answer, model=self.served_model)
        if self.cuts_at_max_tokens:
            answer = replies.cut_at(answer, wanted_tokens(body))
        return answer
