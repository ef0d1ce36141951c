"""What a forked child must leave alone: its parent's locks, open databases, connections.

A child that uses or closes its parent's SQLite connection may destroy the database
(https://sqlite.org/howtocorrupt.html, 2.6); what it writes to a socket goes into the middle
of its parent's requests; and threads and loops do not come along at all.
"""

from __future__ import annotations

import os
import weakref
from typing import Protocol

from synthnb.errors import StoreError


class Guarded(Protocol):
    """Something that must know when it is a forked copy."""

    def forked(self) -> None:
        """Become unusable, in the child, before any other code runs there."""


_guarded: weakref.WeakSet[Guarded] = weakref.WeakSet()
_kept: list[object] = []


def guard(thing: Guarded) -> None:
    """Call ``thing.forked()`` in each child that is forked while it lives."""
    _guarded.add(thing)


def keep(*things: object) -> None:
    """Never let go of what is the parent's: the end of an object may close it."""
    _kept.extend(things)


def refusal(what: str) -> StoreError:
    """Return the error for everything that a child asks of what its parent does.

    Args:
        what: e.g. ``"the run 'handbook'"``.
    """
    msg = f"{what} belongs to process {os.getppid()}, which forked this one"
    hint = (
        "Make the run in the child itself, or start processes by 'spawn': "
        "multiprocessing.set_start_method('spawn')."
    )
    return StoreError(msg, hint=hint)


def _in_child() -> None:
    for thing in tuple(_guarded):
        thing.forked()


if hasattr(os, "register_at_fork"):  # not on Windows, which cannot fork
    os.register_at_fork(after_in_child=_in_child)
