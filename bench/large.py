"""Measurements of size: many rows from an iterator, the loop's lag, a large resume."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from argparse import Namespace
from pathlib import Path

from clocks import SYSTEM, TEMPLATE, Clock, Track, good, share
from senders import answered, inputs, start, warm_up

_PERIOD = 0.002
_STEP = 1000


async def iterator(options: Namespace) -> dict:
    """A run over an iterator: growth of the memory, pace of the first and the last."""
    with tempfile.TemporaryDirectory(dir=os.curdir) as folder:
        await warm_up(options, folder)
        track = Track(min(_STEP, max(1, options.n // 20)))
        with Clock() as clock:
            rows = track.rows(inputs(options.n))
            run = start(options, rows, Path(folder) / "run")
            await run.finished()
        track.mark()
        figures = clock.figures(options.n) | track.figures()
        return figures | {"good": good(answered(run))}


async def lag(options: Namespace) -> dict:
    """How late the loop is while a run goes at full speed and somebody listens."""
    with tempfile.TemporaryDirectory(dir=os.curdir) as folder:
        await warm_up(options, folder)
        lags: list[float] = []
        heard: list[object] = []
        watching = asyncio.create_task(_watch(lags))
        with Clock() as clock:
            run = start(options, inputs(options.n), Path(folder) / "run")
            run.subscribe(heard.append)
            await run.finished()
        watching.cancel()
        figures = clock.figures(options.n)
        for name, part in (("p50", 0.5), ("p99", 0.99), ("max", 1)):
            figures[f"lag_{name}_ms"] = share(lags or [0.0], part) * 1e3
        figures["events"] = len(heard)
        return figures | {"good": good(answered(run))}


async def _watch(lags: list[float]) -> None:
    while True:
        began = time.perf_counter()
        await asyncio.sleep(_PERIOD)
        lags.append(time.perf_counter() - began - _PERIOD)


def _small(n: int):
    return ({"i": i, "text": "short"} for i in range(n))


async def fill_ledger(options: Namespace) -> dict:
    """Write a whole answered run into a ledger without sending anything."""
    import synthnb as sn
    from synthnb.engine.jobs import iterate_jobs
    from synthnb.engine.replay import next_request
    from synthnb.fingerprint import request_key
    from synthnb.store import AttemptRow, ResultRow, RunStore, SlotRow, StoredResult

    recipe = sn.Prompt(TEMPLATE, system=SYSTEM, temperature=0.7, max_tokens=256)
    store = RunStore(Path(options.folder))
    store.open()
    when = "2026-01-01T00:00:00.000Z"
    with Clock() as clock:
        for job in iterate_jobs(_small(options.n), samples=1, id_column=None):
            key = request_key("stub", next_request(recipe, job.row, [], 0))
            slot = SlotRow(
                id=store.new_slot_id(),
                row_id=job.row_id,
                step=recipe.step,
                sample_index=0,
                round=0,
                request_key=key,
                generation=store.generation,
                ordinal=job.ordinal,
            )
            text = f"answer #R{job.row['i']}# " + "word " * 20
            said = StoredResult("ok", text=text, finish_reason="stop", model="stub")
            attempt = AttemptRow(slot.id, key, when, 0.1, "ok", 200, 50, 25, "", "stub")
            store.put_slot(slot, job.row)
            store.put_attempt(attempt, ResultRow(slot.id, key, said, when))
            if store.pending > 20_000:
                store.flush()
        store.close()
    size = (Path(options.folder) / "run.sqlite").stat().st_size / 2**20
    return clock.figures(options.n) | {"good": options.n, "ledger_mb": size}


async def resume(options: Namespace) -> dict:
    """The same run again over a ledger that has every answer: nothing is sent."""
    with tempfile.TemporaryDirectory(dir=os.curdir) as folder:
        await warm_up(options, folder)
    track = Track(min(_STEP, max(1, options.n // 20)))
    with Clock() as clock:
        run = start(options, track.rows(_small(options.n)), Path(options.folder))
        await run.finished()
    track.mark()
    progress = run.progress
    figures = clock.figures(options.n) | track.figures()
    figures["requests"] = progress.requests
    return figures | {"good": progress.by_status["ok"] - progress.requests}
