"""What the fault server says to one chat request. No sockets here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import orjson

from synthnb.testing import replies
from synthnb.testing.faults import Answer, Fault, FaultScript
from synthnb.testing.instances import instance_of
from synthnb.testing.stats import last_user_message
from synthnb.testing.wire import DELIVERIES, Reply

Answerer: TypeAlias = Callable[[dict[str, Any]], "str | Answer"]
Refusal: TypeAlias = Callable[[dict[str, Any]], Reply | None]


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


@dataclass(frozen=True, slots=True)
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
    """Decides about chat requests: refuse them, spoil them or answer them."""

    answer: Answerer | str
    latency: float | Callable[[dict[str, Any]], float]
    script: FaultScript
    models: list[str]
    max_model_len: int | None = None
    strict_model: bool = False
    refusals: Sequence[Refusal] = field(default_factory=tuple)

    def plan(self, number: int, raw: bytes, body: dict[str, Any], prompt: str) -> Plan:
        """Decide about chat request ``number``; what is refused meets no fault."""
        if refused := self._refuse(body):
            return Plan(lambda: refused)
        fault = self.script.match(number, raw, prompt)
        latency = self.latency(body) if callable(self.latency) else self.latency
        return Plan(lambda: self._compose(number, body, fault), fault, latency)

    def _refuse(self, body: dict[str, Any]) -> Reply | None:
        if self.strict_model and body.get("model") not in self.models:
            message = (
                f"The model `{body.get('model')}` does not exist. Known: {self.models}"
            )
            return replies.openai_error(
                404, message, kind="NotFoundError", param="model"
            )
        for refusal in self.refusals:
            if reply := refusal(body):
                return reply
        if self.max_model_len is not None:
            return replies.over_context(body, self.max_model_len)
        return None

    def _compose(self, number: int, body: dict[str, Any], fault: Fault | None) -> Reply:
        if fault is not None and (reply := replies.faulty_reply(fault)):
            return reply
        try:
            given = self.answer(body) if callable(self.answer) else self.answer
        except Exception as error:  # noqa: BLE001 - shown to whoever reads the reply
            return replies.openai_error(500, f"the answer function raised {error!r}")
        answer = given if isinstance(given, Answer) else Answer(given)
        if fault is not None:
            answer = replies.faulty_answer(answer, fault)
        return replies.completion(answer, body, number)
