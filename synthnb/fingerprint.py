"""Stable hashes: the same content gives the same id on every machine and version.

BLAKE2b (RFC 7693) over canonical JSON: sorted keys, no white space, UTF-8.
"""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any

from synthnb.records import Request, Row


def canonical(value: Any) -> bytes:
    """Return ``value`` as canonical JSON bytes.

    Lone surrogates are kept (``surrogatepass``), so hostile text has an id as well;
    what JSON does not know (dates, decimals) is taken as its ``str``.
    """
    text = json.dumps(
        value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str
    )
    return text.encode("utf-8", "surrogatepass")


def content_hash(value: Any, *, size: int = 8) -> str:
    """Return a hex digest of ``value``'s canonical JSON, ``2 * size`` characters."""
    return blake2b(canonical(value), digest_size=size).hexdigest()


def row_hash(row: Row) -> str:
    """Return the 16-character id of a row's content."""
    return content_hash(dict(row))


def request_key(model: str | None, request: Request) -> str:
    """Return the 32-character identity of a request to a model.

    Over model, messages, sampling (seed included) and schema; *not* over base URL, key,
    concurrency or time-outs: moving to another replica buys nothing again.
    """
    sampling = request.sampling
    return content_hash(
        {
            "model": model,
            "messages": [[m.role, m.content] for m in request.messages],
            "sampling": [
                sampling.temperature,
                sampling.top_p,
                sampling.max_tokens,
                sampling.seed,
                sampling.stop,
            ],
            "schema": request.schema,
        },
        size=16,
    )


def record_id(step: str, row_id: str, sample_index: int, item: int) -> str:
    """Return the id of the ``item``-th record of a slot; stable across runs."""
    return content_hash([step, row_id, sample_index, item])
