"""A bare OpenAI-compatible server that is fast enough to be no limit of a benchmark.

``stub.py [--port P] [--max-seconds S] [--stay]``. It prints one JSON line with its port and
ends when its stdin closes (not with ``--stay``) or the time is over. Latency and faults are those of ``draws.Work``.
It speaks the control paths of the peers' ``stub.c``, so either can serve ``run.py``:

- ``GET /__cfg?lat=200&e429=0.05&...`` sets the behaviour and clears the counters;
- ``GET /__stats`` gives the counters as JSON;
- ``GET /__phase`` remembers what was delivered so far: ``resent`` then counts what is
  delivered once more, ``new_in_phase`` what is new.

A request is named by the first ``#R<digits>#`` in its body. It does not stream, and it
reads no JSON: about 15,000 requests a second of CPU, with uvloop (``pip install uvloop``)
about 28,000.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import socket
import struct
import sys
import threading
import time
from contextlib import suppress
from typing import Any

from draws import FAULTS, Work

MAX_ID = 1_000_000
"""Marks from here on are not counted: the warm-up uses them."""
_MARK = re.compile(rb"#R(\d{1,9})#")
_STREAM = re.compile(rb'"stream": *true')
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_FILL = (b"xxxxxx " * 10_000)[:65_536]
_HEAD = (
    b"HTTP/1.1 %s\r\ncontent-type: application/json\r\n%scontent-length: %d\r\n\r\n%s"
)
_ANSWER = (
    b'{"id":"chatcmpl-%d","object":"chat.completion","created":1700000000,"model":"stub",'
    b'"choices":[{"index":0,"message":{"role":"assistant","content":"answer #R%d# %s",'
    b'"refusal":null,"tool_calls":null},"logprobs":null,"finish_reason":"stop"}],'
    b'"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d},'
    b'"system_fingerprint":"stub"}'
)
_SLOW_DOWN = (
    b'{"error":{"message":"Rate limit reached","type":"rate_limit_error",'
    b'"code":"rate_limit_exceeded"}}'
)
_BROKEN = b'{"error":{"message":"stub error","type":"server_error","code":500}}'
_MODELS = (
    b'{"object":"list","data":[{"id":"stub","object":"model","created":1700000000,'
    b'"owned_by":"vllm","max_model_len":32768}]}'
)
_METRICS = (
    "# TYPE vllm:num_requests_running gauge\n"
    'vllm:num_requests_running{{model_name="stub"}} {in_flight}\n'
    "# TYPE vllm:num_requests_waiting gauge\n"
    'vllm:num_requests_waiting{{model_name="stub"}} 0\n'
)
_RESET = struct.pack("ii", 1, 0)
"""SO_LINGER of zero seconds: closing sends RST."""


class Counts:
    """What the server saw since the last ``/__cfg``."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.fill = _FILL[: work.bytes]
        self.seen = bytearray(MAX_ID)
        self.delivered = bytearray(MAX_ID)
        self.before: bytearray | None = None
        self.by_kind = dict.fromkeys(FAULTS, 0)
        self.req = self.noid = self.r200 = self.uniq = self.ok_uniq = 0
        self.resent = self.new_in_phase = self.conns = self.abandoned = 0
        self.in_flight = self.max_inflight = 0
        self.first = self.last = 0.0
        self.marks: list[float] = []
        self.cpu = time.process_time()

    def phase(self) -> None:
        self.before = bytearray(self.delivered)
        self.resent = self.new_in_phase = 0

    def attempt(self, number: int) -> int:
        """Count a request; return how often it was sent before."""
        self.req += 1
        self.in_flight += 1
        self.max_inflight = max(self.max_inflight, self.in_flight)
        self.first = self.first or time.perf_counter()
        if not 0 <= number < MAX_ID:
            self.noid += 1
            return 0
        before = self.seen[number]
        self.uniq += not before
        self.seen[number] = min(before + 1, 255)
        return before

    def deliver(self, number: int) -> None:
        self.r200 += 1
        self.last = time.perf_counter()
        if self.r200 % 1000 == 0:
            self.marks.append(round(self.last - self.first, 4))
        if not 0 <= number < MAX_ID:
            return
        is_new = not self.delivered[number]
        self.ok_uniq += is_new
        if self.before is not None:
            self.new_in_phase += is_new
            self.resent += self.before[number]
        self.delivered[number] = 1

    def to_json(self) -> dict[str, Any]:
        names = (
            "req noid r200 uniq ok_uniq resent new_in_phase conns abandoned in_flight"
            " max_inflight"
        )
        counts = {name: getattr(self, name) for name in names.split()}
        kinds = {
            "r429": self.by_kind["e429"],
            "r500": self.by_kind["e500"],
            "reset": self.by_kind["ereset"],
            "hang": self.by_kind["ehang"],
        }
        span = max(0.0, self.last - self.first)
        return {
            **counts,
            **kinds,
            "dup": self.r200 - self.noid - self.ok_uniq,
            "span": span,
            "marks": self.marks,
            "cpu": time.process_time() - self.cpu,
        }


class Server:
    """What all connections share: the present work and its counts."""

    def __init__(self) -> None:
        self.counts = Counts(Work())

    def control(self, target: str) -> bytes:
        """Answer a GET."""
        path, _, query = target.partition("?")
        body = b'{"ok":1}'
        if path == "/__cfg":
            try:
                self.counts = Counts(Work.of(query))
            except ValueError as error:
                return _response(b"400 Bad Request", str(error).encode())
        elif path == "/__phase":
            self.counts.phase()
        elif path == "/__stats":
            body = json.dumps(self.counts.to_json()).encode()
        elif path.endswith("/models"):
            body = _MODELS
        elif path == "/metrics":
            body = _METRICS.format(in_flight=self.counts.in_flight).encode()
        elif path != "/health":
            return _response(b"404 Not Found", b'{"detail":"Not Found"}')
        return _response(b"200 OK", body)


class Connection(asyncio.Protocol):
    """One connection; its requests are answered in turn."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._data = b""
        self._busy: Counts | None = None
        self._loop = asyncio.get_running_loop()

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._server.counts.conns += 1

    def connection_lost(self, _: Exception | None) -> None:
        if self._busy is not None:
            self._busy.abandoned += 1
            self._busy.in_flight -= 1
            self._busy = None

    def data_received(self, data: bytes) -> None:
        self._data = self._data + data if self._data else data
        while self._data and self._busy is None and self._take():
            pass

    def _take(self) -> bool:
        """Take one whole request from what has arrived; say whether there was one."""
        data = self._data
        end = data.find(b"\r\n\r\n") + 4
        if end == 3:
            return False
        found = _LENGTH.search(data, 0, end)
        total = end + int(found[1]) if found else end
        if len(data) < total:
            return False
        self._data = data[total:] if len(data) > total else b""
        method, target, _ = data[: data.find(b"\r\n")].split(b" ", 2)
        if method == b"GET":
            self._transport.write(self._server.control(target.decode()))
        elif not target.endswith(b"/chat/completions"):
            self._transport.write(_response(b"404 Not Found", b'{"detail":"no"}'))
        elif found is None or _STREAM.search(data, end, total):
            why = b'{"error":{"message":"send a length, and do not ask to stream"}}'
            self._transport.write(_response(b"400 Bad Request", why))
        else:
            self._chat(data, end, total)
        return True

    def _chat(self, data: bytes, start: int, end: int) -> None:
        counts = self._server.counts
        found = _MARK.search(data, start, end)
        number = int(found[1]) if found else -1
        attempt = counts.attempt(number)
        self._busy, size, work = counts, (end - start) // 4, counts.work
        if work.is_plain or not 0 <= number < MAX_ID:
            fault, seconds = None, work.lat / 1e3
        else:
            fault, seconds = work.fault(number, attempt), work.seconds(number)
        if fault is not None:
            counts.by_kind[fault] += 1
        if fault == "ehang":
            return
        if fault == "e429" or seconds <= 0:
            self._finish(number, size, fault)
        else:
            self._loop.call_later(seconds, self._later, number, size, fault)

    def _later(self, number: int, size: int, fault: str | None) -> None:
        self._finish(number, size, fault)
        if self._data:
            self.data_received(b"")

    def _finish(self, number: int, size: int, fault: str | None) -> None:
        counts, self._busy = self._busy, None
        if counts is None:  # the client has gone
            return
        counts.in_flight -= 1
        if fault == "ereset":
            sock = self._transport.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            self._transport.abort()
        elif fault == "e429":
            wait = b"retry-after: %s\r\n" % f"{counts.work.ra:g}".encode()
            status = b"429 Too Many Requests"
            self._transport.write(_response(status, _SLOW_DOWN, wait))
        elif fault == "e500":
            self._transport.write(_response(b"500 Internal Server Error", _BROKEN))
        else:
            counts.deliver(number)
            tokens = counts.work.bytes // 4
            said = number + (fault == "ewrong")
            values = (number, said, counts.fill, size, tokens, size + tokens)
            self._transport.write(_response(b"200 OK", _ANSWER % values))


def _response(status: bytes, body: bytes, extra: bytes = b"") -> bytes:
    return _HEAD % (status, extra, len(body), body)


async def serve(port: int, max_seconds: float, *, stay: bool) -> None:
    loop, ended, server = asyncio.get_running_loop(), asyncio.Event(), Server()

    def watch_stdin() -> None:
        while os.read(0, 4096):
            pass
        loop.call_soon_threadsafe(ended.set)

    listening = await loop.create_server(
        lambda: Connection(server), "127.0.0.1", port, backlog=4096
    )
    port = listening.sockets[0].getsockname()[1]
    ready = {"port": port, "pid": os.getpid(), "loop": type(loop).__module__}
    print(json.dumps(ready), flush=True)
    if not stay:
        threading.Thread(target=watch_stdin, daemon=True).start()
    with suppress(TimeoutError):
        await asyncio.wait_for(ended.wait(), max_seconds)
    listening.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--max-seconds", type=float, default=3600)
    parser.add_argument("--stay", action="store_true", help="stdin need not stay open")
    options = parser.parse_args()
    try:
        from uvloop import new_event_loop
    except ImportError:
        new_event_loop = None
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(serve(options.port, options.max_seconds, stay=options.stay))


if __name__ == "__main__":
    sys.exit(main())
