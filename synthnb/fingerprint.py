"""Stable hashes: the same content gives the same id on every machine and version.

BLAKE2b (RFC 7693) over canonical JSON: sorted keys, no white space, UTF-8.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import orjson

from synthnb.records import Request, Row, Sampling

_ENCODER = json.JSONEncoder(
    sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str
)


def canonical(value: Any) -> bytes:
    """Return ``value`` as canonical JSON bytes.

    Lone surrogates are kept (``surrogatepass``), so hostile text has an id as well;
    what JSON does not know (dates, decimals) is taken as its ``str``.
    """
    return _ENCODER.encode(value).encode("utf-8", "surrogatepass")


def content_hash(value: Any, *, size: int = 8) -> str:
    """Return a hex digest of ``value``'s canonical JSON, ``2 * size`` characters."""
    return blake2b(canonical(value), digest_size=size).hexdigest()


def row_hash(row: Row) -> str:
    """Return the 16-character id of a row's content."""
    data = _plain_bytes(row) or canonical(dict(row))
    return blake2b(data, digest_size=8).hexdigest()


_SAME = frozenset({str, int, bool, type(None)})
"""Types that orjson and ``canonical`` write alike; floats differ (1e16, NaN)."""


def _plain_bytes(row: Row) -> bytes | None:
    """Return the canonical JSON of an ordinary row five times as fast, if it is one."""
    if type(row) is not dict:
        return None
    for key, value in row.items():
        if type(value) not in _SAME or type(key) is not str:
            return None
    try:
        return orjson.dumps(row, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # a lone surrogate, an integer over 64 bits
        return None


def request_key(model: str | None, request: Request) -> str:
    """Return the 32-character identity of a request to a model.

    Over model, messages, sampling (seed included) and schema; *not* over base URL, key,
    concurrency or time-outs: moving to another replica buys nothing again.
    """
    # Each part goes in behind its length, so no two requests give the same bytes; a
    # JSON document of the whole would cost five times as much on the hot path.
    parts = [_measured(model or "")]
    for message in request.messages:
        data = message.content.encode("utf-8", "surrogatepass")
        parts += (_measured(message.role), len(data).to_bytes(8, "big"), data)
    parts.append(_sampling_bytes(request.sampling))
    if request.schema is not None:
        parts.append(canonical(request.schema))
    return blake2b(b"".join(parts), digest_size=16).hexdigest()


@lru_cache(maxsize=256)
def _measured(text: str) -> bytes:
    """Return a text of the few that come again and again, behind its length."""
    data = text.encode("utf-8", "surrogatepass")
    return len(data).to_bytes(8, "big") + data


@lru_cache(maxsize=1024)
def _sampling_bytes(sampling: Sampling) -> bytes:
    return canonical(asdict(sampling))


def record_id(step: str, row_id: str, sample_index: int, item: int) -> str:
    """Return the id of the ``item``-th record of a slot; stable across runs."""
    return content_hash([step, row_id, sample_index, item])
