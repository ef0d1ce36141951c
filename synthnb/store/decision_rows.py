"""Decisions as the text that the log keeps, and back; lossless for any text."""

from __future__ import annotations

import json
from typing import Any

from synthnb.records import Decision

# ASCII: a lone surrogate of a model's text becomes an escape, which UTF-8 can hold and
# which comes back as what it was.
_ENCODER = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"))
_WHAT = ("edited", "was", "tags", "stars", "note", "seen")


def what_of(decision: Decision) -> str | None:
    """Return what was said beside the action, as JSON; ``None`` where nothing was."""
    _, _, *values = decision
    if values == [None] * len(_WHAT):
        return None
    told = {n: v for n, v in zip(_WHAT, values, strict=True) if v is not None}
    return _ENCODER.encode(told)


def decision_of(record_id: str, action: Any, what: str | None) -> Decision:
    """Return the decision that a row of the log holds."""
    if what is None:
        return Decision(record_id, action)
    told = json.loads(what)
    if "tags" in told:
        told["tags"] = tuple(told["tags"])
    return Decision(record_id, action, *(told.get(name) for name in _WHAT))


def storable(text: str) -> str:
    """Write lone surrogates as escapes: the log's own columns are UTF-8."""
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode()
