"""What the fault server does with a request: which path, who waits, what is counted."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from synthnb.testing import replies
from synthnb.testing.capacity import Capacity
from synthnb.testing.chat import ChatScript, Plan
from synthnb.testing.connection import Connection, Outcome
from synthnb.testing.control import change
from synthnb.testing.deliveries import send
from synthnb.testing.listener import Listener
from synthnb.testing.load import Batch, Load
from synthnb.testing.metrics import Gauges
from synthnb.testing.outages import Away, Outage
from synthnb.testing.rates import RateWindow
from synthnb.testing.routes import Look
from synthnb.testing.stats import Stats, prompt_key
from synthnb.testing.wire import OK, HttpRequest, Reply, read_json

_SLOTS = 4
"""Of a llama.cpp server that was given no capacity: its own default."""


class Desk:
    """Takes the requests of all connections. ``FaultServer`` adds options and life.

    Attributes:
        chat: what it says to chat requests.
        stats: the counts.
        owned_by: in ``/v1/models``.
        loading: whether its model is not there so far.
        outages: when it will be away.
    """

    _listener: Listener

    def __init__(
        self,
        chat: ChatScript,
        stats: Stats,
        *,
        owned_by: str,
        key: str | None,
        has_metrics: bool,
    ) -> None:
        self.chat = chat
        self.stats = stats
        self.owned_by = owned_by
        self.loading = False
        self.outages: list[Outage] = []
        self._key = key
        self._has_metrics = has_metrics
        self._load = Load()
        self._batch: Batch | None = None
        self._rate: Capacity | None = None
        self._window = RateWindow()
        self._away: Away | None = None
        self._coming_back: asyncio.TimerHandle | None = None

    # capacity --------------------------------------------------------------------

    @property
    def capacity(self) -> Capacity | Sequence[Capacity] | None:
        """What it takes at once; may be changed while it runs, from any thread."""
        both = [c for c in (self._rate, self._load.capacity) if c is not None]
        return both if len(both) > 1 else next(iter(both), None)

    @capacity.setter
    def capacity(self, capacity: Capacity | Sequence[Capacity] | None) -> None:
        given = [capacity] if isinstance(capacity, Capacity) else list(capacity or ())
        rates = [c for c in given if c.kind == "rate"]
        others = [c for c in given if c.kind != "rate"]
        if len(rates) > 1 or len(others) > 1:
            raise ValueError("a server has at most one rate and one other capacity")

        def apply() -> None:
            self._rate = next(iter(rates), None)
            self._load.capacity = next(iter(others), None)

        self._listener.call(apply)

    @property
    def running(self) -> int:
        """Chat requests that have a place now."""
        return self._load.running

    @property
    def waiting(self) -> int:
        """Chat requests that wait for a place now."""
        return self._load.waiting

    @property
    def max_running(self) -> int:
        """The most that had a place at once."""
        return self._load.max_running

    @property
    def max_waiting(self) -> int:
        """The most that waited at once."""
        return self._load.max_waiting

    # away and back ---------------------------------------------------------------

    def _go(self, how: Away) -> None:
        self._forget_return()
        self._away = how
        if how == "refuse":
            self._listener.shut()
        if how in {"refuse", "drop"}:
            self._listener.cut()

    def _return(self, model: str | None = None) -> None:
        self._forget_return()
        was, self._away = self._away, None
        if model is not None:
            self.chat.models = [model]
            self.chat.served_model = model
        if was == "refuse":
            self._listener.open(self)

    def _forget_return(self) -> None:
        timer, self._coming_back = self._coming_back, None
        if timer is not None:
            timer.cancel()

    def _meet_outage(self) -> bool:
        """Begin the outage that is due now, if there is one."""
        for outage in self.outages:
            if self.stats.requests >= outage.after:
                self.outages.remove(outage)
                self._go(outage.how)
                if outage.seconds is not None:
                    self._coming_back = self._listener.loop.call_later(
                        outage.seconds, self._return, outage.model
                    )
                return True
        return False

    # what connections call -------------------------------------------------------

    def opened(self, connection: Connection) -> bool:
        """Note a connection. False drops it: the server is away."""
        self.stats.connections += 1
        self._listener.connections.add(connection)
        return self._away not in {"refuse", "drop"}

    def lost(self, connection: Connection) -> None:
        """Note that it is gone."""
        self._listener.connections.discard(connection)

    def exchange(self, request: HttpRequest, connection: Connection) -> Outcome:
        """Answer a request, at once where nothing has to wait."""
        self.stats.paths[f"{request.method} {request.path}"] += 1
        self.stats.authorized += "authorization" in request.headers
        is_chat = (request.method, request.path) == ("POST", "/v1/chat/completions")
        if is_chat and self.outages and self._away is None:
            self._meet_outage()
        if request.path.startswith("/__"):
            return self._plain((request.method, request.path), request)
        if self._away is not None:
            if isinstance(self._away, str):
                return None
            return self._counted(self.chat.kind.error(self._away, "no upstream"))
        if self.loading:
            loading = self.chat.kind.while_loading(request.method, request.path)
            if loading is not None:
                return self._counted(loading)
        if is_chat:
            refused = self._refuse_key(request)
            return (
                self._counted(refused) if refused else self._chat(request, connection)
            )
        reply = self._plain((request.method, request.path), request)
        return self._counted(reply)

    def _counted(self, reply: Reply) -> Reply:
        self.stats.statuses[reply.status] += 1
        return reply

    # paths -----------------------------------------------------------------------

    def _plain(self, route: tuple[str, str], request: HttpRequest) -> Reply:
        if route == ("GET", "/__stats"):
            return Reply.json(200, {**self.stats.to_json(), **self._places()})
        if route == ("POST", "/__set"):
            return change(self, read_json(request.body))
        if route == ("GET", "/v1/models"):
            return self._refuse_key(request) or Reply.json(200, self._model_list())
        kind = self.chat.kind
        if route == ("GET", "/metrics") and not self._has_metrics:
            return kind.without_metrics()
        known = kind.routes.get(route)
        return known(self._look(request)) if known else kind.not_found(*route)

    def _places(self) -> dict[str, int]:
        names = ("running", "waiting", "max_running", "max_waiting")
        return {name: getattr(self, name) for name in names}

    def _look(self, request: HttpRequest) -> Look:
        chat, stats = self.chat, self.stats
        gauges = Gauges(
            model=chat.models[0] if chat.models else "",
            running=self.running,
            waiting=self.waiting,
            cache=self._load.fullness,
            prompt_tokens=stats.prompt_tokens,
            generation_tokens=stats.completion_tokens,
            finished=stats.finish_reasons,
            refused=stats.refused,
        )
        limit = self._load.capacity.limit if self._load.capacity else _SLOTS
        return Look(
            chat.models,
            chat.max_model_len,
            gauges,
            chat.kind.error,
            limit,
            request.body,
        )

    def _refuse_key(self, request: HttpRequest) -> Reply | None:
        if self._key is None:
            return None
        if request.headers.get("authorization") == f"Bearer {self._key}":
            return None
        message = "Incorrect API key"
        return self.chat.kind.error(401, message, code="invalid_api_key")

    def _model_list(self) -> dict[str, Any]:
        limit, kind = self.chat.max_model_len, self.chat.kind
        extra = {"max_model_len": limit} if limit and kind.lists_context else {}
        data = [
            {
                "id": name,
                "object": "model",
                "created": 0,
                "owned_by": self.owned_by,
                **kind.entry,
                **extra,
            }
            for name in self.chat.models
        ]
        return {"object": "list", "data": data}

    # chat ------------------------------------------------------------------------

    def _chat(self, request: HttpRequest, connection: Connection) -> Outcome:
        body = read_json(request.body)
        messages = body.get("messages") if isinstance(body, dict) else None
        if not isinstance(messages, list):
            message = "the body is no chat request"
            return self._counted(self.chat.kind.error(400, message))
        prompt = prompt_key(request.body, body)
        self.stats.header_names.update(request.headers.keys())
        number = self.stats.arrive(prompt, body)
        refused = self.chat.refuse(body) or self._over_capacity(body)
        if refused is not None:
            self.stats.in_flight -= 1
            return self._counted(refused)
        nth = self.stats.by_prompt[prompt]
        plan = self.chat.plan(number, request.body, body, prompt, nth)
        if plan.latency > 0 or plan.special_delivery or self._load.capacity is not None:
            return self._later(plan, prompt, connection)
        reply = self._made(plan)
        self.stats.in_flight -= 1
        # Counted before the client can see the answer and send its next request, so
        # that `max_in_flight` is never more than what the client had open.
        self._count(reply, prompt)
        return reply

    def _over_capacity(self, body: dict[str, Any]) -> Reply | None:
        limit = self._load.capacity
        if limit is not None and self._load.is_full:
            return self._refusal(limit, limit.retry_after)
        rate = self._rate
        if rate is None:
            return None
        now = self._listener.loop.time()
        if self._window.take(rate, body, now):
            return None
        is_reset = rate.retry_after == "reset"
        wait = self._window.left(rate, now) if is_reset else rate.retry_after
        return self._refusal(rate, wait, self._window.headers(rate, now))

    def _refusal(
        self,
        limit: Capacity,
        wait: float | str | None,
        headers: dict[str, str] | None = None,
    ) -> Reply:
        self.stats.refused += 1
        headers = dict(headers or {})
        if isinstance(wait, int | float):
            headers["retry-after"] = replies.retry_after(wait, as_date=limit.as_date)
        kind = self.chat.kind
        made = kind.error(
            limit.status,
            kind.rate_message,
            kind="rate_limit_error",
            code="rate_limit_exceeded",
        )
        return replace(made, headers=headers)

    def _made(self, plan: Plan) -> Reply:
        reply = plan.reply()
        if plan.fault is not None:
            self.stats.faults[plan.fault.name] += 1
        if self._rate is not None:
            now = self._listener.loop.time()
            headers = {**reply.headers, **self._window.headers(self._rate, now)}
            reply = replace(reply, headers=headers)
        return reply

    async def _later(self, plan: Plan, prompt: str, connection: Connection) -> bool:
        try:
            if not await self._load.enter(connection.gone):
                return False
            try:
                if not await connection.pause(plan.latency):
                    return False
                reply = self._made(plan)
                if not await self._written(reply, connection):
                    return False
                if plan.special_delivery:
                    reusable = await send(reply, plan.fault, connection)
                    if reusable:
                        self._count(reply, prompt)
                    return reusable
            finally:
                self._load.leave()
        finally:
            self.stats.in_flight -= 1
            self.stats.abandoned += connection.gone.done()
        self._count(reply, prompt)
        return await send(reply, None, connection)

    async def _written(self, reply: Reply, connection: Connection) -> bool:
        """Wait until the batch has written the answer. True if the client waited too."""
        limit = self._load.capacity
        if limit is not None and limit.kind == "batch":
            loop = self._listener.loop
            if self._batch is None or self._batch.loop is not loop:
                self._batch = Batch(loop)
            tokens = limit.answer_tokens or reply.completion_tokens
            await self._batch.write(tokens, limit, connection.gone)
        return not connection.gone.done()

    def _count(self, reply: Reply, prompt: str) -> None:
        stats = self.stats
        stats.statuses[reply.status] += 1
        if reply.status == OK:
            stats.answered[prompt] += 1
            stats.prompt_tokens += reply.prompt_tokens
            stats.completion_tokens += reply.completion_tokens
            if reply.finish_reason is not None:
                stats.finish_reasons[reply.finish_reason] += 1
