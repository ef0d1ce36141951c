"""A loop in a thread of its own, for scripts that have none running."""

from __future__ import annotations

import asyncio
import threading


def loop_in_thread() -> asyncio.AbstractEventLoop:
    """Return the process's background loop, started on first use.

    The thread is a daemon: a script that ends does not hang, and what was committed is
    in the ledger.
    """
    with _lock:
        loop = _loops.get("loop")
        if loop is None or loop.is_closed():
            loop = asyncio.new_event_loop()
            thread = threading.Thread(
                target=loop.run_forever, name="synthnb-loop", daemon=True
            )
            turning = threading.Event()
            loop.call_soon(turning.set)
            thread.start()
            turning.wait()
            _loops["loop"] = loop
        return loop


_lock = threading.Lock()
_loops: dict[str, asyncio.AbstractEventLoop] = {}
