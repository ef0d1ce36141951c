"""One run's parts, put together for as long as its client is open."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from typing import NamedTuple

from synthnb.config import Limits
from synthnb.engine import gauges
from synthnb.engine.adaptive import AdaptiveLimit
from synthnb.engine.allowance import Allowance
from synthnb.engine.breaker import Breaker
from synthnb.engine.calls import Caller
from synthnb.engine.events import Event, Noted
from synthnb.engine.filling import Filler
from synthnb.engine.gate import Gate
from synthnb.engine.jobs import Job
from synthnb.engine.progress import Progress
from synthnb.engine.reuse import reuse_for
from synthnb.engine.scheduler import Scheduler
from synthnb.engine.slots import Slots
from synthnb.engine.slow import SlowCalls
from synthnb.engine.tracing import Tracing
from synthnb.providers.prices import Price
from synthnb.providers.protocol import ChatClient
from synthnb.recipes.base import Recipe
from synthnb.store import RunStore


class Hooks(NamedTuple):
    """What the parts tell the run."""

    emit: Callable[[Event], None]
    is_heard: Callable[[], bool]
    """Whether somebody listens to each answer."""
    gate_changed: Callable[[], None]
    end_at: Callable[[str], None]
    """Ends the run in good order; takes the reason in words."""


class Session:
    """Workers, limits and ledger of one run, over one open client.

    Attributes:
        filler: knows which slots were left half-way.
        limit: the load that was found so far.
    """

    def __init__(
        self,
        *,
        recipe: Recipe,
        jobs: Iterator[Job],
        client: ChatClient,
        store: RunStore,
        gate: Gate,
        progress: Progress,
        limits: Limits,
        price: Price | None,
        cache: bool | None,
        name: str,
        hooks: Hooks,
    ) -> None:
        """Put the parts together; nothing starts before ``run``."""
        width = limits.max_concurrency or client.default_concurrency
        start = getattr(client, "settled_concurrency", None)
        self.limit = AdaptiveLimit(width, start=start, adaptive=limits.adaptive)
        progress.limit = self.limit.limit
        self.tracing = Tracing.of_run(name, client.model, client.endpoint)

        def note(text: str) -> None:
            hooks.emit(Noted(text))

        slow = SlowCalls(note)
        breaker = Breaker(
            client, gate, limits, on_change=hooks.gate_changed, emit=hooks.emit
        )
        caller = Caller(
            recipe=recipe,
            client=client,
            store=store,
            gate=gate,
            progress=progress,
            limits=limits,
            breaker=breaker,
            slots=Slots(self.limit),
            allowance=Allowance(limits, price),
            stop=hooks.end_at,
            tracing=self.tracing,
            slow=slow,
            emit=hooks.emit,
            is_heard=hooks.is_heard,
        )
        self._reuse = reuse_for(store.folder, cache=cache, note=note)
        self.filler = Filler(
            recipe, caller, store, progress, slow=slow, reuse=self._reuse
        )
        self._scheduler = Scheduler(
            jobs, self.filler, store, gate, step=recipe.step, width=width
        )
        self._client, self._limits, self._hooks = client, limits, hooks

    async def run(self) -> None:
        """Fill all slots, or all that can be before a stop; see ``Scheduler.run``."""
        with self._traced():
            async with self._gauging(), self._timing(), self._reusing():
                await self._scheduler.run()
        remember = getattr(self._client, "remember_concurrency", None)
        settled = self.limit.settled
        # One that was held down by the maximum says nothing of the server.
        if remember and settled and settled < self.limit.maximum:
            remember(settled)

    @contextlib.contextmanager
    def _traced(self) -> Iterator[None]:
        if self.tracing is None:
            yield
            return
        error: BaseException | None = None
        try:
            yield
        except BaseException as caught:
            error = caught
            raise
        finally:
            self.tracing.end(error)

    @contextlib.asynccontextmanager
    async def _reusing(self) -> AsyncIterator[None]:
        try:
            yield
        finally:
            if self._reuse is not None:
                await self._reuse.aclose()

    @contextlib.asynccontextmanager
    async def _gauging(self) -> AsyncIterator[None]:
        """Let the server's own gauges guide the limit, where there are some."""
        metrics, limit = getattr(self._client, "metrics", None), self.limit
        if metrics is None or not limit.adaptive:
            yield
            return
        watcher = asyncio.create_task(
            gauges.watch(
                metrics, lambda g: limit.gauges(waiting=g.waiting, cache=g.cache)
            )
        )
        try:
            yield
        finally:
            watcher.cancel()
            await asyncio.wait([watcher])

    @contextlib.asynccontextmanager
    async def _timing(self) -> AsyncIterator[None]:
        """Stop the run when its wall time is over."""
        seconds = self._limits.max_seconds
        if seconds is None:
            yield
            return
        why = f"the time of {seconds:g} s is over; the same cell goes on from here"
        loop = asyncio.get_running_loop()
        timer = loop.call_later(seconds, self._hooks.end_at, why)
        try:
            yield
        finally:
            timer.cancel()
