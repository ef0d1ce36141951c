"""The process that the kill test kills: one run against a server, acknowledging saves.

Usage: victim.py URL FOLDER ROWS CONCURRENCY
Prints ``saved N`` after each commit, ``done REQUESTS`` at the end.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import synthnb as sn


async def main(url: str, folder: str, rows: int, concurrency: int) -> None:
    provider = sn.Provider(url, model="fault-model")
    data = ({"n": n, "text": f"#R{n}#"} for n in range(rows))
    recipe = sn.Prompt("Row {{ text }}", field="reply")
    limits = sn.Limits(max_concurrency=concurrency)
    run = sn.generate(recipe, data, provider, folder=Path(folder), limits=limits)
    committed = run._committed
    total = 0

    def acknowledge(tickets: list[int]) -> None:
        nonlocal total
        committed(tickets)
        total += len(tickets)
        if tickets:  # not the commit of a note about the run
            print("saved", total, flush=True)

    run._store._writer._on_commit = acknowledge
    await run
    print("done", run.progress.requests, flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
