"""The RunMonitor: what a ``Run`` shows in a notebook, live and when it has ended."""

from __future__ import annotations

import asyncio
import contextvars
import weakref
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from IPython.core.getipython import get_ipython
from IPython.display import DisplayHandle

from synthnb.engine.events import Event, StateChanged
from synthnb.engine.progress import State
from synthnb.engine.run import Run
from synthnb.widgets.channel import Message, View
from synthnb.widgets.markup import to_html
from synthnb.widgets.monitor_curves import curves
from synthnb.widgets.monitor_model import CLOCKS, MonitorModel, Snapshot
from synthnb.widgets.monitor_static import finished, line, unfinished

_SECONDS = 0.25
"""Four updates a second, and one more at the end."""
_SUBSHELLS = 7
"""The ipykernel that hears clicks while a cell awaits."""


class MonitorView(View, module="monitor"):
    """A run's counters, curves and buttons; every open page shows the same.

    A page is sent what changed. One that was reloaded, or missed something, asks for all
    of it; after the run's end too, as long as the kernel lives.
    """

    def __init__(self, run: Run, model: MonitorModel) -> None:
        """Show ``run`` as ``model`` sees it."""
        super().__init__()
        self._run: Run | None = run
        self._model: MonitorModel | None = model
        self._opened = False
        self._number = 0
        self._sent: Snapshot = {}
        self._late = _clicks_come_late()

    # what a front end asks --------------------------------------------------------------

    def on_open(self, _message: Message) -> Message:
        """Answer a page that has just begun to show the run."""
        self._opened = True
        return self.on_sync(_message)

    def on_sync(self, _message: Message) -> Message:
        """Answer a page that heard nothing for a while."""
        # The number first: an update that comes in between is then taken once more.
        number = self._number
        return {"number": number, "late": self._late, "all": self._whole()}

    def on_pause(self, _message: Message) -> None:
        """Send nothing new for the time being."""
        if self._run is not None:
            self._run.pause()

    def on_resume(self, _message: Message) -> None:
        """Go on sending."""
        if self._run is not None:
            self._run.resume()

    def on_stop(self, message: Message) -> None:
        """Stop; with ``now`` what is in flight is dropped.

        A page that does not know yet that the run is stopping cannot drop anything.
        """
        run = self._run
        if run is not None and (run.state is not State.STOPPING or message.get("now")):
            run.stop()

    # what the kernel tells --------------------------------------------------------------

    def update(self) -> None:
        """Look at the run and send every page what changed, if anything did."""
        if self._model is not None:
            self._model.observe()
        now = self._whole()
        changes = {k: v for k, v in now.items() if self._sent.get(k, _NEVER) != v}
        if changes.keys() <= CLOCKS:
            return
        changes |= {key: now[key] for key in CLOCKS}
        self._sent = now
        self._number += 1
        if self._opened:
            self.push("state", number=self._number, changes=changes)

    def finish(self) -> Snapshot:
        """Take the last look, tell it, and let go of the run; return what was seen."""
        self.update()
        if self._model is not None:
            self._model.close()
        self._run = self._model = None
        self._rest()
        return self._sent

    def _rest(self) -> None:
        """Let the thread go; a page that is opened later gets a new one."""
        with self._starting:
            worker = self._worker
            if worker is None:
                return
            self._worker = ThreadPoolExecutor(1, thread_name_prefix="synthnb-monitor")
        worker.shutdown(wait=False)

    def _whole(self) -> Snapshot:
        model = self._model
        if model is None:
            return self._sent
        snapshot = model.snapshot()
        snapshot["curves"] = curves(snapshot["series"])
        if snapshot["final"]:
            snapshot["block"] = finished(snapshot)
        return snapshot


_NEVER = object()


class Monitor:
    """One run, its view, and the outputs that show it; followed until the run ends."""

    def __init__(self, run: Run) -> None:
        """Begin to follow ``run`` in the running loop."""
        self._run: Run | None = run
        self._handles: list[Any] = []
        self.view = MonitorView(run, MonitorModel(run))
        self._leave: Callable[[], None] | None = run.subscribe(self._hear)
        self._task: asyncio.Task[None] | None = None
        self.last: Snapshot | None = None
        self._follow()

    def show(self) -> None:
        """Show the run in the cell that works just now."""
        handle: Any = DisplayHandle()  # type: ignore[no-untyped-call]
        self._handles.append(handle)
        handle.display(self._bundle(), raw=True)

    def _bundle(self) -> Mapping[str, Any]:
        """Return the live view, with what stands in for it where there is no kernel."""
        run = self._run
        assert run is not None
        model = self.view.on_sync({})["all"]
        return {
            "text/plain": repr(run),
            "text/html": to_html(unfinished(model)),
            "application/vnd.jupyter.widget-view+json": {
                "version_major": 2,
                "version_minor": 0,
                "model_id": self.view.model_id,
            },
        }

    def _hear(self, event: Event) -> None:
        # At once, not with the next look: where the last cell awaits the run, the kernel
        # may be gone a moment later (nbclient, papermill).
        if isinstance(event, StateChanged) and event.state.is_final:
            self._end()

    def _end(self) -> None:
        run, self._run = self._run, None
        if run is None:
            return
        leave, self._leave = self._leave, None
        if leave is not None:  # it knows the run, which is let go here
            leave()
        last = self.last = self.view.finish()
        # In a context of its own: this one says that the message belongs to the cell that
        # started the run, and nbclient takes only what belongs to the one that works now.
        contextvars.Context().run(self._show_end, static_bundle(last))

    def _show_end(self, bundle: Mapping[str, str]) -> None:
        for handle in self._handles:
            handle.update(bundle, raw=True)
        self._handles.clear()

    def _follow(self) -> None:
        try:
            loop = asyncio.get_running_loop()
        except (
            RuntimeError
        ):  # a thread of the user's own: the end is shown all the same
            return
        self._task = loop.create_task(self._watch())
        self._task.add_done_callback(self._follow_on)

    def _follow_on(self, task: asyncio.Task[None]) -> None:
        # An interrupt of the kernel may hit this task instead of the cell that was meant.
        if self._run is not None and not asyncio.get_running_loop().is_closed():
            if not task.cancelled():
                task.exception()
            self._follow()

    async def _watch(self) -> None:
        while (run := self._run) is not None:
            if run.state.is_final:  # it ended before it was listened to
                self._end()
                return
            self.view.update()
            await asyncio.sleep(_SECONDS)


_monitors: weakref.WeakKeyDictionary[Run, Monitor] = weakref.WeakKeyDictionary()


def show(run: Run) -> None:
    """Show a run in the cell's output: live until it ends, then as a static block."""
    monitor = _monitors.get(run)
    if run.state.is_final or not _in_kernel():
        last = monitor.last if monitor is not None else None
        handle: Any = DisplayHandle()  # type: ignore[no-untyped-call]
        handle.display(static_bundle(last or _glance(run)), raw=True)
        return
    if monitor is None:
        monitor = _monitors[run] = Monitor(run)
    monitor.show()


def _glance(run: Run) -> Snapshot:
    model = MonitorModel(run)
    model.close()
    return model.snapshot()


def static_bundle(snapshot: Snapshot) -> Mapping[str, str]:
    """Return a run as text and as HTML; all text in the HTML is escaped."""
    if not snapshot["final"]:
        block, text = unfinished(snapshot), snapshot["state"]
    else:
        block, text = finished(snapshot), line(snapshot)
    return {
        "text/plain": f"Run {snapshot['name']!r}: {text}",
        "text/html": to_html(block),
    }


def register_formatter() -> None:
    """Tell the running IPython how to show a ``Run``."""
    shell = get_ipython()
    if shell is None:
        return
    formatter: Any = shell.display_formatter
    formatter.ipython_display_formatter.for_type(Run, show)


def _in_kernel() -> bool:
    """Whether somebody could draw a widget: a terminal's IPython has no kernel."""
    return getattr(get_ipython(), "kernel", None) is not None


def _clicks_come_late() -> bool:
    """Whether clicks are heard only when the running cell has ended (ipykernel 6)."""
    try:
        major = version("ipykernel").partition(".")[0]
    except PackageNotFoundError:
        return False
    return int(major) < _SUBSHELLS
