"""The handle of a running batch."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import (
    Callable,
    Generator,
    Iterator,
    Mapping,
    Sequence,
)
from pathlib import Path
from typing import TYPE_CHECKING, Any

from synthnb.config import Limits
from synthnb.engine import logs, troubles
from synthnb.engine.background import loop_in_thread
from synthnb.engine.clients import OpenClient
from synthnb.engine.events import Event, Noted, StateChanged
from synthnb.engine.explain import Explanation, explain
from synthnb.engine.filling import Filler
from synthnb.engine.gate import Gate
from synthnb.engine.jobs import Job
from synthnb.engine.logs import RunLog
from synthnb.engine.progress import Progress, State
from synthnb.engine.replay import count_interrupted, replay
from synthnb.engine.session import Hooks, Session
from synthnb.engine.stream import EventStream
from synthnb.engine.usage import RunUsage
from synthnb.engine.waiting import Waiting
from synthnb.errors import RunError, StoreError
from synthnb.providers.prices import Price
from synthnb.recipes.base import Recipe
from synthnb.store import RunStore

if TYPE_CHECKING:
    import pandas as pd

_TICK_SECONDS = 0.2
_SEEN_SECONDS = 1.0
_CHECKING = "checking the run's ledger before anything is bought"
_LEFT = "the run was stopped before this row was answered"


class Run:
    """A batch that works in the background; made by ``generate``, never by hand.

    ``await run`` waits for the end and returns the DataFrame; until then ``frame()``
    shows what is there. Every method may be called from any thread.

    Attributes:
        name: the run's name, which is its folder's name.
        model: the model's id; ``None`` until the server has named its only one.
        is_local: whether this process launched the model, so that calls cost nothing.
        price: of the model, where one is known.
        progress: live counters.
    """

    def __init__(
        self,
        *,
        name: str,
        recipe: Recipe,
        jobs: Iterator[Job],
        wanted: int | None,
        store: RunStore,
        open_client: OpenClient,
        limits: Limits,
        model: str | None = None,
        is_local: bool = False,
        price: Price | None = None,
        inputs: Sequence[str] = (),
        cache: bool | None = None,
    ) -> None:
        """Take the parts; ``start`` begins."""
        self.name = name
        self.recipe = recipe
        self.model = model
        self.is_local = is_local
        self.price = price
        self._cache = cache
        self.progress = Progress(wanted=wanted)
        self._jobs = jobs
        self._inputs = tuple(inputs)
        self._store = store
        self._open_client = open_client
        self._limits = limits
        self._state = State.CONNECTING
        self._error: BaseException | None = None
        self._gate = Gate()
        self._listeners: list[Callable[[Event], None]] = []
        self._log = RunLog(name)
        self._filler: Filler | None = None
        self._worker: asyncio.Task[None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._end = Waiting(name, self.stop)

    # life ------------------------------------------------------------------------------

    def start(self, description: Mapping[str, Any] | None = None) -> None:
        """Take the ledger and begin in the running loop, else in a thread's own.

        Args:
            description: what ``recipe.json`` says of this call; written first, so that
                nothing is bought where it cannot be.

        Raises:
            StoreError: the folder cannot be used; nothing was sent.
        """
        try:
            self._end.loop = asyncio.get_running_loop()
        except RuntimeError:
            self._end.loop = loop_in_thread()
        self._store.open(on_commit=self._committed, on_trouble=self._troubled)
        if description is not None:
            try:
                self._store.write_recipe(description)
            except BaseException:
                self._store.close()
                raise
        self._call(self._begin)

    def _begin(self) -> None:
        # The work is a task of its own: a stop cancels that, never the run's ending.
        loop = asyncio.get_running_loop()
        self._worker = loop.create_task(self._work_or_stop())
        self._task = loop.create_task(self._live(self._worker))
        self._task.add_done_callback(self._settle)

    async def _live(self, worker: asyncio.Task[None]) -> None:
        ticker = asyncio.create_task(self._tick())
        try:
            await asyncio.wait([worker])
        except asyncio.CancelledError:  # the loop is about to be closed
            worker.cancel()
            await asyncio.wait([worker])
        error = self._error_of(worker)
        try:
            await asyncio.to_thread(self._close)
        except StoreError as caught:
            error = error or caught
        ticker.cancel()
        self._finish(error)

    def _error_of(self, worker: asyncio.Task[None]) -> BaseException | None:
        """Return what ended the work early, if it was no stop."""
        if not worker.cancelled():
            return worker.exception()
        self._gate.stop()
        return None

    def _close(self) -> None:
        """Close the ledger, and count what it says of slots that were left half-way."""
        self._store.close()
        if self._filler and self._filler.interrupted:
            left = self._filler.interrupted
            counts = count_interrupted(self.recipe, self._store, left)
            self.progress.count(counts, next(iter(left))[0], _LEFT)

    def _settle(self, _: object) -> None:
        """End a run whose task could not: its loop was closed before it was through."""
        if self._end.future.done():
            return
        self._gate.stop()
        self._store.abandon()
        error: BaseException | None = None
        try:
            self._store.close()
        except StoreError as caught:
            error = caught
        self._finish(error)

    async def _work_or_stop(self) -> None:
        try:
            await self._work()
        except (KeyboardInterrupt, SystemExit):
            # Ctrl-C hit one of our tasks. asyncio has handed it to whoever runs the
            # loop; handed on once more it would break that one's cleaning up.
            self._gate.stop()

    async def _work(self) -> None:
        if self._store.missing:
            self._note(self._store.missing)
        await self._check_ledger()
        async with self._open_client() as client:
            self._set_state(State.RUNNING)
            self._show_gate()
            session = Session(
                recipe=self.recipe,
                jobs=self._jobs,
                client=client,
                store=self._store,
                gate=self._gate,
                progress=self.progress,
                limits=self._limits,
                price=self.price,
                cache=self._cache,
                name=self.name,
                hooks=Hooks(self._emit, self._is_heard, self._show_gate, self._end_at),
            )
            self._filler, self.model = session.filler, client.model
            await session.run()

    async def _check_ledger(self) -> None:
        """See that the ledger is sound and takes what is written, or buy nothing."""
        checked = asyncio.ensure_future(asyncio.to_thread(self._store.flush))
        try:
            await asyncio.wait({checked}, timeout=_SEEN_SECONDS)
            if not checked.done() and not self.progress.note:
                # Half a second a gigabyte, after a kill some seconds.
                self._note(_CHECKING)
            await checked
        finally:
            checked.cancel()
        if self.progress.note == _CHECKING:
            self.progress.note = ""

    async def _tick(self) -> None:
        # An interrupt of a cell that awaits takes effect when its loop next wakes; this
        # wakes it (measured: 8 s without, at once with).
        while not self._state.is_final:  # noqa: ASYNC110 - being woken is its purpose
            await asyncio.sleep(_TICK_SECONDS)

    def _finish(self, error: BaseException | None) -> None:
        self.progress.ended = time.monotonic()
        self._error = error  # a listener that hears of the end asks for its reason
        if error is not None:
            self.progress.note = str(error).partition("\n")[0]
            self._set_state(State.ERROR, error)
            self._end.future.set_exception(error)
            return
        if self.progress.wanted is None and not self._gate.stopped:
            self.progress.wanted = self.progress.done
        self._set_state(State.STOPPED if self._gate.stopped else State.DONE)
        self._end.future.set_result(None)

    # what a person does ----------------------------------------------------------------

    def pause(self) -> None:
        """Send nothing new; what is in flight is finished and kept."""
        self._call(self._pause)

    def resume(self) -> None:
        """Go on after ``pause``."""
        self._call(self._resume)

    def stop(self) -> None:
        """End the run: first what is in flight is finished; a second call drops it.

        What was answered is saved; the same ``generate`` call goes on from there.
        """
        self._call(self._stop)

    def _pause(self) -> None:
        self._gate.pause()
        self._show_gate()

    def _resume(self) -> None:
        self._gate.resume()
        self._show_gate()

    def _end_at(self, why: str) -> None:
        """Stop in good order because of a limit that a person has set."""
        if not self._gate.stopped:
            self._note(why)
            self._gate.stop()
            self._set_state(State.STOPPING)

    def _show_gate(self) -> None:
        """Say what keeps the run from sending, where something does."""
        if self._state not in {State.RUNNING, State.PAUSED, State.STALLED}:
            return
        state = State.STALLED if self._gate.stalled else State.RUNNING
        if self._gate.paused:
            state = State.PAUSED
        if state is not self._state:
            self._set_state(state)

    def _stop(self) -> None:
        if self._state.is_final or self._worker is None:
            return
        if self._gate.stopped or self._state is State.CONNECTING:
            self._worker.cancel()
        if self._gate.disk_trouble:
            self._store.abandon()
        self._gate.stop()
        self._set_state(State.STOPPING)

    def __await__(self) -> Generator[Any, None, pd.DataFrame]:
        """Wait for the end and return the frame.

        Raises:
            SynthnbError: what ended the run early, with the next step.
        """
        return self._wait().__await__()

    async def _wait(self) -> pd.DataFrame:
        await self.finished()
        return await asyncio.to_thread(self.frame)

    async def finished(self) -> None:
        """Wait for the end without building a frame, e.g. of a million rows.

        Raises:
            SynthnbError: what ended the run early.
        """
        await self._end.reach(None)

    def wait(self, timeout: float | None = None) -> pd.DataFrame:
        """Wait synchronously, in a script or in a cell, and return the frame.

        In a cell ``await run`` is better: buttons work while it waits.

        Args:
            timeout: seconds to wait at most; the run goes on afterwards.

        Raises:
            TimeoutError: the run is not finished yet.
            SynthnbError: what ended the run early.
        """
        self._end.block(timeout)
        return self.frame()

    # what a person sees ----------------------------------------------------------------

    @property
    def folder(self) -> Path:
        """The run's folder: ledger, recipe, exports."""
        return self._store.folder

    @property
    def state(self) -> State:
        """What the run is doing."""
        return self._state

    @property
    def status(self) -> dict[str, int]:
        """Rows by status so far."""
        return dict(self.progress.by_status)

    @property
    def usage(self) -> RunUsage:
        """What this call used, and what the whole run has ever used."""
        return RunUsage.of(self.progress, self._store, self.price)

    @property
    def error(self) -> BaseException | None:
        """What ended the run early; ``None`` while it works and when all went well."""
        return self._error

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield the records so far as plain dicts, in the order of the input rows."""
        return replay(self.recipe, self._store, final=self._state.is_final)

    def frame(self) -> pd.DataFrame:
        """Return the records so far as a DataFrame; see ``frames.COLUMNS``.

        ``attrs`` say ``run_folder``, where decisions on its rows are kept, and
        ``fields``, the columns that the recipe wrote.
        """
        from synthnb.frames import records_frame

        frame = records_frame(
            self.records(), fields=self.recipe.fields, inputs=self._inputs
        )
        frame.attrs["run_folder"] = str(self.folder)
        frame.attrs["fields"] = list(self.recipe.fields)
        return frame

    def errors(self) -> troubles.Troubles:
        """Return the failed rows grouped by kind, each with the next step."""
        return troubles.group(self.records())

    def answers(self, row_id: str) -> list[str]:
        """Return the raw text of every answer that a row got, oldest first."""
        known = self._store.known(self.recipe.step, [row_id])
        return [r.text for _, results in known.values() for r in results.values()]

    def explain(self, key: str) -> Explanation:
        """Tell what happened to one record or row: each attempt, in words.

        Args:
            key: a ``record_id`` or a ``row_id``.

        Raises:
            RunError: there is no such record or row.
        """
        return explain(self.recipe, self._store, key)

    def __repr__(self) -> str:
        """Return name and progress as one line."""
        return f"Run {self.name!r}: {self.progress.line(self._state)}"

    # events ----------------------------------------------------------------------------

    def subscribe(self, listener: Callable[[Event], None]) -> Callable[[], None]:
        """Let ``listener`` hear each event, on the run's loop; return the way out."""
        self._listeners.append(listener)

        def leave() -> None:
            with contextlib.suppress(ValueError):
                self._listeners.remove(listener)

        return leave

    def when_ended(self, callback: Callable[[], object]) -> None:
        """Call ``callback`` once the run has ended; at once if it has."""
        self._end.future.add_done_callback(lambda _: callback())

    def events(self) -> EventStream:
        """Return the events from now on, as an async iterator that ends with the run."""
        return EventStream(self.subscribe, is_over=lambda: self._state.is_final)

    def _is_heard(self) -> bool:
        return bool(self._listeners) or logs.wants_every_answer()

    def _emit(self, event: Event) -> None:
        self._log(event)
        for listener in tuple(self._listeners):
            # A face that fails must not end the batch that it shows.
            with contextlib.suppress(Exception):
                listener(event)

    def _note(self, text: str) -> None:
        self.progress.note = text
        self._emit(Noted(text))

    def _set_state(self, state: State, error: BaseException | None = None) -> None:
        self._state = state
        self._emit(StateChanged(state, error))

    # from the ledger's thread ------------------------------------------------------------

    def _committed(self, tickets: list[int]) -> None:
        self.progress.saved += sum(tickets)

    def _troubled(self, error: StoreError | None) -> None:
        self._call(lambda: self._show_trouble(error))

    def _show_trouble(self, error: StoreError | None) -> None:
        if error is not None and self._store.has_failed:
            # Nothing more can be saved, so nothing more is bought.
            self._gate.break_with(error)
            return
        self._gate.set_disk_trouble(waiting=error is not None)
        self.progress.note = f"waiting: {error.message}" if error else ""
        if error is not None:
            self._emit(Noted(self.progress.note))

    def _call(self, function: Callable[[], None]) -> None:
        """Call on the run's loop, from whatever thread this is."""
        self._end.check()
        loop = self._end.loop
        if loop is None:
            msg = f"run {self.name!r} was not started"
            raise RunError(msg, hint="Make runs with synthnb.generate(…).")
        try:
            running = asyncio.get_running_loop()
        except RuntimeError:
            running = None
        if running is loop:
            function()
        elif not loop.is_closed():
            with contextlib.suppress(RuntimeError):  # closed in this very moment
                loop.call_soon_threadsafe(function)
