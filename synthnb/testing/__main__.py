"""``python -m synthnb.testing``: the fault server as a process."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from synthnb.testing.capacity import Capacity
from synthnb.testing.chat import echo
from synthnb.testing.delays import Jitter, LogNormal
from synthnb.testing.faults import Fault
from synthnb.testing.kinds import KINDS
from synthnb.testing.outages import Outage
from synthnb.testing.overflow import OVERFLOWS
from synthnb.testing.refusals import REFUSALS
from synthnb.testing.server import FaultServer

_FLAGS = ("strict_model", "loading", "cuts_at_max_tokens", *REFUSALS)
_FORMS = ("reasoning", "reasoning_content", "inline", "closing_only", "hidden")
_T = TypeVar("_T")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m synthnb.testing",
        description=__doc__,
        argument_default=argparse.SUPPRESS,  # what is not said is as the kind has it
    )
    say = parser.add_argument
    say("--kind", choices=list(KINDS), help="the server it is like; default: plain")
    say("--port", type=int, help="0 takes a free one")
    say("--seed", type=int)
    say("--answer", default=echo, help="a fixed text; default: an echo")
    say("--model", action="append", dest="models", metavar="ID")
    say("--owned-by")
    say("--max-model-len", type=int)
    say("--overflow", choices=list(OVERFLOWS), help="words for what does not fit")
    say("--require-key", metavar="KEY")
    say("--thinking", metavar="TEXT", help="what all answers think")
    say("--think-form", choices=_FORMS)
    say("--tls", choices=["self-signed", "wrong-host"])
    say("--no-usage", action="store_false", dest="sends_usage")
    say("--no-metrics", action="store_false", dest="metrics")
    _add_times(parser)
    for name, make, example in _RULES:
        say(
            f"--{name}",
            action="append",
            default=[],
            type=_json_of(make),
            metavar="JSON",
            dest=f"{name}_rules",
            help=f"e.g. '{example}'; repeatable",
        )
    for flag in _FLAGS:
        say(f"--{flag.replace('_', '-')}", action="store_true")
    return parser


_RULES: tuple[tuple[str, Callable[..., Any], str], ...] = (
    ("fault", Fault, '{"what": 429, "rate": 0.1, "retry_after": 1}'),
    ("capacity", Capacity, '{"kind": "batch", "limit": 8}'),
    ("outage", Outage, '{"after": 100, "seconds": 2}'),
)


def _add_times(parser: argparse.ArgumentParser) -> None:
    say = parser.add_argument
    say("--latency", type=float, default=0.0, help="seconds an answer, or their mean")
    say("--jitter", type=float, default=None, help="share that it varies by, 0 to 1")
    say("--p99", type=float, default=None, help="makes the latency lognormal; seconds")
    say("--max-seconds", type=float, default=600.0, help="ends by itself after that")


def _json_of(make: Callable[..., _T]) -> Callable[[str], _T]:
    def read(text: str) -> _T:
        try:
            return make(**json.loads(text))
        except (TypeError, ValueError) as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read


def _server(options: dict[str, Any]) -> FaultServer:
    mean, jitter, p99 = (options.pop(name) for name in ("latency", "jitter", "p99"))
    latency = mean
    if p99 is not None:
        latency = LogNormal(mean, p99)
    elif jitter is not None:
        latency = Jitter(mean, jitter)
    rules = {name: options.pop(f"{name}_rules") for name, _, _ in _RULES}
    return FaultServer(
        latency=latency,
        faults=rules["fault"],
        capacity=rules["capacity"],
        outages=rules["outage"],
        **options,
    )


def main(arguments: list[str] | None = None) -> None:
    """Serve until stdin closes or the time is over."""
    options: dict[str, Any] = vars(_parser().parse_args(arguments))
    max_seconds = options.pop("max_seconds")
    with asyncio.Runner() as runner:  # a process of our own: no other loop runs here
        runner.run(_serve(_server(options), max_seconds))


async def _serve(server: FaultServer, max_seconds: float) -> None:
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()

    def watch_stdin() -> None:
        while os.read(0, 4096):
            pass
        loop.call_soon_threadsafe(ended.set)

    async with server:
        ready: dict[str, Any] = {
            "port": server.port,
            "base_url": server.base_url,
            "pid": os.getpid(),
        }
        if server.ca_file is not None:
            ready["ca_file"] = str(server.ca_file)
        sys.stdout.write(json.dumps(ready) + "\n")
        sys.stdout.flush()
        threading.Thread(target=watch_stdin, daemon=True).start()
        try:
            await asyncio.wait_for(ended.wait(), max_seconds)
        except TimeoutError:
            sys.stderr.write(f"the fault server's {max_seconds:g} seconds are over\n")


if __name__ == "__main__":
    main()
