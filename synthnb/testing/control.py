"""``POST /__set``: changes a fault server that runs as a process of its own."""

from __future__ import annotations

from typing import Any, Protocol

from synthnb.testing.capacity import Capacity
from synthnb.testing.chat import ChatScript
from synthnb.testing.faults import Fault
from synthnb.testing.outages import Outage
from synthnb.testing.wire import Reply


class Settable(Protocol):
    """What may be changed."""

    chat: ChatScript
    loading: bool
    outages: list[Outage]

    @property
    def capacity(self) -> Any:
        """The limit."""

    @capacity.setter
    def capacity(self, capacity: Any) -> None: ...


def change(server: Settable, wanted: Any) -> Reply:
    """Change what is named: all of it, or, with a 400 that says why, nothing.

    ``capacity`` (an object, a list of them or null), ``faults``, ``outages`` (lists),
    ``loading``, ``latency`` (seconds), ``thinking``, ``served_model``, ``models``.
    """
    try:
        done = _read(wanted)
    except (TypeError, ValueError) as error:
        return Reply.json(400, {"detail": str(error)})
    for name, value in done.items():
        if name == "faults":
            server.chat.script.replace(value)
        elif name in {"capacity", "loading", "outages"}:
            setattr(server, name, value)
        else:
            setattr(server.chat, name, value)
    return Reply.json(200, {"changed": sorted(done)})


def _read(wanted: Any) -> dict[str, Any]:
    if not isinstance(wanted, dict):
        raise TypeError("an object with the settings is wanted")
    plain = {"loading", "latency", "thinking", "served_model", "models"}
    values: dict[str, Any] = {}
    for name, value in wanted.items():
        if name in plain:
            values[name] = value
        elif name == "capacity":
            given = [value] if isinstance(value, dict) else value or []
            values[name] = [Capacity(**one) for one in given]
        elif name == "faults":
            values[name] = [Fault(**one) for one in value]
        elif name == "outages":
            values[name] = [Outage(**one) for one in value]
        else:
            raise ValueError(f"{name!r} cannot be changed")
    return values
