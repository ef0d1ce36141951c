"""What the command line prints, and how it ends."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import time
import unicodedata
import warnings
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from synthnb.engine.run import Run
from synthnb.errors import SynthnbError

T = TypeVar("T")

STOPPED = 130
"""Exit status after Ctrl-C, as shells expect it."""
_SECONDS = 0.5
_QUIET_SECONDS = 10.0
_LOG_SECONDS = 1.0


def printable(text: object) -> str:
    """Return text from a model or a file as one harmless line.

    Control, format and bidi characters could move the cursor, recolour or reorder what
    a person reads; they become U+FFFD, line breaks become spaces.
    """
    line = " ".join(str(text).split())
    return "".join("�" if unicodedata.category(c) in _UNSAFE else c for c in line)


_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co"})


class Console:
    """Prints for people on standard error, results on standard output."""

    def __init__(self, *, as_json: bool) -> None:
        """Keep quiet for machines; speak to people."""
        self.as_json = as_json
        self._last_line, self._last_time = "", 0.0
        self._live = sys.stderr.isatty() and not as_json

    def say(self, text: str = "") -> None:
        """Tell a person something; nothing where a machine listens."""
        if not self.as_json:
            print(text, flush=True)

    def result(self, value: dict[str, Any]) -> None:
        """Print a result as one JSON line where a machine listens."""
        if self.as_json:
            print(json.dumps(value, ensure_ascii=False), flush=True)

    def progress(self, line: str, *, end: bool = False) -> None:
        """Show where a long job is: one living line, or one now and then in a log."""
        if self._live:
            print(
                f"\r\x1b[K  {line}",
                end="\n" if end else "",
                file=sys.stderr,
                flush=True,
            )
        elif not self.as_json and (end or self._is_news(line)):
            self._last_line, self._last_time = line, time.monotonic()
            print(f"  {line}", flush=True)

    def _is_news(self, line: str) -> bool:
        waited = time.monotonic() - self._last_time
        return line != self._last_line and waited > _LOG_SECONDS

    async def watch(self, run: Run) -> None:
        """Show a run until it ends; Ctrl-C stops it kindly, twice at once."""
        with _interrupts(run, self):
            step = _SECONDS if self._live else _QUIET_SECONDS
            waiter = asyncio.ensure_future(_ended(run))
            while not waiter.done():
                await asyncio.wait({waiter}, timeout=step)
                if not waiter.done():
                    self.progress(printable(run.progress.line(run.state)))
        self.progress(printable(run.progress.line(run.state)), end=True)


class Watcher:
    """Watches a run that somebody else awaits: what ``rate`` takes as ``show``."""

    def __init__(self, console: Console) -> None:
        """Wait to be handed a run."""
        self._console = console
        self._task: asyncio.Task[None] | None = None
        self._run: Run | None = None

    def __call__(self, run: Run) -> None:
        """Begin to watch."""
        self._run = run
        self._task = asyncio.get_running_loop().create_task(self._console.watch(run))

    async def ended(self) -> Run:
        """Return the run once its last line is printed."""
        assert self._task is not None
        assert self._run is not None
        await self._task
        return self._run


async def _ended(run: Run) -> None:
    while not run.state.is_final:  # noqa: ASYNC110 - the state changes in another loop too
        await asyncio.sleep(0.05)


@contextmanager
def _interrupts(run: Run, console: Console) -> Iterator[None]:
    """Turn Ctrl-C into ``run.stop()`` while a run is watched."""
    loop = asyncio.get_running_loop()

    def stop() -> None:
        console.say("\n  Stopping: what is in flight is kept. Ctrl-C again drops it.")
        run.stop()

    try:
        loop.add_signal_handler(signal.SIGINT, stop)
    except (NotImplementedError, RuntimeError):  # Windows, or no main thread
        yield
        return
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)


def finish(console: Console, work: Callable[[], T]) -> T:
    """Run a command to its end; an error of ours is two lines and exit status 1."""
    import typer

    try:
        with warnings.catch_warnings():
            warnings.showwarning = _warn
            return work()
    except SynthnbError as error:
        kind = type(error).__name__
        console.result({"error": kind, "message": error.message, "next": error.hint})
        print(f"synthnb: {error}", file=sys.stderr)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        raise typer.Exit(STOPPED) from None


def finish_async(console: Console, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run an asynchronous command to its end, in a loop of its own."""
    return finish(console, lambda: asyncio.run(work()))


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    print(f"synthnb: note: {printable(message)}", file=sys.stderr)
