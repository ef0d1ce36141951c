"""Answers of earlier runs, where a request may have one.

A request is looked up while others are: what is asked meanwhile goes together into one
visit of a thread, as do the answers to be kept. The loop never touches the disk.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from synthnb.engine.occurrences import Occurrences
from synthnb.engine.stamps import now
from synthnb.records import Request, Status
from synthnb.store import AttemptRow, SlotRow, StoredResult
from synthnb.store.cache import AnswerCache, Place, cache_path
from synthnb.store.files import runs_home

_MOST_KEPT = 4096
"""Answers that wait for a slow disk; further ones are not kept for other runs."""


class _Asked(NamedTuple):
    place: Place
    answer: asyncio.Future[StoredResult | None]


def is_repeatable(request: Request) -> bool:
    """Whether a model is meant to give the same answer again: greedy, or with a seed."""
    sampling = request.sampling
    return sampling.temperature == 0 or sampling.seed is not None


def cached_attempt(slot: SlotRow) -> AttemptRow:
    """Return how the ledger says that an answer came from the cache.

    Each answer has an attempt, and the cost is their sum: this one went nowhere (no
    endpoint, as for a row that could not be asked) and used nothing.
    """
    return AttemptRow(
        slot_id=slot.id,
        request_key=slot.request_key,
        started_at=now(),
        seconds=0.0,
        status=str(Status.OK),
        http_status=None,
        prompt_tokens=None,
        completion_tokens=None,
        detail="taken from the cache",
        endpoint="",
    )


def reuse_for(
    folder: Path, *, cache: bool | None, note: Callable[[str], None]
) -> Reuse | None:
    """Return the cache as ``generate(…, cache=…)`` asks for it; ``None`` for none.

    Args:
        folder: the run's. One that a person chose elsewhere uses the cache, which lies
            beside the other runs, only where they ask for it.
        cache: ``None`` for repeatable requests only, ``True`` for all, ``False`` for none.
        note: told, in words, when the cache cannot be used.
    """
    if cache is False or (cache is None and folder.parent != runs_home().resolve()):
        return None
    return Reuse(AnswerCache(cache_path()), every=cache is True, note=note)


class Reuse:
    """The cache as one run uses it; belongs to one loop."""

    def __init__(
        self,
        cache: AnswerCache,
        *,
        every: bool,
        note: Callable[[str], None],
    ) -> None:
        """Take the parts; the file is opened with the first request that may use it.

        Args:
            cache: where answers are found and kept.
            every: use it for every request, not only for repeatable ones.
            note: told once, in words, when the cache cannot be used.
        """
        self._cache = cache
        self._every = every
        self._note = note
        self._seen = Occurrences()
        self._asked: deque[_Asked] = deque()
        self._kept: deque[tuple[Place, StoredResult]] = deque()
        self._visits: asyncio.Task[None] | None = None
        self._off = False
        self._empty = False

    def place(self, slot: SlotRow, request: Request) -> Place | None:
        """Return where this request's answer is kept; ``None`` where none may be.

        To be called for each slot once, those that the ledger answers included: equal
        requests of one run are told apart by their number.
        """
        if self._off or not (self._every or is_repeatable(request)):
            return None
        copy = self._seen.count(f"{slot.request_key}{slot.sample_index}")
        return Place(slot.request_key, slot.sample_index, copy)

    async def find(self, place: Place) -> StoredResult | None:
        """Return the answer of an earlier run, if there is one."""
        if self._off or self._empty:
            return None
        answer: asyncio.Future[StoredResult | None]
        answer = asyncio.get_running_loop().create_future()
        self._asked.append(_Asked(place, answer))
        self._visit()
        return await answer

    def keep(self, place: Place, answer: StoredResult) -> None:
        """Keep an answer for other runs, soon."""
        if not self._off and len(self._kept) < _MOST_KEPT:
            self._kept.append((place, answer))
            self._visit()

    async def aclose(self) -> None:
        """Write what is still to be kept, and close the file."""
        visits = self._visits
        if visits is not None and not visits.done():
            await asyncio.wait([visits])
        await asyncio.to_thread(self._cache.close)

    def _visit(self) -> None:
        if self._visits is None or self._visits.done():
            self._visits = asyncio.get_running_loop().create_task(self._work())

    async def _work(self) -> None:
        while self._asked or self._kept:
            asked, kept = list(self._asked), list(self._kept)
            self._asked.clear()
            self._kept.clear()
            try:
                found = await asyncio.to_thread(
                    self._look, [one.place for one in asked], kept
                )
            except BaseException:
                # The loop ends, or memory does: nobody may wait here for ever.
                self._off = True
                _tell([*asked, *self._asked], {})
                raise
            _tell(asked, found)
            self._empty = self._cache.was_empty
            if self._cache.trouble and not self._off:
                self._give_up()

    def _look(
        self, places: list[Place], kept: list[tuple[Place, StoredResult]]
    ) -> dict[Place, StoredResult]:
        found = self._cache.find(places) if places else {}
        self._cache.put(kept)
        return found

    def _give_up(self) -> None:
        self._off = True
        _tell(self._asked, {})
        self._asked.clear()
        self._kept.clear()
        path, why = self._cache.path, self._cache.trouble
        self._note(f"the cache {path} is not used: {why}")


def _tell(
    asked: list[_Asked] | deque[_Asked], found: dict[Place, StoredResult]
) -> None:
    for one in asked:
        if not one.answer.done():  # its worker may have been cancelled
            one.answer.set_result(found.get(one.place))
