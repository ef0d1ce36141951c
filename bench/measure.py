"""One measurement in a process of its own; prints its figures as one JSON line.

measure.py NAME [--url URL] [--n N] [--c C] [--timeout S] [--fixed] [--folder PATH].
``good`` of ``n`` answers were right; what is printed otherwise depends on the measurement.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import json
import os

MEASUREMENTS = {
    "aiohttp": ("senders", "aiohttp_"),
    "openai": ("senders", "openai_"),
    "client": ("senders", "client_"),
    "run": ("senders", "run_"),
    "resumable": ("senders", "resumable"),
    "iterator": ("large", "iterator"),
    "lag": ("large", "lag"),
    "fill_ledger": ("large", "fill_ledger"),
    "resume": ("large", "resume"),
    "committed": ("ledger", "committed"),
    "executemany": ("ledger", "executemany"),
    "commit": ("ledger", "commit"),
    "deduplicate": ("duplicates", "deduplicate"),
    "datasketch": ("duplicates", "datasketch"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=MEASUREMENTS)
    parser.add_argument("--url", help="ends in /v1")
    parser.add_argument("--n", type=int, default=5000)
    parser.add_argument("--c", type=int, default=64, help="requests at a time")
    parser.add_argument("--timeout", type=float, default=60, help="seconds a request")
    parser.add_argument(
        "--fixed", action="store_true", help="Limits(adaptive=False): c from the start"
    )
    parser.add_argument("--folder", help="where a run lives that outlives this process")
    options = parser.parse_args()
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        os.environ.pop(name, None)
        os.environ.pop(name.lower(), None)
    module, function = MEASUREMENTS[options.name]
    measurement = getattr(importlib.import_module(module), function)
    figures = asyncio.run(measurement(options))
    print(json.dumps({"name": options.name, "n": options.n, **figures}))


if __name__ == "__main__":
    main()
