"""The stub as a child process, and the control paths of whatever server is used."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from draws import Work

_STUB = Path(__file__).parent / "stub.py"


class Server:
    """A server with the control paths of ``stub.py``; the peers' ``stub.c`` has them too."""

    def __init__(self, url: str, described: str) -> None:
        """Take the base URL, ending in ``/v1``, and what results say of the server."""
        self.url = url
        self.described = described
        parts = urlsplit(url)
        self._root = f"{parts.scheme}://{parts.netloc}"
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def configure(self, work: Work) -> None:
        """Set the behaviour and clear the counters."""
        self._get(f"/__cfg?{work.query}")

    def phase(self) -> None:
        """Remember what was delivered; from now on it counts as re-sent."""
        self._get("/__phase")

    def stats(self) -> dict[str, Any]:
        """Return the counters."""
        return self._get("/__stats")

    def _get(self, path: str) -> Any:
        with self._opener.open(self._root + path, timeout=10) as answer:
            return json.load(answer)


@contextmanager
def started(max_seconds: float = 3600) -> Iterator[Server]:
    """Start the stub; end it on leaving.

    Its stdin is our pipe, so it ends as well when this process is killed.

    Raises:
        RuntimeError: it ended before it listened; its words stand on stderr.
    """
    command = [sys.executable, str(_STUB), "--max-seconds", str(max_seconds)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        try:
            line = process.stdout.readline()
            if not line:
                message = "the stub ended before it listened"
                raise RuntimeError(message)
            ready = json.loads(line)
            url = f"http://127.0.0.1:{ready['port']}/v1"
            yield Server(url, f"bench/stub.py on {ready['loop'].partition('.')[0]}")
        finally:
            process.stdin.close()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
