"""A log of decisions with its replay, shared by all that use it in this process."""

from __future__ import annotations

import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path

from synthnb.curation.decisions import DecisionBook
from synthnb.records import Decision, Step
from synthnb.store.decisions import DecisionLog

Listener = Callable[[set[str]], None]
"""Told the keys of the records about which something was said or taken back."""

_KEPT = 8


class LiveLog:
    """One log; every view and call of this process on it sees each other at once.

    What other processes write is taken up by ``sync``, which every call does first.

    Attributes:
        lock: held while the book is read or the log written; whoever looks at several
            records together holds it meanwhile. Listeners are called under it.
        book: the decisions as they stand.
    """

    def __init__(self, folder: Path) -> None:
        """Name the folder; nothing is made there before the first decision."""
        self.log = DecisionLog(folder)
        self.lock = threading.RLock()
        self.book = DecisionBook()
        self._listeners: list[weakref.WeakMethod[Listener]] = []

    @property
    def path(self) -> Path:
        """The file."""
        return self.log.path

    def problem(self) -> str | None:
        """Return why no decision could be saved, as far as looking tells."""
        folder = self.path
        while not folder.exists() and folder != folder.parent:
            folder = folder.parent
        if os.access(folder, os.W_OK):
            return None
        return f"{folder} cannot be written: decisions would not be saved there"

    def sync(self) -> None:
        """Take up what was written since, and tell the listeners.

        Raises:
            StoreError: the log cannot be read.
        """
        with self.lock:
            self._take(self.log.read(self.book.last))

    def append(self, decisions: Sequence[Decision], *, by: str) -> Step:
        """Add a step; on disk when this returns.

        Raises:
            StoreError: it could not be saved, and nothing has changed.
        """
        with self.lock:
            step = self.log.append(decisions, by=by)
            self._take_up(step)
            return step

    def undo(self, *, by: str) -> Step | None:
        """Take back the last step of ``by`` that stands.

        Returns:
            The step that was taken back; ``None`` where there is none.

        Raises:
            StoreError: it could not be saved, and nothing has changed.
        """
        with self.lock:
            step = self.log.undo(by=by)
            if step is None or step.undoes is None:
                return None
            self._take_up(step)
            return self.book.step(step.undoes)

    def subscribe(self, method: Listener) -> None:
        """Call a bound method after each change, for as long as its object lives."""
        with self.lock:
            self._listeners.append(weakref.WeakMethod(method))

    def _take_up(self, step: Step) -> None:
        """Take our own step, and before it what others wrote meanwhile."""
        alone = step.number == self.book.last + 1
        self._take([step] if alone else self.log.read(self.book.last))

    def _take(self, steps: list[Step]) -> None:
        if not steps:
            return
        touched = self.book.feed(steps)
        self._listeners = [method for method in self._listeners if method() is not None]
        for method in self._listeners:
            if (listener := method()) is not None:
                listener(touched)


_live: weakref.WeakValueDictionary[Path, LiveLog] = weakref.WeakValueDictionary()
_recent: OrderedDict[Path, LiveLog] = OrderedDict()
"""Kept alive, so that a loop over ``decide`` does not read the log anew each time."""
_finding = threading.Lock()


def live_log(folder: Path) -> LiveLog:
    """Return the live log of a folder, the same one for everybody in this process."""
    folder = folder.resolve()
    with _finding:
        live = _live.get(folder)
        if live is None or live.log.is_gone:
            live = _live[folder] = LiveLog(folder)
        _recent[folder] = live
        _recent.move_to_end(folder)
        while len(_recent) > _KEPT:
            _recent.popitem(last=False)
        return live
