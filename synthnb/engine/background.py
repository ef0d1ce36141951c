"""A loop in a thread of its own, for scripts that have none running."""

from __future__ import annotations

import asyncio
import threading

from synthnb import forked


class _Background:
    """The process's background loop, started on first use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        forked.guard(self)

    def forked(self) -> None:
        """Forget the parent's loop in a forked child: nobody turns it there."""
        self._lock = threading.Lock()
        # Not collected: closing it would empty the poll that both processes share.
        forked.keep(self._loop)
        self._loop = None

    def get(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None or self._loop.is_closed():
                self._loop = _started()
            return self._loop


def _started() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    turning = threading.Event()
    loop.call_soon(turning.set)
    threading.Thread(target=loop.run_forever, name="synthnb-loop", daemon=True).start()
    turning.wait()
    return loop


_background = _Background()


def loop_in_thread() -> asyncio.AbstractEventLoop:
    """Return the process's background loop, started on first use.

    The thread is a daemon: a script that ends does not hang, and what was committed is
    in the ledger.
    """
    return _background.get()
