"""OpenTelemetry spans, with the names of the semantic conventions for generative AI.

All names stand here, for the conventions still change: these are those of "client
inference" in https://github.com/open-telemetry/semantic-conventions-genai (development),
where ``gen_ai.provider.name`` took the place of ``gen_ai.system``. Prompts and answers are
never recorded, and no setting turns that on. Without the API's package, or without a
tracer provider, a run has no tracing and pays nothing.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from synthnb.errors import ProviderError
from synthnb.records import Completion, Request

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

_OPERATION = "chat"
_PROVIDER = "openai"
"""The API that is spoken, for every server that is none of these."""
_PROVIDERS = {
    "openai.azure.com": "azure.ai.openai",
    "services.ai.azure.com": "azure.ai.inference",
    "generativelanguage.googleapis.com": "gcp.gemini",
    "api.anthropic.com": "anthropic",
    "api.cohere.ai": "cohere",
    "api.deepseek.com": "deepseek",
    "api.groq.com": "groq",
    "api.mistral.ai": "mistral_ai",
    "api.perplexity.ai": "perplexity",
    "api.x.ai": "x_ai",
}
"""Host → the conventions' name of who runs it."""


class Tracing:
    """The spans of one run: one for the run, below it one for each attempt."""

    def __init__(self, tracer: Tracer, name: str, model: str, endpoint: str) -> None:
        """Begin the run's span."""
        from opentelemetry import trace

        self._trace = trace
        self._tracer = tracer
        self._model = model
        self._common: dict[str, Any] = {
            "gen_ai.operation.name": _OPERATION,
            "gen_ai.request.model": model,
            **_server(endpoint),
        }
        self._run = tracer.start_span(
            f"synthnb.run {name}", attributes={"synthnb.run.name": name}
        )
        self._context = trace.set_span_in_context(self._run)

    @classmethod
    def of_run(cls, name: str, model: str, endpoint: str) -> Tracing | None:
        """Return the tracing of a run; ``None`` where nobody records spans."""
        try:
            from opentelemetry import trace
        except ImportError:
            return None
        provider = trace.get_tracer_provider()
        if isinstance(provider, trace.ProxyTracerProvider | trace.NoOpTracerProvider):
            return None
        tracer = trace.get_tracer("synthnb", version("synthnb"))
        return cls(tracer, name, model, endpoint)

    def attempt(self, request: Request, row_id: str) -> Attempt:
        """Begin the span of one attempt."""
        sampling = request.sampling
        asked = {
            "gen_ai.request.max_tokens": sampling.max_tokens,
            "gen_ai.request.temperature": sampling.temperature,
            "gen_ai.request.top_p": sampling.top_p,
            "gen_ai.request.seed": sampling.seed,
            "gen_ai.request.stop_sequences": sampling.stop or None,
            "gen_ai.output.type": None if request.schema is None else "json",
            "synthnb.row.id": row_id,
        }
        span = self._tracer.start_span(
            f"{_OPERATION} {self._model}",
            context=self._context,
            kind=self._trace.SpanKind.CLIENT,
            attributes=self._common | {k: v for k, v in asked.items() if v is not None},
        )
        return Attempt(span)

    def end(self, error: BaseException | None = None) -> None:
        """End the run's span."""
        if error is not None:
            _fail(self._run, error)
        self._run.end()


class Attempt:
    """The span of one attempt; end it by one of its methods."""

    __slots__ = ("_span",)

    def __init__(self, span: Span) -> None:
        """Take the span."""
        self._span = span

    def answered(self, completion: Completion) -> None:
        """End it with what came back, content left out."""
        usage = completion.usage
        found: dict[str, Any] = {
            "gen_ai.response.model": completion.model,
            "gen_ai.response.id": completion.request_id,
            "gen_ai.usage.input_tokens": usage.prompt_tokens,
            "gen_ai.usage.output_tokens": usage.completion_tokens,
        }
        if completion.finish_reason:
            found["gen_ai.response.finish_reasons"] = [completion.finish_reason]
        self._span.set_attributes({k: v for k, v in found.items() if v is not None})
        self._span.end()

    def failed(self, error: BaseException) -> None:
        """End it with the kind of failure."""
        _fail(self._span, error)
        self._span.end()


def _server(endpoint: str) -> dict[str, Any]:
    """Say where the model is. User names and passwords in a URL are no part of it."""
    parts = urlsplit(endpoint)
    host = parts.hostname
    if host is None:  # a client of the user's own says what it likes
        return {"gen_ai.provider.name": _PROVIDER, "server.address": endpoint}
    provider = next(
        (
            name
            for known, name in _PROVIDERS.items()
            if f".{host}".endswith(f".{known}")
        ),
        _PROVIDER,
    )
    default = 443 if parts.scheme == "https" else 80
    return {
        "gen_ai.provider.name": provider,
        "server.address": host,
        "server.port": parts.port or default,
    }


def _fail(span: Span, error: BaseException) -> None:
    from opentelemetry.trace import Status, StatusCode

    kind = type(error).__name__
    if isinstance(error, ProviderError) and error.http_status:
        kind = str(error.http_status)
    span.set_attribute("error.type", kind)
    # Without the message: a server's words may quote the prompt.
    span.set_status(Status(StatusCode.ERROR))
