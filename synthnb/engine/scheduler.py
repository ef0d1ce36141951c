"""The batch loop: workers over a lazy iterator, each with one slot at a time.

There is no chunk and no barrier: a worker that is free takes the next row, so one slow
answer holds up nobody. A hundred rows at most are read ahead, so memory does not depend
on the number of rows.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Iterable
from itertools import islice

from synthnb.engine.filling import Filler, Known, Work
from synthnb.engine.gate import Gate, StopDispatchError
from synthnb.engine.jobs import Job
from synthnb.store import RunStore

_FEED = 64
"""Rows that are read, and looked up in the ledger, at once."""
_LOW = 32
"""The next rows are read when fewer than this lie ready."""
_SLICE_SECONDS = 0.02
_MAX_PENDING = 2048


class Scheduler:
    """Fills the slots of one ``generate`` call; built anew for each."""

    def __init__(
        self,
        jobs: Iterable[Job],
        filler: Filler,
        store: RunStore,
        gate: Gate,
        *,
        step: str,
        width: int,
    ) -> None:
        """Take the parts; nothing starts before ``run``.

        Args:
            jobs: the slots to fill, taken as they are needed.
            filler: fills one slot.
            store: the ledger, asked what it knows.
            gate: tells when the run was stopped.
            step: the recipe's step, under which the ledger knows the slots.
            width: how many workers, and so requests in flight.
        """
        self._jobs = iter(jobs)
        self._filler = filler
        self._store = store
        self._gate = gate
        self._step = step
        self._width = width
        self._ready: deque[Work] = deque()
        self._hungry: deque[asyncio.Future[None]] = deque()
        self._low: asyncio.Future[None] | None = None
        self._fed = False
        self._unreadable: Exception | None = None

    async def run(self) -> None:
        """Fill all slots, or all that can be before a stop.

        Raises:
            ProviderError: one that every other request would meet as well.
            StoreError: the ledger failed for good.
            Exception: what the caller's own rows raised, after the rows before it were
                answered.
        """
        first: BaseException | None = None
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._feed())
                for _ in range(self._width):
                    group.create_task(self._work())
        except BaseExceptionGroup as errors:
            # The first error is the cause; the others are its echo in other workers.
            first = errors.exceptions[0]
        if first is not None:
            # Outside of the handler: with a group as its context, IPython prints an
            # error as plain text and not as the cell's error.
            raise first
        if self._unreadable is not None:
            raise self._unreadable

    def _take(self) -> list[Job]:
        """Take the next rows, for a moment: large or slow ones must not hold the loop.

        Rows that raise end the feeding, not what is in flight: that is paid for.
        """
        jobs: list[Job] = []
        until = time.perf_counter() + _SLICE_SECONDS
        try:
            for job in islice(self._jobs, _FEED):
                jobs.append(job)
                if time.perf_counter() > until:
                    break
        except Exception as error:  # noqa: BLE001 - user code; raised at the end
            self._unreadable = error
        return jobs

    async def _feed(self) -> None:
        while not self._gate.stopped and self._unreadable is None:
            jobs = self._take()
            if not jobs:
                break
            known: Known = {}
            if not self._store.fresh:
                ids = list(dict.fromkeys(job.row_id for job in jobs))
                samples = list(dict.fromkeys(job.sample_index for job in jobs))
                known = await asyncio.to_thread(
                    self._store.known, self._step, ids, samples
                )
            self._ready += [Work(job, known) for job in jobs]
            self._wake(len(jobs))
            await asyncio.sleep(0)
            if len(self._ready) >= _LOW:
                self._low = asyncio.get_running_loop().create_future()
                await self._low
            await self._room()
        self._fed = True
        self._wake(self._width)

    def _wake(self, number: int) -> None:
        while self._hungry and number:
            waiting = self._hungry.popleft()
            if not waiting.done():
                waiting.set_result(None)
                number -= 1

    async def _next(self) -> Work | None:
        """Return the next row to fill; ``None`` when there is none any more."""
        while not self._ready:
            if self._fed:
                return None
            waiting = asyncio.get_running_loop().create_future()
            self._hungry.append(waiting)
            await waiting
        work = self._ready.popleft()
        if self._low is not None and len(self._ready) < _LOW:
            if not self._low.done():
                self._low.set_result(None)
            self._low = None
        return work

    async def _room(self) -> None:
        """Wait while the ledger is behind: memory is bounded whatever the disk does."""
        while self._store.pending > _MAX_PENDING:
            # One that has failed never catches up; the next write says why.
            if self._gate.stopped or self._store.has_failed:
                return
            await asyncio.sleep(_SLICE_SECONDS)

    async def _work(self) -> None:
        since = time.perf_counter()
        while (work := await self._next()) is not None:
            if self._gate.stopped:
                continue
            try:
                sent = await self._filler.fill(work)
            except StopDispatchError:
                continue
            # A resumed run replays thousands of answers without one real wait; the
            # kernel's other tasks get their turn all the same.
            if sent:
                since = time.perf_counter()
            elif time.perf_counter() - since > _SLICE_SECONDS:
                await asyncio.sleep(0)
                since = time.perf_counter()
