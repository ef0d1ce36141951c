"""The chat client: one request to one completion, over any transport."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from synthnb.errors import ContextError, ProviderError, ServerError
from synthnb.providers.answers import Answer, Transport
from synthnb.providers.completions import CUT, decode, full_context, reasoning_place
from synthnb.providers.dialect import Dialect
from synthnb.providers.error_bodies import read_failure
from synthnb.providers.failures import error_for
from synthnb.providers.fitting import LOWERED, Planner, characters, shortened
from synthnb.providers.forms import IDEAL
from synthnb.providers.overflow import Overflow
from synthnb.providers.redaction import Redactor
from synthnb.providers.served import ServedModels
from synthnb.providers.tokenize import Count, Tokenizer
from synthnb.providers.urls import root_of
from synthnb.providers.wire import Encoder, messages_of
from synthnb.records import Completion, Message, Request

MODEL_CHANGED = "model_changed"
"""Mark in ``Completion.adapted``: the server names another model than at first."""
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
        ask_context: Callable[[], Awaitable[int | None]] | None = None,
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
            ask_context: asks the server for its context once a model is loaded, where
                it says so only then (Ollama).
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
        self._ask_context = ask_context
        self._asking: asyncio.Future[int | None] | None = None
        self._served = ServedModels()
        self._planner = Planner(dialect)
        self._encoder = Encoder(model)
        # A hosted API has no such path, and would be asked with the key for nothing.
        own = endpoint.startswith("http:")
        self._tokenizer = (
            Tokenizer(transport, root_of(endpoint), model) if own else None
        )

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
        return self._dialect.describe()

    @property
    def learned_at(self) -> float:
        """When an earlier process learned the dialect, in seconds since 1970; else 0."""
        return self._dialect.learned_at

    @property
    def context(self) -> int | None:
        """Tokens of prompt and answer together, where known."""
        return self._dialect.context

    @property
    def counts_tokens(self) -> bool | None:
        """Whether the server has a tokenizer to ask; ``None`` until it was asked."""
        return False if self._tokenizer is None else self._tokenizer.exists

    @property
    def served_models(self) -> tuple[str, ...]:
        """Models that the answers named, in their order; more than one is a warning.

        An alias and its dated snapshots count as one.
        """
        return self._served.names

    @property
    def settled_concurrency(self) -> int | None:
        """Requests at once at which an earlier run settled here, if one did."""
        return self._dialect.settled

    def remember_concurrency(self, at_once: int) -> None:
        """Keep the number of requests at once at which a run settled.

        Args:
            at_once: what the server takes; at least 1.
        """
        if at_once > 0:
            self._dialect.learn_settled(at_once)

    async def complete(self, request: Request) -> Completion:
        """Send one request and return its answer.

        What cannot fit the context, as far as the server told it, is not sent.

        Raises:
            ContextError: it does not fit; ``sent`` tells whether the server was asked.
            ProviderError: typed by kind; see ``synthnb.errors``.
        """
        dialect, asked = self._dialect, request
        chars = 0
        if dialect.context is not None:
            chars = characters(request)
            if not self._planner.fits(chars, request):
                request = await self._planner.plan(request, self._counter())
        form = dialect.form
        for _ in range(dialect.max_steps):
            body, replaced = self._encoder(request, form)
            answer = await self._transport.post("/chat/completions", body)
            if answer.status == _OK:
                if self._ask_context is not None:
                    await self._late_context()
                completion = decode(
                    answer,
                    request,
                    form,
                    self._redactor,
                    replaced=replaced,
                    context=dialect.context,
                )
                notes = () if request is asked else (LOWERED,)
                return self._noted(completion, answer, chars, notes)
            following = dialect.learn(read_failure(answer), request, form)
            if following is not None:
                form = following
                continue
            error = self._refusal(answer, request)
            shorter = _shorter(request, error) if request is asked else None
            if shorter is None:
                raise error
            request = shorter
        raise ServerError("the server refused every form of the request")

    async def fit(self, request: Request) -> None:
        """Do nothing if a request may be sent.

        Raises:
            ContextError: it cannot fit the context; its ``sent`` is false.
        """
        if not self._planner.fits(characters(request), request):
            await self._planner.plan(request, self._counter())

    def _refusal(self, answer: Answer, request: Request) -> ProviderError:
        error = error_for(
            answer,
            self._redactor,
            model=self._model,
            key_state=self._key_state,
            known_models=self._known_models,
        )
        if isinstance(error, ContextError):
            told = Overflow(error.limit, error.prompt_tokens)
            if told.is_sound(request.sampling.max_tokens or 0):
                self._dialect.learn_context(told.limit)
        return error

    def _noted(
        self,
        completion: Completion,
        answer: Answer,
        chars: int,
        notes: tuple[str, ...],
    ) -> Completion:
        """Learn from an answer; note what was changed, and another model than before."""
        dialect, tokens = self._dialect, completion.usage.prompt_tokens
        if dialect.sends_usage is not True and (
            tokens is not None or dialect.sends_usage is None
        ):
            dialect.learn_usage(is_sent=tokens is not None)
        if tokens is not None and dialect.context is not None:
            self._planner.saw(chars, tokens)
            if tokens > dialect.context:
                dialect.doubt_context()
        if completion.reasoning is not None and dialect.reasoning is None:
            dialect.learn_reasoning(reasoning_place(answer))
        if completion.adapted and CUT in completion.adapted:
            self._learn_cut(completion)
        if self._served.is_other(completion.model):
            notes = (*notes, MODEL_CHANGED)
        if not notes:
            return completion
        return replace(completion, adapted=(*completion.adapted, *notes))

    async def _late_context(self) -> None:
        """Ask for the context now that a model is loaded; all answers wait for it once.

        Without it a prompt that was cut could only be guessed at.
        """
        if self._asking is None:
            assert self._ask_context is not None
            self._asking = asyncio.ensure_future(self._ask_context())
        tokens = await asyncio.shield(self._asking)
        self._ask_context = None
        self._dialect.learn_context(tokens)

    def _learn_cut(self, completion: Completion) -> None:
        usage = completion.usage
        self._dialect.learn_cut(
            full_context(usage.prompt_tokens or 0, usage.completion_tokens or 0)
        )

    def _counter(self) -> Callable[[Request], Awaitable[Count | None]] | None:
        return None if self.counts_tokens is False else self._count

    async def _count(self, request: Request) -> Count | None:
        """Count a request as it will be sent, with what its form adds."""
        assert self._tokenizer is not None
        chat = messages_of(request, self._dialect.form)
        found = await self._tokenizer.count(chat)
        if found is not None and found.context is not None:
            self._dialect.learn_context(found.context)
        return found

    async def count_tokens(self, messages: Sequence[Message]) -> int | None:
        """Return a chat's prompt tokens by the server's own tokenizer.

        ``None`` where it has none; a hosted API is not asked.
        """
        if self._tokenizer is None:
            return None
        found = await self._tokenizer.count(
            messages_of(Request(tuple(messages)), IDEAL)
        )
        return None if found is None else found.tokens

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
        if self._asking is not None:
            self._asking.cancel()
        await self._transport.aclose()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._model} at {self._endpoint}>"


def _shorter(request: Request, error: ProviderError) -> Request | None:
    """Return the request with a ``max_tokens`` that the server's refusal leaves room for.

    As planning would have made it, had the sizes been known.
    """
    if not isinstance(error, ContextError):
        return None
    if error.limit is None or error.prompt_tokens is None:
        return None
    room = error.limit - error.prompt_tokens
    if room + 1 >= (request.sampling.max_tokens or 0):
        # vLLM stops counting one token beyond what it could take: it told no size.
        return None
    return shortened(request, room)
