"""The folder of one local server: what it is, where it listens, its log and its leases."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import socket
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from synthnb.runtimes.leases import LeaseFolder, ProcessId
from synthnb.runtimes.models import cache_dir

if TYPE_CHECKING:
    import filelock


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """What a server is started with. Two callers with the same spec share one server."""

    weights: Path
    model: str
    slots: int
    context: int
    """Tokens of context of each slot."""
    threads: int | None = None
    """``None`` takes the idle cores when the server starts."""

    def fingerprint(self, version: str = "") -> str:
        """Return the name of the server's folder.

        The machine's name is part of it, as the cache may lie in a home that several
        machines share; so are the file's size and time, as it may be replaced.

        Args:
            version: of the program that serves.
        """
        stat = self.weights.stat()
        parts = {
            **asdict(self),
            "weights": str(self.weights),
            "bytes": stat.st_size,
            "mtime": stat.st_mtime_ns,
            "host": socket.gethostname(),
            "version": version,
        }
        text = json.dumps(parts, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class ServerState:
    """What a server's process says about itself. ``port`` is 0 while it loads."""

    pid: int
    create_time: float
    port: int
    base_url: str
    model: str
    slots: int
    context: int
    threads: int
    """0 while it loads."""

    @classmethod
    def loading(cls, process: ProcessId, spec: ServerSpec) -> ServerState:
        """Return the state of a server that was started just now."""
        return cls(
            pid=process.pid,
            create_time=process.create_time,
            port=0,
            base_url="",
            model=spec.model,
            slots=spec.slots,
            context=spec.context,
            threads=spec.threads or 0,
        )

    def is_alive(self) -> bool:
        """Whether its process runs."""
        return ProcessId(self.pid, self.create_time).is_alive()


class ServerFolder:
    """A server's folder under the cache."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.leases = LeaseFolder(path / "leases")
        self.log = path / "server.log"
        self._state = path / "state.json"

    @classmethod
    def of(cls, spec: ServerSpec, version: str = "") -> ServerFolder:
        """Return the folder for servers of this spec."""
        return cls(cache_dir() / "servers" / spec.fingerprint(version))

    def lock(self, timeout: float = 30.0) -> filelock.BaseFileLock:
        """Return the lock to hold while looking at the state and changing it."""
        import filelock

        self.path.mkdir(parents=True, exist_ok=True)
        return filelock.FileLock(self.path / "lock", timeout=timeout)

    def read(self) -> ServerState | None:
        """Return the published state; ``None`` where there is none that can be read."""
        try:
            return ServerState(**json.loads(self._state.read_text()))
        except (OSError, ValueError, TypeError):
            return None

    def publish(self, state: ServerState) -> None:
        """Write the state in one step: a reader sees the old one or the new one."""
        temporary = self._state.with_name(f"state.{os.getpid()}.tmp")
        temporary.write_text(json.dumps(asdict(state)))
        temporary.replace(self._state)

    def retract(self) -> None:
        """Delete the state."""
        with contextlib.suppress(OSError):
            self._state.unlink(missing_ok=True)

    def log_tail(self, lines: int = 8) -> str:
        """Return the last lines of the server's log."""
        try:
            text = self.log.read_text(errors="replace")
        except OSError:
            return ""
        return "\n".join(text.strip().splitlines()[-lines:])
