"""``python -m synthnb.testing``: the fault server as a process."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import threading
from typing import Any

from synthnb.testing.chat import echo
from synthnb.testing.faults import Fault
from synthnb.testing.replies import REFUSALS
from synthnb.testing.server import FaultServer

_FLAGS = ("strict_model", *REFUSALS)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m synthnb.testing", description=__doc__
    )
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds an answer")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--answer", default=echo, help="a fixed text; default: an echo")
    parser.add_argument("--model", action="append", dest="models", metavar="ID")
    parser.add_argument("--owned-by", default="vllm")
    parser.add_argument("--max-model-len", type=int)
    parser.add_argument("--require-key", metavar="KEY")
    parser.add_argument(
        "--fault",
        action="append",
        default=[],
        metavar="JSON",
        dest="faults",
        help='a rule, e.g. \'{"what": 429, "rate": 0.1, "retry_after": 1}\'; repeatable',
    )
    parser.add_argument(
        "--max-seconds", type=float, default=600.0, help="ends by itself after that"
    )
    for flag in _FLAGS:
        parser.add_argument(f"--{flag.replace('_', '-')}", action="store_true")
    return parser


def main(arguments: list[str] | None = None) -> None:
    """Serve until stdin closes or the time is over."""
    options: dict[str, Any] = vars(_parser().parse_args(arguments))
    max_seconds = options.pop("max_seconds")
    options["faults"] = [Fault(**json.loads(text)) for text in options["faults"]]
    if options["models"] is None:
        del options["models"]
    with asyncio.Runner() as runner:  # a process of our own: no other loop runs here
        runner.run(_serve(FaultServer(**options), max_seconds))


async def _serve(server: FaultServer, max_seconds: float) -> None:
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()

    def watch_stdin() -> None:
        while os.read(0, 4096):
            pass
        loop.call_soon_threadsafe(ended.set)

    async with server:
        ready = {"port": server.port, "base_url": server.base_url, "pid": os.getpid()}
        sys.stdout.write(json.dumps(ready) + "\n")
        sys.stdout.flush()
        threading.Thread(target=watch_stdin, daemon=True).start()
        try:
            await asyncio.wait_for(ended.wait(), max_seconds)
        except TimeoutError:
            sys.stderr.write(f"the fault server's {max_seconds:g} seconds are over\n")


if __name__ == "__main__":
    main()
