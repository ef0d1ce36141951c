"""The embedded model: llama.cpp's server in a child process, shared and cleaned up."""

from __future__ import annotations

import asyncio
import importlib.metadata
import importlib.util
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from synthnb.errors import ConfigError, ModelServerError
from synthnb.runtimes.models import KNOWN_MODELS, ModelFile, Progress, silent
from synthnb.runtimes.state import ServerFolder, ServerSpec, ServerState
from synthnb.runtimes.tenancy import find_or_spawn, give_up
from synthnb.runtimes.weights import ensure, locate

_POLL_SECONDS: Final = 0.05
_HEALTH_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A local server that answers."""

    base_url: str
    model: str
    slots: int
    context: int
    """Tokens of context of each slot."""
    pid: int
    threads: int
    log: Path


class EmbeddedServer:
    """Starts the embedded model's server, or finds the one that runs already.

    The server is a child process that listens on a free port of 127.0.0.1. Everyone on
    this machine (and of this user) who asks for the same model, slots and context shares
    it. It ends about a second after its last user: at exit, at ``release``, or when that
    process is killed.

    Args:
        model: a path of a GGUF file, a known or pulled model's name, ``None`` for
            SmolLM2-135M-Instruct, which is fetched on its first use.
        slots: requests that are worked on at once.
        context: tokens of context of each slot.
        threads: ``None`` takes the cores that are idle when the server starts.
        progress: told about the fetch.
        timeout: seconds for the model to load, the fetch not counted.

    Raises:
        ConfigError: a number out of range, an unknown model, a file that is no GGUF.
    """

    def __init__(
        self,
        model: str | Path | None = None,
        *,
        slots: int = 8,
        context: int = 2048,
        threads: int | None = None,
        progress: Progress = silent,
        timeout: float = 120.0,
    ) -> None:
        _check_numbers(slots=slots, context=context, threads=threads)
        self._wanted = model
        self._file = locate(model)
        _check_context(self._file, context)
        self.slots = slots
        self.context = context
        self.threads = threads
        self.progress = progress
        self.timeout = timeout
        self._folder: ServerFolder | None = None
        self._user = uuid.uuid4().hex

    def describe(self) -> str:
        """Say in one line what would serve: model, licence, place, slots, threads."""
        threads = self.threads or "idle cores as"
        return (
            f"{locate(self._wanted)}; llama.cpp on 127.0.0.1, {self.slots} slots x "
            f"{self.context} tokens, {threads} threads"
        )

    async def launch(self) -> RunningServer:
        """Return a server that answers, starting it (and fetching the model) if needed.

        Safe to call again at any time: it finds the running server, or starts a new one
        if that died.

        Raises:
            ModelServerError: xllamacpp is missing, the model cannot be fetched or loaded,
                or it took longer than ``timeout``; the end of its log is in the text.
        """
        version = _installed_version()
        self._file = await asyncio.to_thread(ensure, self._wanted, self.progress)
        assert self._file.path is not None
        spec = ServerSpec(
            self._file.path, self._file.name, self.slots, self.context, self.threads
        )
        folder = ServerFolder.of(spec, version)
        self._folder = folder
        try:
            await asyncio.to_thread(find_or_spawn, folder, spec, self._user)
        except OSError as error:
            raise ModelServerError(
                f"cannot start the model's server in {folder.path}: {error}",
                hint="set SYNTHNB_CACHE to a folder that can be written",
            ) from error
        state = await _until_ready(folder, self.timeout)
        return RunningServer(
            base_url=state.base_url,
            model=state.model,
            slots=state.slots,
            context=state.context,
            pid=state.pid,
            threads=state.threads,
            log=folder.log,
        )

    def release(self) -> None:
        """Give the server up; it ends unless others use it. ``launch`` takes it again."""
        if self._folder is not None:
            give_up(self._folder, self._user)


def _check_numbers(**numbers: Any) -> None:
    for name, number in numbers.items():
        if number is None and name == "threads":
            continue
        if not isinstance(number, int) or isinstance(number, bool) or number < 1:
            raise ConfigError(
                f"{name} must be a whole number of at least 1, not {number!r:.80}",
                hint=f"Write e.g. {name}=4, or leave it out.",
            )


def _check_context(file: ModelFile, context: int) -> None:
    known = KNOWN_MODELS.get(file.name)
    if known is not None and context > known.context:
        raise ConfigError(
            f"{known.title} was trained for {known.context} tokens, not {context}",
            hint=f"context={known.context} is the most; or shorten the chunks",
        )


def _installed_version() -> str:
    if importlib.util.find_spec("xllamacpp") is None:
        raise ModelServerError(
            "the embedded model needs xllamacpp, which is not installed",
            hint='pip install "synthnb[local]"; or name a server: Provider("http://…/v1")',
        )
    try:
        return importlib.metadata.version("xllamacpp")
    except importlib.metadata.PackageNotFoundError:
        return ""


async def _until_ready(folder: ServerFolder, timeout: float) -> ServerState:  # noqa: ASYNC109 - the message needs the log
    deadline = time.monotonic() + timeout
    pid = 0
    while time.monotonic() < deadline:
        state = folder.read()
        if state is None or not state.is_alive():
            raise _failed(folder, "ended before it answered")
        pid = state.pid
        if state.port and await _healthy(state.port):
            return state
        await asyncio.sleep(_POLL_SECONDS)
    raise _failed(folder, f"(pid {pid}) did not answer within {timeout:g} seconds")


async def _healthy(port: int) -> bool:
    """Ask /health once. llama.cpp says 503 while it loads."""
    try:
        async with asyncio.timeout(_HEALTH_SECONDS):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                writer.write(
                    b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
                )
                status = await reader.readline()
            finally:
                writer.close()
    except (OSError, TimeoutError):
        return False
    return b" 200 " in status


def _failed(folder: ServerFolder, what: str) -> ModelServerError:
    tail = folder.log_tail()
    return ModelServerError(
        f"the embedded model's server {what}"
        + (f"; its log ends:\n{tail}" if tail else ""),
        hint=f"the whole log is {folder.log}; less memory: fewer slots or less context",
    )
