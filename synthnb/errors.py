"""Every error that synthnb raises on purpose.

::

    SynthnbError                    message + hint (the next step)
    ├── ConfigError                 a wrong argument, setting or environment value
    ├── TemplateError               a prompt template that cannot work
    ├── DocumentError               nothing readable among the named files
    ├── FrameError                  a DataFrame without the columns that a step needs
    ├── ProviderError               a call to a model failed; carries the slot's status
    │   ├── ConnectError            nobody answers there
    │   ├── RequestTimeoutError     no (complete) answer in time
    │   ├── ServerError             5xx, a broken or unreadable answer
    │   ├── RateLimitError          429 / 503 with "slow down"
    │   ├── AuthError               401 / 403: stops the run
    │   ├── ContextError            prompt and answer do not fit the context
    │   └── RequestRefusedError     any other 4xx: the same request would fail again
    ├── ModelServerError            a local model server cannot be started or found
    ├── StoreError                  the run's folder or ledger
    │   ├── StoreLockedError        another process owns the run
    │   ├── StoreFullError          no space left; nothing that was saved is lost
    │   └── StoreVersionError       written by a newer synthnb
    ├── RunError                    a run ended before all slots were tried
    └── ExportError                 rows that the format cannot hold

An error says what happened and, as its hint, what to do next. No error text holds a key:
those that quote a server's answer pass the redactor in ``providers`` first.
"""

from __future__ import annotations

from synthnb.records import Status


class SynthnbError(Exception):
    """Base of all. ``str(error)`` is the message followed by the hint."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        """Keep the message and the hint, which says the next step."""
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        """Return the message, then the hint on a line of its own."""
        return f"{self.message}\n  → {self.hint}" if self.hint else self.message


class ConfigError(SynthnbError, ValueError):
    """A wrong argument, setting or environment value."""


class TemplateError(SynthnbError, ValueError):
    """A prompt template that cannot work: bad syntax, an unknown or forbidden name."""


class DocumentError(SynthnbError):
    """No readable text among the named files."""


class FrameError(SynthnbError, ValueError):
    """A DataFrame without the columns, or with the wrong values, that a step needs."""


class ProviderError(SynthnbError):
    """A call to a model failed.

    Attributes:
        status: what the slot's status becomes if this was the last attempt.
        retryable: whether the same request may succeed later.
        http_status: the HTTP status code, where there was an answer.
        retry_after: seconds that the server asked to wait.
        stops_run: whether every other request would fail in the same way.
        sent: whether the server was asked; ``False`` where it was clear beforehand.
    """

    status = Status.SERVER
    retryable = True
    stops_run = False
    sent = True

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        http_status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        """Keep what the server said beside the message."""
        super().__init__(message, hint=hint)
        self.http_status = http_status
        self.retry_after = retry_after


class ConnectError(ProviderError):
    """Nobody answers at the address: refused, unknown host, TLS failure.

    Attributes:
        no_room: it is this process that may open no more sockets.
    """

    no_room = False


class RequestTimeoutError(ProviderError):
    """No answer, or no complete answer, within the time-out."""

    status = Status.TIMEOUT


class ServerError(ProviderError):
    """The server failed (5xx), closed the connection, or sent what is no chat answer."""


class RateLimitError(ProviderError):
    """The server asks to slow down."""

    status = Status.RATE_LIMITED


class AuthError(ProviderError):
    """The key is missing or refused. Final: one request, one message, no retry."""

    status = Status.AUTH
    retryable = False
    stops_run = True


class ContextError(ProviderError):
    """The prompt (with the wanted answer) does not fit the model's context.

    Attributes:
        limit: the context's tokens, where the server said so.
        prompt_tokens: the prompt's, where known.
    """

    status = Status.CONTEXT
    retryable = False
    limit: int | None = None
    prompt_tokens: int | None = None


class RequestRefusedError(ProviderError):
    """The server refuses this very request (4xx); sending it again would not help."""

    status = Status.REFUSED
    retryable = False


class ModelServerError(SynthnbError):
    """A local model server, its program or its weights cannot be had."""


class StoreError(SynthnbError):
    """The run's folder or its ledger cannot be used."""


class StoreLockedError(StoreError):
    """Another process (or another run of this one) owns the run's folder."""


class StoreFullError(StoreError):
    """No space left on the device. What was acknowledged is safe."""


class StoreVersionError(StoreError):
    """The ledger was written by a newer synthnb; it is opened for reading only."""


class RunError(SynthnbError):
    """The run ended before every slot was tried; what was answered is saved."""


class ExportError(SynthnbError, ValueError):
    """The rows cannot be written in the wanted format."""
