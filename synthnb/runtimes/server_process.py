"""The child: ``python -m synthnb.runtimes.server_process`` serves one model.

It publishes where it listens in its folder's state file, watches its leases, and ends when
no process holds one any more.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from synthnb.runtimes.leases import ProcessId
from synthnb.runtimes.state import ServerFolder, ServerSpec, ServerState
from synthnb.runtimes.threads import idle_threads

POLL_SECONDS: Final = 0.25
GRACE_SECONDS: Final = 1.0
"""How long a server waits for its next user; a restarted kernel finds it still warm."""

_WARNINGS: Final = 2
"""llama.cpp's log level; the next one writes eight lines a request."""


def main(arguments: list[str] | None = None) -> None:
    """Load the model, publish the address, serve until no lease is left."""
    options = _parser().parse_args(arguments)
    folder = ServerFolder(options.folder)
    spec = ServerSpec(
        options.weights, options.model, options.slots, options.context, options.threads
    )
    # From the start: a model may load for minutes, and its user may be gone by then.
    watcher = threading.Thread(target=watch, args=(folder, end_now), daemon=True)
    watcher.start()
    threads = spec.threads or idle_threads()
    try:
        server = start_server(spec, threads)
    except RuntimeError as error:
        # llama.cpp has said why above; a traceback would push that out of the log's tail.
        sys.exit(f"cannot serve {spec.weights}: {error}")
    publish(folder, spec, threads, server.listening_address)
    watcher.join()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--slots", type=int, required=True)
    parser.add_argument("--context", type=int, required=True)
    parser.add_argument("--threads", type=int)
    return parser


def start_server(spec: ServerSpec, threads: int) -> Any:
    """Start llama.cpp's own HTTP server on a free port of 127.0.0.1."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(spec.weights)
    params.model_alias = {spec.model}
    params.port = 0
    params.n_parallel = spec.slots
    params.n_ctx = spec.slots * spec.context
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    params.cache_ram_mib = 0  # its default takes up to 8 GiB of prompts
    params.endpoint_metrics = True
    params.verbosity = _WARNINGS
    # No key guards the port, so nothing more than needed is open: no page of a browser
    # may read answers from it, and /slots would show one user's prompts to another.
    params.ui = False
    params.endpoint_slots = False
    params.cors_origins = ""
    params.cors_credentials = False
    return xllamacpp.Server(params)


def publish(folder: ServerFolder, spec: ServerSpec, threads: int, address: str) -> None:
    """Write the state file, unless the leases ended meanwhile."""
    me = ProcessId.current()
    state = ServerState(
        pid=me.pid,
        create_time=me.create_time,
        port=int(address.rpartition(":")[2]),
        base_url=f"{address}/v1",
        model=spec.model,
        slots=spec.slots,
        context=spec.context,
        threads=threads,
    )
    with folder.lock():
        folder.publish(state)


def watch(
    folder: ServerFolder,
    end: Callable[[], None],
    *,
    poll: float = POLL_SECONDS,
    grace: float = GRACE_SECONDS,
) -> None:
    """Call ``end`` once no live lease was seen for ``grace`` seconds."""
    last_seen = time.monotonic()
    while True:
        if folder.leases.live():
            last_seen = time.monotonic()
        elif time.monotonic() - last_seen > grace and retire(folder):
            end()
            return
        time.sleep(poll)


def retire(folder: ServerFolder) -> bool:
    """Take the state back, unless somebody took a lease at the last moment.

    A launcher takes its lease under the same lock before it reads the state, so either it
    finds no state any more and starts a new server, or we find its lease and go on.
    """
    try:
        with folder.lock():
            if folder.leases.live():
                return False
            state = folder.read()
            if state is not None and state.pid == os.getpid():
                folder.retract()
    except TimeoutError:
        return False  # somebody holds the lock for long; look again
    except OSError:
        return (
            True  # the folder is gone or closed to us, so nobody can find us any more
        )
    return True


def end_now() -> None:
    """End without waiting for requests: nobody is left who could read an answer."""
    os._exit(0)


if __name__ == "__main__":
    main()
