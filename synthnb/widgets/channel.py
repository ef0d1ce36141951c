"""The kernel's half of a view: questions of its front ends, answered in order.

A callback of a widget arrives on the main thread, or on a subshell's thread with a loop
of its own, as the version of ipykernel has it. So nothing is done there: each view has
one worker thread that takes the messages in their order, and the kernel's loop is never
held by a click.
"""

from __future__ import annotations

import contextlib
import contextvars
import logging
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

import anywidget

from synthnb.errors import SynthnbError
from synthnb.widgets.assets import css, esm

_log = logging.getLogger(__name__)

Message = dict[str, Any]

_GAP_SECONDS = 0.5


class _Order:
    """Puts the numbered messages of each front end into the order they were sent in.

    ipykernel 7.4 hands a front end's messages over on several threads, so one that was
    sent later may arrive first (seen once in some hundred tries).
    """

    def __init__(self) -> None:
        self._next: dict[str, int] = {}
        self._early: dict[str, dict[int, Message]] = {}

    def take(self, message: Message) -> list[Message]:
        """Return the messages that may be handled now."""
        sender, _, number = str(message.get("ask", "")).rpartition("-")
        if not sender or not number.isdecimal():
            return [message]
        due = self._next.setdefault(sender, 1)
        if int(number) < due:
            return [message]
        early = self._early.setdefault(sender, {})
        early[int(number)] = message
        ready = []
        while due in early:
            ready.append(early.pop(due))
            due += 1
        self._next[sender] = due
        return ready

    @property
    def has_gap(self) -> bool:
        """Whether a message is held back for one that was sent before it."""
        return any(self._early.values())

    def give_up(self) -> list[Message]:
        """Return what is held back: the messages before it are lost."""
        held = []
        for sender, early in self._early.items():
            if early:
                self._next[sender] = max(early) + 1
                held += [early[number] for number in sorted(early)]
                early.clear()
        return held


class View(anywidget.AnyWidget):
    """A thin view: it hands each message to ``on_<op>`` and sends back what that returns.

    Subclasses name their module of ``static/`` and write one method an operation,
    ``on_decide(self, message) -> dict | None``. Nothing is synced but what anywidget
    itself needs: whatever is a trait ends up in saved notebooks.
    """

    _operations: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, *, module: str = "", **options: Any) -> None:
        """Take the front end's half from ``static/<module>.js`` and ``.css``."""
        if module:
            cls._esm, cls._css = esm(module), css(module)
        super().__init_subclass__(**options)
        own = cls.__mro__[: cls.__mro__.index(View)]
        # ipywidgets has methods of such names, which no front end may call.
        names = (name for part in own for name in vars(part))
        cls._operations = frozenset(n for n in names if n.startswith("on_"))

    def __init__(self) -> None:
        """Make the view; it costs a thread only once somebody has opened it."""
        super().__init__()
        self._worker: ThreadPoolExecutor | None = None
        self._order = _Order()
        self._starting = threading.Lock()
        self.on_msg(_receiver(weakref.ref(self)))

    def push(self, op: str, **content: Any) -> None:
        """Send to every open front end, from any thread."""
        self.send({"op": op, **content})

    def close(self) -> None:
        """Take the view off the page and end its thread."""
        super().close()
        if self._worker is not None:
            self._worker.shutdown(wait=False, cancel_futures=True)

    def receive(self, message: Any) -> None:
        """Take one message of a front end; returns at once."""
        if not isinstance(message, dict) or not isinstance(message.get("op"), str):
            return
        with self._starting:
            if self._worker is None:
                name = f"synthnb-{type(self).__name__}"
                self._worker = ThreadPoolExecutor(1, thread_name_prefix=name)
            self._submit(self._worker, self._order.take(message))
            if self._order.has_gap:
                timer = threading.Timer(_GAP_SECONDS, self._skip_gap)
                timer.daemon = True
                timer.start()

    def _skip_gap(self) -> None:
        with self._starting:
            if self._worker is not None:
                self._submit(self._worker, self._order.give_up())

    def _submit(self, worker: ThreadPoolExecutor, messages: list[Message]) -> None:
        for message in messages:
            # The context says which request an answer belongs to; without it the front
            # end would put it down to whatever cell runs.
            context = contextvars.copy_context()
            with contextlib.suppress(RuntimeError):  # closed in this very moment
                worker.submit(context.run, self._answer, message)

    def _answer(self, message: Message) -> None:
        answer = self._outcome(message)
        # Not "id": that word belongs to the records that messages are about.
        if "ask" in message:
            self.send({**answer, "re": message["ask"]})

    def _outcome(self, message: Message) -> Message:
        name = f"on_{message['op']}"
        if name not in self._operations:
            return {"error": f"this view has no operation {message['op']!r}"}
        handler: Callable[[Message], Message | None] = getattr(self, name)
        try:
            return handler(message) or {}
        except SynthnbError as error:
            return {"error": error.message, "hint": error.hint}
        except Exception as error:  # noqa: BLE001 - logged and shown, never swallowed
            # Also the front end's part must hear of it, else a click does nothing.
            _log.exception("the view's operation %s failed", message["op"])
            return {"error": f"{type(error).__name__}: {error}"}


def _receiver(view: weakref.ref[View]) -> Callable[[Any, Any, Any], None]:
    """Return a handler that keeps no view alive by being registered with it."""

    def handle(_widget: Any, content: Any, _buffers: Any) -> None:
        target = view()
        if target is not None:
            target.receive(content)

    return handle
