"""The joint behind ``Provider.local()``: the provider's launcher is the embedded server.

Importing this module registers the factory. The public face does so on the first use of
``Provider``; ``providers`` and ``runtimes`` do not know each other.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from synthnb.providers.local import Launched, set_local_factory
from synthnb.providers.provider import Provider
from synthnb.runtimes.llamacpp import EmbeddedServer
from synthnb.runtimes.models import Progress

__all__ = ["EmbeddedLauncher", "Provider", "local_launcher", "logged_progress"]

_log = logging.getLogger("synthnb.local")

_STEPS = 4


class EmbeddedLauncher:
    """An ``EmbeddedServer`` in the form that ``Provider`` takes (its ``Launcher``)."""

    def __init__(self, server: EmbeddedServer) -> None:
        self.server = server

    async def launch(self) -> Launched:
        """Return the running server, starting it (and fetching the model) if needed.

        Raises:
            ModelServerError: see ``EmbeddedServer.launch``.
        """
        running = await self.server.launch()
        return Launched(running.base_url, running.model, running.slots, running.context)

    def describe(self) -> str:
        """Return one line for people: the model, its licence and place, slots, threads."""
        return self.server.describe()

    def release(self) -> None:
        """Give the server up before the process ends."""
        self.server.release()


def local_launcher(
    model: str | Path | None = None,
    *,
    progress: Progress | None = None,
    **options: Any,
) -> EmbeddedLauncher:
    """Make a launcher; it starts and fetches nothing before ``launch``.

    Args:
        model: see ``EmbeddedServer``.
        progress: told about a fetch; by default it is logged, as warnings, because a
            download of 93 MB that nobody asked for by name must be seen.
        options: ``slots``, ``context``, ``threads``, ``timeout`` of ``EmbeddedServer``.
    """
    shown = logged_progress() if progress is None else progress
    return EmbeddedLauncher(EmbeddedServer(model, progress=shown, **options))


def logged_progress() -> Progress:
    """Return a progress callback that logs each new step and each quarter of its bytes."""
    last: tuple[str, int] | None = None

    def log(what: str, done: int, total: int) -> None:
        nonlocal last
        step = (what, done * _STEPS // total if total else 0)
        if step == last:
            return
        last = step
        if 0 < done < total:
            _log.warning("%s: %d of %d MB", what, done // 10**6, total // 10**6)
        else:
            _log.warning("%s", what)

    return log


set_local_factory(local_launcher)
