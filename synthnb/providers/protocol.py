"""What the engine needs from whatever completes requests."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from synthnb.records import Completion, Request


@runtime_checkable
class ChatClient(Protocol):
    """Completes one request at a time; the only thing that touches the network.

    One client serves a whole run (a client per request costs a TLS context each). It is
    used on the loop on which it was opened, by many tasks at once, and never retries:
    retry lives in the engine, where the ledger sees each attempt.
    """

    @property
    def model(self) -> str:
        """The model's id as the server knows it."""
        ...

    @property
    def endpoint(self) -> str:
        """The base URL in use, for the ledger and for messages; holds no key."""
        ...

    @property
    def default_concurrency(self) -> int:
        """How many requests at once suit this endpoint when nobody says."""
        ...

    async def complete(self, request: Request) -> Completion:
        """Send one request and return its answer.

        Raises:
            ProviderError: typed by kind; see ``synthnb.errors``.
        """
        ...

    async def aclose(self) -> None:
        """Close connections. Calling it twice is harmless."""
        ...
