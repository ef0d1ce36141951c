"""A run whose disk fails under it: started under strace, or with a limit on file sizes.

Usage: disk_victim.py FOLDER ROWS [BYTES]
Prints ``saved N`` after each commit, ``trouble TEXT`` and ``well`` as the ledger has
them, and ``done REQUESTS`` or ``failed TEXT`` at the end. With BYTES no file may grow
beyond that size, until the first trouble is met: then there is room again.
"""

from __future__ import annotations

import asyncio
import resource
import sys
from pathlib import Path

import synthnb as sn
from synthnb.errors import SynthnbError
from synthnb.records import Completion, Usage


class Client:
    """Answers with a page of text; no socket, so that only the disk can fail."""

    model, endpoint, default_concurrency = "m", "client:", 4
    asked = 0

    async def complete(self, request):
        self.asked += 1
        await asyncio.sleep(0.002)
        text = request.messages[-1].content + " " + "word " * 300
        return Completion(text, usage=Usage(1, 2), model="m")

    async def aclose(self):
        pass


async def main(folder: Path, rows: int, limit: int | None) -> None:
    client = Client()
    data = [{"text": f"t{n}"} for n in range(rows)]
    if limit is not None:
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    run = sn.generate(sn.Prompt("{{ text }}"), data, client, folder=folder)
    committed, troubled = run._committed, run._troubled
    saved = 0

    def acknowledge(tickets):
        nonlocal saved
        committed(tickets)
        saved += len(tickets)
        print("saved", saved, flush=True)

    def trouble(error):
        troubled(error)
        print("well" if error is None else f"trouble {error.message}", flush=True)
        if error is not None and limit is not None:
            _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))

    run._store._writer._on_commit = acknowledge
    run._store._writer._on_trouble = trouble
    await run.finished()
    print("done", client.asked, flush=True)


if __name__ == "__main__":
    try:
        sizes = [int(text) for text in sys.argv[3:]]
        asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), *(sizes or [None])))
    except SynthnbError as error:
        print("failed", str(error).replace("\n", " "), flush=True)
