"""The chat client: one request to one completion, over any transport."""

from __future__ import annotations

from collections.abc import Sequence

from synthnb.errors import ProviderError, ServerError
from synthnb.providers.answers import Transport
from synthnb.providers.completions import decode
from synthnb.providers.dialect import Dialect
from synthnb.providers.error_bodies import read_failure
from synthnb.providers.failures import error_for
from synthnb.providers.redaction import Redactor
from synthnb.providers.tokenize import count_tokens
from synthnb.providers.urls import root_of
from synthnb.providers.wire import encode
from synthnb.records import Completion, Message, Request

_OK = 200
_NOT_YET = frozenset({502, 503, 504})
"""A gateway whose server is gone, or a server that is loading its model."""
_KNOCK_SECONDS = 5.0


class HttpChatClient:
    """Implements ``ChatClient`` for an OpenAI-compatible server.

    A refusal that teaches something about the server's dialect is answered at once with
    the same request in another form; that costs no tokens and counts as one attempt.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        endpoint: str,
        model: str,
        dialect: Dialect,
        redactor: Redactor,
        concurrency: int,
        key_state: str = "",
        has_metrics: bool = False,
        known_models: tuple[str, ...] = (),
    ) -> None:
        """Take over the transport, which ``aclose`` closes.

        Args:
            transport: sends the requests.
            endpoint: the base URL, for the ledger and for messages.
            model: the model's id.
            dialect: what is known about this server; it learns.
            redactor: passes every text of the server that goes into an error.
            concurrency: the default for runs that name none.
            key_state: the key's status in words, for a hint on 401.
            has_metrics: whether ``/metrics`` of the server's root may be asked for.
            known_models: ids that the server lists, for a hint on a wrong one.
        """
        self._transport = transport
        self._endpoint = endpoint
        self._model = model
        self._dialect = dialect
        self._redactor = redactor
        self._concurrency = concurrency
        self._key_state = key_state
        self._known_models = known_models
        self._has_metrics = has_metrics

    @property
    def model(self) -> str:
        """The model's id as the server knows it."""
        return self._model

    @property
    def endpoint(self) -> str:
        """The base URL in use; holds no key."""
        return self._endpoint

    @property
    def default_concurrency(self) -> int:
        """How many requests at once suit this endpoint when nobody says."""
        return self._concurrency

    @property
    def dialect(self) -> tuple[str, ...]:
        """What was learned about the server, e.g. ``("max_completion_tokens",)``."""
        return self._dialect.form.describe()

    async def complete(self, request: Request) -> Completion:
        """Send one request and return its answer.

        Raises:
            ProviderError: typed by kind; see ``synthnb.errors``.
        """
        form = self._dialect.form
        for _ in range(self._dialect.max_steps):
            body, replaced = encode(request, self._model, form)
            answer = await self._transport.post("/chat/completions", body)
            if answer.status == _OK:
                return decode(answer, request, form, self._redactor, replaced=replaced)
            following = self._dialect.learn(read_failure(answer), request, form)
            if following is None:
                raise error_for(
                    answer,
                    self._redactor,
                    model=self._model,
                    key_state=self._key_state,
                    known_models=self._known_models,
                )
            form = following
        raise ServerError("the server refused every form of the request")

    async def count_tokens(self, messages: Sequence[Message]) -> int | None:
        """Return a chat's prompt tokens by the server's own tokenizer.

        ``None`` where it has none; a hosted API is not asked.
        """
        if not self._endpoint.startswith("http:"):
            return None
        root = root_of(self._endpoint)
        return await count_tokens(self._transport, root, self._model, messages)

    async def is_up(self) -> bool:
        """Tell whether somebody answers there who is not still loading; costs nothing.

        Asked by the engine after a connection failed. The list of models is the one
        address that every server of this kind has.
        """
        try:
            answer = await self._transport.get(
                f"{self._endpoint}/models", timeout_seconds=_KNOCK_SECONDS
            )
        except ProviderError:
            return False
        return answer.status not in _NOT_YET

    async def metrics(self) -> str | None:
        """Return the server's Prometheus metrics; ``None`` where it has none.

        Asked of servers of one's own only: a hosted API has nothing to say there.
        """
        if not self._has_metrics:
            return None
        try:
            answer = await self._transport.get(
                f"{root_of(self._endpoint)}/metrics", timeout_seconds=_KNOCK_SECONDS
            )
        except ProviderError:
            return None
        return answer.text() if answer.status == _OK else None

    async def aclose(self) -> None:
        """Close connections. Calling it twice is harmless."""
        await self._transport.aclose()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._model} at {self._endpoint}>"
