"""What a forked child must leave alone: its parent's locks and open databases.

A child that uses or closes its parent's SQLite connection may destroy the database
(https://sqlite.org/howtocorrupt.html, 2.6), and threads do not come along at all.
"""

from __future__ import annotations

import os
import sqlite3
import weakref
from pathlib import Path
from typing import Protocol

from synthnb.errors import StoreError


class Guarded(Protocol):
    """Something that must know when it is a forked copy."""

    def forked(self) -> None:
        """Become unusable, in the child, before any other code runs there."""


_guarded: weakref.WeakSet[Guarded] = weakref.WeakSet()
_kept: list[sqlite3.Connection] = []


def guard(thing: Guarded) -> None:
    """Call ``thing.forked()`` in each child that is forked while it lives."""
    _guarded.add(thing)


def keep(connection: sqlite3.Connection) -> None:
    """Never close a connection of the parent's in the child."""
    _kept.append(connection)


def refusal(path: Path) -> StoreError:
    """Return the error for everything that a child asks of its parent's ledger."""
    msg = f"the ledger {path} belongs to process {os.getppid()}, which forked this one"
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
