"""Stable hashes: the same content gives the same id on every machine and version.

BLAKE2b (RFC 7693) over canonical JSON: sorted keys, no white space, UTF-8.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from typing import Any

from synthnb.records import Message, Request, Row, Sampling

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
    return content_hash(dict(row))


def request_key(model: str | None, request: Request) -> str:
    """Return the 32-character identity of a request to a model.

    Over model, messages, sampling (seed included) and schema; *not* over base URL, key,
    concurrency or time-outs: moving to another replica buys nothing again.
    """
    # Each part goes in behind its length, so no two requests give the same bytes; a
    # JSON document of the whole would cost five times as much on the hot path.
    digest = blake2b(digest_size=16)
    for text in (model or "", *chain.from_iterable(map(_parts, request.messages))):
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    digest.update(_sampling_bytes(request.sampling))
    if request.schema is not None:
        digest.update(canonical(request.schema))
    return digest.hexdigest()


def _parts(message: Message) -> tuple[str, str]:
    return message.role, message.content


@lru_cache(maxsize=1024)
def _sampling_bytes(sampling: Sampling) -> bytes:
    return canonical(asdict(sampling))


def record_id(step: str, row_id: str, sample_index: int, item: int) -> str:
    """Return the id of the ``item``-th record of a slot; stable across runs."""
    return content_hash([step, row_id, sample_index, item])
