"""Which answers of a call its ledger has already: they are not asked for again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from synthnb.engine.jobs import Job
from synthnb.engine.replay import next_request
from synthnb.fingerprint import request_key
from synthnb.recipes.base import Recipe
from synthnb.store import RunStore

_BATCH = 256


class Already(NamedTuple):
    """How many first answers are there, of so many slots that were looked at."""

    present: int
    looked_at: int


def already(
    recipe: Recipe, store: RunStore, jobs: Iterable[Job], model: str | None
) -> Already:
    """Look each slot's first request up in the ledger. Blocks: not for the loop.

    Args:
        recipe: makes the requests.
        store: of the run; it need not be open.
        jobs: the slots, as ``iterate_jobs`` gives them.
        model: the model's id, which is part of a request's identity.
    """
    present = looked_at = 0
    jobs = iter(jobs)
    while batch := list(islice(jobs, _BATCH)):
        looked_at += len(batch)
        present += sum(_are_present(recipe, store, batch, model))
    return Already(present, looked_at)


def _are_present(
    recipe: Recipe, store: RunStore, jobs: Sequence[Job], model: str | None
) -> Iterator[bool]:
    ids = list(dict.fromkeys(job.row_id for job in jobs))
    samples = list(dict.fromkeys(job.sample_index for job in jobs))
    known = store.known(recipe.step, ids, samples)
    for job in jobs:
        _, results = known.get((job.row_id, job.sample_index, 0), (0, {}))
        if not results:
            yield False
            continue
        try:
            request = next_request(recipe, job.row, (), job.sample_index)
        except Exception:  # noqa: BLE001 - user code: in a run it costs this row, no call
            request = None
        yield request is not None and request_key(model, request) in results
