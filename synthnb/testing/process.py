"""The fault server as a process of its own, ended with the test that started it."""

from __future__ import annotations

import json
import ssl
import subprocess
import sys
import urllib.error
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
    ca_file: str | None = None
    """Its certificate, where it speaks TLS."""

    def stats(self) -> dict[str, Any]:
        """Ask for its counts (``Stats.to_json``)."""
        return self._ask("/__stats")

    def set(self, **settings: Any) -> None:
        """Change it while it runs.

        Args:
            settings: ``capacity``, ``faults`` and ``outages`` as dictionaries of their
                fields (or lists of them), ``loading``, ``latency`` in seconds,
                ``thinking``, ``served_model``, ``models``.

        Raises:
            ValueError: the server does not take them; it has changed nothing then.
        """
        try:
            self._ask("/__set", json.dumps(settings).encode())
        except urllib.error.HTTPError as error:
            with error:
                raise ValueError(json.load(error)["detail"]) from None

    def _ask(self, path: str, body: bytes | None = None) -> dict[str, Any]:
        context = None
        if self.ca_file is not None:
            context = ssl.create_default_context(cafile=self.ca_file)
            context.check_hostname = False
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}),
            urllib.request.HTTPSHandler(context=context),
        )
        url = f"{self.base_url.removesuffix('/v1')}{path}"
        with opener.open(url, data=body, timeout=10) as answer:
            value: dict[str, Any] = json.load(answer)
        return value


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
