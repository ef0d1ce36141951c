"""Filling one slot: what the ledger has, what must be asked, and the top-ups."""

from __future__ import annotations

import time
from typing import NamedTuple

from synthnb.engine.calls import Caller, Outcome
from synthnb.engine.jobs import Job
from synthnb.engine.progress import Progress
from synthnb.engine.replay import (
    FINAL_REFUSAL,
    count_items,
    count_last,
    count_missing,
    next_request,
    read_stored,
    shortfall,
    stored_form,
)
from synthnb.engine.reuse import Reuse, cached_attempt
from synthnb.engine.slow import SlowCalls
from synthnb.engine.stamps import now
from synthnb.fingerprint import request_key
from synthnb.providers.client import MODEL_CHANGED
from synthnb.recipes.base import Parsed, Recipe
from synthnb.records import Request, Row, Status
from synthnb.store import AttemptRow, ResultRow, RunStore, SlotRow
from synthnb.store.cache import Place
from synthnb.store.ledger import Results

Known = dict[tuple[str, int, int], tuple[int, Results]]
"""(row_id, sample_index, round) → (slot id, results by request key)."""


class Work(NamedTuple):
    """A job with what the ledger knows of its row."""

    job: Job
    known: Known


class Filler:
    """Fills slots, one after the other; any number of workers share it."""

    def __init__(
        self,
        recipe: Recipe,
        caller: Caller,
        store: RunStore,
        progress: Progress,
        *,
        slow: SlowCalls,
        reuse: Reuse | None = None,
    ) -> None:
        """Take the parts of one run; without ``reuse`` each answer is bought."""
        self._reuse = reuse
        self._slow = slow
        self._request_name = f"{type(recipe).__name__}.request()"
        self._recipe = recipe
        self._caller = caller
        self._store = store
        self._progress = progress
        self.interrupted: dict[tuple[str, int], int] = {}
        """Slots left half-way (row id, sample), with the items counted so far."""

    async def fill(self, work: Work) -> bool:
        """Fill one slot; return whether anything had to be sent.

        Raises:
            StopDispatchError: the run was stopped before the slot was full.
            ProviderError: an error that stops the whole run.
        """
        earlier: list[Parsed] = []
        try:
            return await self._fill(work, earlier)
        except BaseException:
            counted = count_items(earlier, self._recipe.wanted).total()
            self.interrupted[work.job.row_id, work.job.sample_index] = counted
            raise

    async def _fill(self, work: Work, earlier: list[Parsed]) -> bool:
        job, sent, final = work.job, False, False
        while not final:
            began = time.perf_counter()
            try:
                request = next_request(self._recipe, job.row, earlier, job.sample_index)
            except Exception as error:  # noqa: BLE001 - user code: costs this row only
                why = f"the recipe's request raised {type(error).__name__}: {error}"
                earlier.append(self._refuse(work, len(earlier), why))
                break
            self._slow.took(self._request_name, time.perf_counter() - began)
            if request is None:
                if not earlier:
                    why = "the recipe has nothing to ask about this row"
                    earlier.append(self._refuse(work, 0, why))
                break
            slot, results = self._slot(work, len(earlier), request)
            place = self._place(slot, request)
            outcome = self._recall(slot, results, job.row, earlier)
            if outcome is None and place is not None:
                outcome = await self._take_over(place, slot, job.row, earlier)
            if outcome is None:
                sent = True
                outcome = await self._caller.call(slot, job.row, request, earlier)
                self._keep(place, outcome)
            earlier.append(outcome.parsed)
            final = outcome.final
            self._count(job.row_id, earlier)
        self._count(job.row_id, earlier, ended=True)
        return sent

    def _count(
        self, row_id: str, earlier: list[Parsed], *, ended: bool = False
    ) -> None:
        """Count rows as they come: the items of the last answer, at the end the rest."""
        wanted = self._recipe.wanted
        if not ended:
            if new := count_last(earlier, wanted):
                last = earlier[-1]
                self._progress.count_rows(last.items_status, new, row_id, last.detail)
        elif missing := count_missing(earlier, wanted):
            status, detail = shortfall(earlier, wanted - missing, wanted)
            self._progress.count_rows(status, missing, row_id, detail)

    def _slot(
        self, work: Work, round_: int, request: Request
    ) -> tuple[SlotRow, Results]:
        """Put down that this answer is wanted, under the id that it had before."""
        key = request_key(self._caller.client.model, request)
        return self._put_slot(work, round_, key)

    def _put_slot(self, work: Work, round_: int, key: str) -> tuple[SlotRow, Results]:
        job = work.job
        found = work.known.get((job.row_id, job.sample_index, round_))
        slot = SlotRow(
            id=found[0] if found else self._store.new_slot_id(),
            row_id=job.row_id,
            step=self._recipe.step,
            sample_index=job.sample_index,
            round=round_,
            request_key=key,
            generation=self._store.generation,
            ordinal=job.ordinal,
        )
        # Known rows too: under the same id a row may have another text by now.
        is_first = round_ == 0 and job.sample_index == 0
        self._store.put_slot(slot, job.row if is_first else None)
        return slot, found[1] if found else {}

    def _recall(
        self, slot: SlotRow, results: Results, row: Row, earlier: list[Parsed]
    ) -> Outcome | None:
        stored = results.get(slot.request_key)
        if stored is None:
            return None
        self._progress.resumed += 1
        parsed = read_stored(self._recipe, row, stored, earlier)
        return Outcome(parsed, final=stored.finish_reason == FINAL_REFUSAL)

    def _place(self, slot: SlotRow, request: Request) -> Place | None:
        if self._reuse is None:
            return None
        return self._reuse.place(slot, request)

    async def _take_over(
        self, place: Place, slot: SlotRow, row: Row, earlier: list[Parsed]
    ) -> Outcome | None:
        """Take an earlier run's answer, if the recipe can read all of it."""
        assert self._reuse is not None
        stored = await self._reuse.find(place)
        if stored is None:
            return None
        parsed = read_stored(self._recipe, row, stored, earlier)
        if parsed.status is not Status.OK:
            return None
        self._progress.cached += 1
        result = ResultRow(slot.id, slot.request_key, stored, now())
        self._store.put_attempt(cached_attempt(slot), result)
        return Outcome(parsed, final=False)

    def _keep(self, place: Place | None, outcome: Outcome) -> None:
        """Offer a good answer to other runs."""
        completion, parsed = outcome.completion, outcome.parsed
        if self._reuse is None or place is None or completion is None:
            return
        # Another model's answer is none to this request.
        if parsed.status is Status.OK and MODEL_CHANGED not in completion.adapted:
            self._reuse.keep(place, stored_form(completion, parsed))

    def _refuse(self, work: Work, round_: int, detail: str) -> Parsed:
        """The recipe could make no request of this row: a failed row, no call."""
        slot, _ = self._put_slot(work, round_, "")
        attempt = AttemptRow(
            slot_id=slot.id,
            request_key="",
            started_at=now(),
            seconds=0.0,
            status=str(Status.SCHEMA),
            http_status=None,
            prompt_tokens=None,
            completion_tokens=None,
            detail=detail,
            endpoint="",
        )
        self._store.put_attempt(attempt, None)
        return Parsed(Status.SCHEMA, detail=detail)
