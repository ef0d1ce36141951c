"""What the runs of these tests share: rows with a mark, limits, and the proof at the end."""

from __future__ import annotations

import asyncio
import socket
from collections import Counter

from invariant import Found, check_invariant

from synthnb.config import Limits, Retry
from synthnb.engine.run import Run
from synthnb.local import Provider

QUICK = Limits(
    max_concurrency=8,
    adaptive=False,
    retry=Retry(max_attempts=4, base_seconds=0.005, max_seconds=0.05),
)


def forget_proxies(monkeypatch) -> None:
    """Let no proxy of this machine stand in the environment."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def unused_port() -> int:
    """Return a port that nothing listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def rows(n: int) -> list[dict[str, str]]:
    """Return rows whose text is a mark by which the fault server counts."""
    return [{"text": f"#R{i}#"} for i in range(n)]


def asked(n: int) -> set[str]:
    """Return the texts of ``rows(n)``."""
    return {f"#R{i}#" for i in range(n)}


def at(base_url: str, **options: object) -> Provider:
    """Return the provider of a server of these tests."""
    return Provider(base_url, model="fault-model", **options)


def proven(run: Run, requested: int | set[str]) -> Found:
    """Prove the invariant of a run that is over, and that its own counts agree with it."""
    texts = asked(requested) if isinstance(requested, int) else requested
    progress = run.progress
    assert run.state.is_final
    assert progress.in_flight == 0
    found = check_invariant(run.folder, texts, acknowledged=progress.saved)
    assert run.usage.total_requests == found.calls
    assert Counter(run.frame()["status"]) == +Counter(run.status)
    return found


async def until(condition) -> None:
    """Wait for a condition, for 20 s at most."""
    for _ in range(2000):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it never came to that")
