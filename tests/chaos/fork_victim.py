"""A run that is forked in its middle; the child tries everything and leaves normally.

Usage: fork_victim.py URL FOLDER ROWS. The child prints ``child TEXT`` lines, the parent
``done REQUESTS`` at the end. The child's own end runs its finalizers, which is when a
copy of a lock or of a database may harm what it was copied from.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

import synthnb as sn
from synthnb.errors import SynthnbError
from synthnb.store import RunStore


def start(url: str, folder: Path, rows: int) -> sn.Run:
    data = [{"text": f"t{n}"} for n in range(rows)]
    limits = sn.Limits(max_concurrency=4, adaptive=False)
    provider = sn.Provider(url, "m")
    return sn.generate(
        sn.Prompt("{{ text }}"), data, provider, folder=folder, limits=limits
    )


def refused(what, function):
    try:
        function()
    except SynthnbError as error:
        print("child refused", what, "spawn" in str(error), flush=True)
    else:
        print("child was let", what, flush=True)


async def ask(client, request):
    await client.complete(request)


def child(run, client, url: str, folder: Path) -> None:
    refused("stop", run.stop)
    refused("pause", run.pause)
    refused("wait", lambda: run.wait(5))
    refused("finished", lambda: asyncio.run(run.finished()))
    refused("put", lambda: run._store.put_meta("a", "b"))
    refused("flush", run._store.flush)
    refused("open", RunStore(folder).open)
    request = run.recipe.request({"text": "child"}, (), 0)
    try:
        asyncio.run(ask(client, request))
    except SynthnbError as error:
        print("child refused ask", type(error).__name__, flush=True)
    run._store.close()
    print("child sees", len(run.frame()) > 0, flush=True)
    own = start(url, folder.with_name("of-the-child"), 8).wait()
    print("child made", (own["status"] == "ok").sum(), flush=True)


def main(url: str, folder: Path, rows: int) -> None:
    run = start(url, folder, rows)
    while run.progress.saved < rows // 4:
        time.sleep(0.01)
    client = asyncio.run_coroutine_threadsafe(
        sn.Provider(url, "m").connect(), run._end.loop
    ).result()
    pid = os.fork()
    if pid == 0:
        child(run, client, url, folder)
        sys.exit(0)
    print("parent saw", os.waitpid(pid, 0)[1], flush=True)
    print("parent works", not run.state.is_final, flush=True)
    refused("second owner", RunStore(folder).open)
    run.wait()
    print("done", run.progress.requests, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
