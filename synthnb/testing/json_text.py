"""JSON bytes, also of texts that UTF-8 cannot hold."""

from __future__ import annotations

import json
from typing import Any

import orjson


def dumps(value: Any) -> bytes:
    r"""Return the value as JSON.

    A lone surrogate (half of a UTF-16 pair) has no UTF-8 form. It is then written as
    ``\udXXX``, as Python's and JavaScript's encoders do, and so reaches a client.
    """
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value, separators=(",", ":")).encode()
