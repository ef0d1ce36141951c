"""One request until it has an answer or is given up, each attempt in the ledger."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from synthnb.config import Limits
from synthnb.engine.adaptive import AdaptiveLimit
from synthnb.engine.allowance import Allowance
from synthnb.engine.breaker import Breaker
from synthnb.engine.events import Answered, Event, Failed, Held, Noted, Retried
from synthnb.engine.gate import Gate
from synthnb.engine.progress import Progress
from synthnb.engine.replay import FINAL_REFUSAL, read_answer, stored_form
from synthnb.engine.retry import next_wait
from synthnb.engine.slots import Slots
from synthnb.engine.slow import SlowCalls
from synthnb.engine.stamps import now
from synthnb.engine.tracing import Tracing
from synthnb.errors import (
    ConnectError,
    ProviderError,
    RateLimitError,
    RequestTimeoutError,
)
from synthnb.providers.client import MODEL_CHANGED
from synthnb.providers.protocol import ChatClient
from synthnb.recipes.base import Parsed, Recipe
from synthnb.records import Completion, Request, Row, Status
from synthnb.store import AttemptRow, ResultRow, RunStore, SlotRow, StoredResult

_LARGE = 200_000
"""Characters from which on an answer is parsed in a thread, off the notebook's loop."""


_REFUSALS = 4
"""So many refusals cost a row one attempt while the server answers others: in a true rate
limit each row may be refused several times, and the last of them is no worse than the first.
They cost something, for a request may be too large for any minute's tokens."""
_NO_ROOM_SECONDS = 0.1
_LOOK_AGAIN = 0.05


class Outcome(NamedTuple):
    """What became of one request."""

    parsed: Parsed
    final: bool
    """No answer came, or the server refused for good: no top-up can follow."""
    completion: Completion | None = None
    """The answer itself, where one was bought."""


class Caller:
    """Sends requests through the gate, retries by kind, writes every attempt down."""

    def __init__(
        self,
        *,
        recipe: Recipe,
        client: ChatClient,
        store: RunStore,
        gate: Gate,
        progress: Progress,
        limits: Limits,
        breaker: Breaker,
        slots: Slots,
        allowance: Allowance,
        stop: Callable[[str], None],
        tracing: Tracing | None,
        slow: SlowCalls,
        emit: Callable[[Event], None],
        is_heard: Callable[[], bool],
    ) -> None:
        """Take the parts of one run."""
        self.client = client
        self._endpoint = client.endpoint
        self._recipe = recipe
        self._store = store
        self._gate = gate
        self._progress = progress
        self._limits = limits
        self._tracing = tracing
        self._slow = slow
        self._parse_name = f"{type(recipe).__name__}.parse()"
        self._emit = emit
        self._is_heard = is_heard
        self._breaker = breaker
        self._slots = slots
        self._allowance = allowance
        self._stop = stop
        self._refuses_all = False
        self._model_changed = False

    async def call(
        self, slot: SlotRow, row: Row, request: Request, earlier: Sequence[Parsed]
    ) -> Outcome:
        """Return what the request gave, after as many attempts as its kind allows.

        Raises:
            StopDispatchError: the run was stopped before the request could be sent.
            ProviderError: an error that stops the whole run.
        """
        failures, refusals, delay = 0, 0, 0.0
        answers = self._progress.answers
        while True:
            await self._admit(request, delay)
            started, began = now(), time.perf_counter()
            try:
                completion = await self._attempt(slot, request, started, began)
            except ProviderError as error:
                if isinstance(error, ConnectError):
                    delay = await self._unconnected(slot, error)
                    continue
                if error.sent:
                    self._breaker.answered()
                if isinstance(error, RateLimitError) and (
                    self._progress.answers > answers
                ):
                    # Others had their turn meanwhile: it is not this row's fault.
                    refusals += 1
                else:
                    failures += 1
                wait = self._wait(error, failures + -(-refusals // _REFUSALS))
                if wait is None:
                    return self._give_up(slot, error)
                self._progress.retries += 1
                self._emit(
                    Retried(slot.row_id, error, wait, slot.sample_index, slot.round)
                )
                delay = wait
            else:
                seconds = time.perf_counter() - began
                parsed = await self._parse(row, completion, earlier)
                self._save(
                    slot,
                    completion,
                    parsed,
                    started=started,
                    seconds=seconds,
                    attempt=failures + refusals + 1,
                )
                return Outcome(parsed, final=False, completion=completion)

    async def _admit(self, request: Request, delay: float) -> None:
        """Wait until it is allowed and there is room; it then counts as in flight.

        Raises:
            StopDispatchError: the run was stopped meanwhile.
        """
        gate, slots = self._gate, self._slots
        while True:
            if delay or not gate.is_open:
                await gate.wait(delay)
            await slots.enter()
            try:
                again = await self._pass(request)
            except BaseException:
                slots.limit.dropped()
                slots.left()
                raise
            if again is None:
                return
            slots.limit.dropped()
            slots.left()
            delay = again

    async def _pass(self, request: Request) -> float | None:
        """Return ``None`` to send now, else the seconds after which to come again.

        The rates come after the slot: what still queued for room would else leave late,
        and all at once.
        """
        allowance = self._allowance
        if not self._gate.is_open:
            return 0.0
        if allowance.is_free:
            return None
        if not self._may_go():
            return _LOOK_AGAIN
        if seconds := allowance.wait(request):
            try:
                await self._gate.wait(seconds)
            except BaseException:
                allowance.give_back(request)
                raise
            if not self._may_go():
                allowance.give_back(request)
                return _LOOK_AGAIN
        allowance.sent()
        return None

    def _may_go(self) -> bool:
        """Look at the budgets; one that is used up ends the run in good order."""
        if (why := self._allowance.reached()) is not None:
            self._stop(why)
            return False
        return not self._allowance.must_wait()

    async def _unconnected(self, slot: SlotRow, error: ConnectError) -> float:
        """Nobody answers: no row is at fault, so none loses an attempt."""
        if error.stops_run:
            raise error
        self._progress.retries += 1
        self._emit(Retried(slot.row_id, error, 0.0, slot.sample_index, slot.round))
        if error.no_room and self._slots.limit.in_flight:
            # It is this process that has no socket left: others will give theirs back.
            return _NO_ROOM_SECONDS
        await self._breaker.wait(error)
        return 0.0

    async def _attempt(
        self, slot: SlotRow, request: Request, started: str, began: float
    ) -> Completion:
        """Send once. A failed attempt is written down here, a good one by ``_save``."""
        self._progress.sent()
        limit, completion = self._slots.limit, None
        try:
            # One coroutine less where nobody traces.
            completion = _checked(
                await self.client.complete(request)
                if self._tracing is None
                else await self._traced(self._tracing, request, slot.row_id)
            )
        except ProviderError as error:
            self._tell(limit, error)
            self._put_failed(slot, started, began, error.status, error)
            if not error.sent:
                self._progress.requests -= 1
            raise
        except asyncio.CancelledError:
            limit.dropped()
            self._put_failed(slot, started, began, Status.CANCELLED, None)
            raise
        except Exception as error:
            # A fault of the client, not of the server; the row fails, the run goes on.
            limit.dropped()
            wrapped = ProviderError(f"{type(error).__name__}: {error}")
            wrapped.retryable = False
            self._put_failed(slot, started, began, Status.SERVER, wrapped)
            raise wrapped from error
        else:
            limit.answered()
            return completion
        finally:
            if not self._allowance.is_free:
                self._allowance.ended(request, completion)
            self._progress.in_flight -= 1
            self._progress.limit = limit.limit
            self._slots.left()

    async def _traced(
        self, tracing: Tracing, request: Request, row_id: str
    ) -> Completion:
        span = tracing.attempt(request, row_id)
        try:
            completion = await self.client.complete(request)
        except BaseException as error:
            span.failed(error)
            raise
        span.answered(completion)
        return completion

    def _tell(self, limit: AdaptiveLimit, error: ProviderError) -> None:
        """Tell the limit what a failure says about the load."""
        self._refuses_all = False
        if isinstance(error, RateLimitError):
            self._refuses_all = limit.refused(error.retry_after)
        elif isinstance(error, RequestTimeoutError) or (
            isinstance(error, ConnectError) and error.no_room
        ):
            limit.failed()
        else:
            limit.dropped()

    def _put_failed(
        self,
        slot: SlotRow,
        started: str,
        began: float,
        status: Status,
        error: ProviderError | None,
    ) -> None:
        attempt = AttemptRow(
            slot_id=slot.id,
            request_key=slot.request_key,
            started_at=started,
            seconds=round(time.perf_counter() - began, 4),
            status=str(status),
            http_status=error.http_status if error else None,
            prompt_tokens=None,
            completion_tokens=None,
            detail=error.message if error else "",
            # Without an endpoint it was no call: nothing left this machine.
            endpoint=self._endpoint if error is None or error.sent else "",
        )
        self._store.put_attempt(attempt, None)

    def _wait(self, error: ProviderError, failures: int) -> float | None:
        """Return the seconds until the next attempt; ``None`` if there is none."""
        if error.stops_run:
            raise error
        wait = next_wait(error, failures, self._limits.retry)
        if wait is None:
            return None
        if isinstance(error, RateLimitError) and self._refuses_all:
            # Not this request is too much, but any: a true rate limit.
            self._gate.hold(wait)
            self._emit(Held(self._gate.held_for(), error))
        return wait

    def _give_up(self, slot: SlotRow, error: ProviderError) -> Outcome:
        """Keep a final refusal as the slot's result; a passing failure leaves it open.

        Only the former is not asked again when the run is started anew.
        """
        self._emit(Failed(slot.row_id, error, slot.sample_index, slot.round))
        if error.status.is_answer:
            refusal = StoredResult(
                str(error.status), error.message, finish_reason=FINAL_REFUSAL
            )
            row = ResultRow(slot.id, slot.request_key, refusal, now())
            self._store.put_result(row)
        return Outcome(Parsed(error.status, detail=error.message), final=True)

    async def _parse(
        self, row: Row, completion: Completion, earlier: Sequence[Parsed]
    ) -> Parsed:
        self._breaker.answered()
        self._progress.answered(completion)
        if completion.adapted and MODEL_CHANGED in completion.adapted:
            self._warn_of(completion)
        if len(completion.text) < _LARGE:
            began = time.perf_counter()
            parsed = read_answer(self._recipe, row, completion, earlier)
            self._slow.took(self._parse_name, time.perf_counter() - began)
            return parsed
        return await asyncio.to_thread(
            read_answer, self._recipe, row, completion, earlier
        )

    def _warn_of(self, completion: Completion) -> None:
        if not self._model_changed:
            self._model_changed = True
            self._emit(
                Noted(
                    f"the server answers with another model now, {completion.model!r}: "
                    "was it restarted? Rows say which one wrote them (column model)."
                )
            )

    def _save(
        self,
        slot: SlotRow,
        completion: Completion,
        parsed: Parsed,
        *,
        started: str,
        seconds: float,
        attempt: int,
    ) -> None:
        # Built where it is written: off the loop.
        self._store.put_answer(
            _answer_rows,
            slot,
            started,
            seconds,
            completion,
            parsed,
            self._endpoint,
            ticket=1,
        )
        # The log counts what is not ok, whoever listens besides.
        if parsed.status is not Status.OK or self._is_heard():
            self._emit(
                Answered(
                    slot.row_id,
                    parsed,
                    attempt,
                    seconds,
                    completion.usage.prompt_tokens,
                    completion.usage.completion_tokens,
                    completion.request_id,
                    slot.sample_index,
                    slot.round,
                )
            )


def _answer_rows(  # noqa: PLR0917 - called by the writer with what the entry holds
    slot: SlotRow,
    started: str,
    seconds: float,
    completion: Completion,
    parsed: Parsed,
    endpoint: str,
) -> tuple[AttemptRow, ResultRow]:
    usage = completion.usage
    attempt = AttemptRow(
        slot_id=slot.id,
        request_key=slot.request_key,
        started_at=started,
        seconds=round(seconds, 4),
        status=str(parsed.status),
        http_status=200,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        detail=parsed.detail,
        endpoint=endpoint,
    )
    answer = stored_form(completion, parsed)
    return attempt, ResultRow(slot.id, slot.request_key, answer, started)


def _checked(completion: Any) -> Completion:
    """Find a foreign client's fault here, where it costs one row.

    Raises:
        TypeError: it is no ``Completion``, or its text is none.
    """
    if isinstance(completion, Completion) and isinstance(completion.text, str):
        return completion
    msg = "the client gave no Completion with a text"
    raise TypeError(msg)
