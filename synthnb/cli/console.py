"""What the command line prints, and how it ends."""

from __future__ import annotations

import asyncio
import io
import json
import signal
import sys
import time
import unicodedata
import warnings
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, TypeVar

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
    return harmless(" ".join(str(text).split()))


def harmless(text: str) -> str:
    """Return text without what a terminal would obey; its lines stay lines.

    A server's model names and errors, and names of files, are other people's text too.
    """
    return "".join(
        "�" if c not in _LAYOUT and unicodedata.category(c) in _UNSAFE else c
        for c in text
    )


_LAYOUT = frozenset("\n\t")
_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co"})


class Console:
    """Prints for people on standard error, results on standard output."""

    def __init__(self, *, as_json: bool) -> None:
        """Keep quiet for machines; speak to people."""
        self.as_json = as_json
        self._last_line, self._last_time = "", 0.0
        terminal = sys.stderr is not None and sys.stderr.isatty()
        self._live = terminal and not as_json

    def say(self, text: str = "") -> None:
        """Tell a person something; nothing where a machine listens."""
        if not self.as_json:
            print(harmless(text), flush=True)

    def result(self, value: dict[str, Any]) -> None:
        """Print a result as one JSON line where a machine listens."""
        if self.as_json and sys.stdout is not None:
            line = json.dumps(value, ensure_ascii=False)
            try:
                line.encode(sys.stdout.encoding or "utf-8")
            except UnicodeEncodeError:  # a narrow terminal, or a file name of odd bytes
                line = json.dumps(value)
            print(line, flush=True)

    def failed(self, kind: str, message: str, next_step: str) -> None:
        """Print an error as the one line of JSON where a machine listens."""
        self.result({"error": kind, "message": message, "next": next_step})

    def progress(self, line: str, *, end: bool = False) -> None:
        """Show where a long job is: one living line, or one now and then in a log."""
        line = harmless(line)
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
    """Run a command to its end; an error of ours is two lines and exit status 1.

    Any other error is a fault of ours: it keeps its traceback, and a machine is told.
    """
    import typer

    try:
        with warnings.catch_warnings():
            warnings.showwarning = _warn
            # They are notes for the person, whatever PYTHONWARNINGS makes of others.
            warnings.simplefilter("always", UserWarning)
            return work()
    except SynthnbError as error:
        console.failed(type(error).__name__, error.message, error.hint)
        _tell(f"synthnb: {error}")
        raise typer.Exit(1) from None
    except BrokenPipeError:
        raise  # nobody reads on (``| head``): typer ends quietly
    except KeyboardInterrupt:
        console.failed("KeyboardInterrupt", "stopped", "The same command goes on.")
        raise typer.Exit(STOPPED) from None
    except Exception as error:
        console.failed(
            type(error).__name__, str(error), "Standard error holds the traceback."
        )
        raise


def finish_async(console: Console, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run an asynchronous command to its end, in a loop of its own."""

    def run() -> T:
        # Not asyncio.run: where nest-asyncio has patched it, it leaves its loop open.
        with asyncio.Runner() as runner:
            return runner.run(work())

    return finish(console, run)


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    _tell(f"synthnb: note: {printable(message)}")


def _tell(text: str) -> None:
    if sys.stderr is not None:  # else print() would take standard output
        print(harmless(text), file=sys.stderr)


def print_anywhere() -> None:
    """Let no character that a terminal lacks end a command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def unprintable(error: OSError) -> NoReturn:
    """End where standard output takes nothing any more, e.g. on a full disk."""
    _tell(f"synthnb: {error.strerror or error}")
    _tell("  → Make room there; what the command had written is whole.")
    sys.stdout = None  # or Python tries once more at exit
    raise SystemExit(1)
