"""The one module that may nest event loops, and only on the first synchronous wait."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from synthnb.errors import RunError

T = TypeVar("T")


def wait_nested(loop: asyncio.AbstractEventLoop, awaitable: Awaitable[T]) -> T:
    """Run the loop that is already running until ``awaitable`` is done.

    For ``run.wait()`` in a notebook's cell. It is the second-best way: widgets may miss
    clicks meanwhile, so the message of every failure names ``await run``.

    Raises:
        RunError: this loop cannot be nested (uvloop).
    """
    import nest_asyncio

    try:
        nest_asyncio.apply(loop)
    except ValueError as error:
        msg = f"run.wait() cannot wait inside this event loop: {error}"
        raise RunError(msg, hint="Write `await run` instead.") from error
    # The turn of the loop that we are called from still means to take as many callbacks
    # as it saw; the nested turns take them first. One that finds none ends the kernel.
    ready = getattr(loop, "_ready", ())
    expected = len(ready)
    try:
        return loop.run_until_complete(awaitable)
    finally:
        for _ in range(expected - len(ready)):
            loop.call_soon(_nothing)


def _nothing() -> None:
    """Stand in for a callback that a nested turn of the loop has taken."""
