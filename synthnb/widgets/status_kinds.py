"""Which statuses want attention and which are errors: one answer for every picture."""

from __future__ import annotations

from synthnb.records import Status

_ATTENTION = frozenset(
    {Status.TRUNCATED, Status.NO_JSON, Status.SCHEMA, Status.CANCELLED}
)


def kind_of(status: str) -> str:
    """Return whether a status is ok, wants attention or is an error; "" if unknown."""
    if status == Status.OK:
        return "ok"
    if status in _ATTENTION:
        return "attention"
    return "error" if status in set(Status) else ""
