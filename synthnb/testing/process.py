"""The fault server as a process of its own, ended with the test that started it."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class FaultProcess:
    """A running ``python -m synthnb.testing``."""

    pid: int
    port: int
    base_url: str

    def stats(self) -> dict[str, Any]:
        """Ask for its counts (``Stats.to_json``)."""
        url = f"http://127.0.0.1:{self.port}/__stats"
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(url, timeout=10) as answer:
            counts: dict[str, Any] = json.load(answer)
        return counts


@contextmanager
def fault_process(*arguments: str) -> Iterator[FaultProcess]:
    """Start ``python -m synthnb.testing`` with the arguments; end it on leaving.

    Its stdin is our pipe, so it ends as well when this process is killed.

    Raises:
        RuntimeError: it ended before it listened; its words stand on stderr.
    """
    command = [sys.executable, "-m", "synthnb.testing", *arguments]
    with subprocess.Popen(  # noqa: S603
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            if not line:
                message = "the fault server ended before it listened"
                raise RuntimeError(message)
            yield FaultProcess(**json.loads(line))
        finally:
            process.stdin.close()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
