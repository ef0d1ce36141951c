"""The joint between ``Provider.local()`` and whatever starts a local model server.

Adapters never import each other, so the runtimes register a factory here (from tier 2).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from synthnb.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Launched:
    """A local server that is ready to answer."""

    base_url: str
    model: str
    slots: int
    """Requests that it answers at once."""
    context: int | None = None
    """Tokens of prompt and answer together that fit one slot."""


class ReadyServer(Protocol):
    """What is needed of a launched server; ``Launched`` is one, a runtime's own too."""

    @property
    def base_url(self) -> str:
        """The base URL of its API."""
        ...

    @property
    def model(self) -> str:
        """The id of the model that it serves."""
        ...

    @property
    def slots(self) -> int:
        """Requests that it answers at once."""
        ...

    @property
    def context(self) -> int | None:
        """Tokens of prompt and answer together that fit one slot."""
        ...


class Launcher(Protocol):
    """Starts a local server, or finds the one that runs already."""

    async def launch(self) -> ReadyServer:
        """Return the running server; quick when it runs already.

        Raises:
            ModelServerError: its program or weights cannot be had, or it does not start.
        """
        ...

    def describe(self) -> str:
        """Return one line for people: what runs, on what."""
        ...


LocalFactory: TypeAlias = Callable[..., Launcher]
"""``factory(model, **options)`` → a launcher; starts nothing by itself."""

_registered: list[LocalFactory] = []


def set_local_factory(factory: LocalFactory | None) -> None:
    """Name what ``Provider.local()`` is made with; ``None`` takes it back."""
    _registered[:] = [] if factory is None else [factory]


def make_launcher(model: str | None, options: dict[str, Any]) -> Launcher:
    """Return a launcher from the registered factory.

    Raises:
        ConfigError: no factory was registered.
    """
    if not _registered:
        raise ConfigError(
            "nothing that can start a local model is loaded",
            hint="import synthnb as sn; sn.Provider.local()",
        )
    return _registered[0](model, **options)
