"""Error answers of OpenAI-compatible servers, mapped to the typed errors."""

from __future__ import annotations

from difflib import get_close_matches
from http import HTTPStatus
from typing import TypeVar

from synthnb.errors import (
    AuthError,
    ContextError,
    ProviderError,
    RateLimitError,
    RequestRefusedError,
    RequestTimeoutError,
    ServerError,
)
from synthnb.providers.answers import Answer
from synthnb.providers.error_bodies import Failure, read_failure
from synthnb.providers.overflow import read_overflow
from synthnb.providers.redaction import Redactor
from synthnb.providers.waiting import retry_after

_E = TypeVar("_E", bound=ProviderError)
_QUOTED = 300
_READ = 8_000
_LISTED = 20
_TIMEOUTS = frozenset({408, 504, 524})


def error_for(
    answer: Answer,
    redactor: Redactor,
    *,
    model: str = "",
    key_state: str = "",
    known_models: tuple[str, ...] = (),
) -> ProviderError:
    """Return the typed error for an answer that is no success.

    Args:
        answer: status, headers and body.
        redactor: every quoted text passes it.
        model: the model that was asked for.
        key_state: the key's status in words, for a hint on 401.
        known_models: ids that the server is known to serve.
    """
    failure = read_failure(answer)
    said = excerpt(failure.message, redactor)
    error = _typed(failure, said, model, key_state, known_models)
    if isinstance(error, ContextError):
        # llama.cpp's sizes stand beside the message.
        error.limit, error.prompt_tokens = read_overflow(answer.text())
    error.http_status = answer.status
    if isinstance(error, RateLimitError | ServerError | RequestTimeoutError):
        error.retry_after = retry_after(answer.headers, failure.message)
    return error


def _typed(
    failure: Failure, said: str, model: str, key_state: str, known: tuple[str, ...]
) -> ProviderError:
    status = failure.status
    if status in {401, 403, 407}:
        return _denied(failure, said, key_state)
    if failure.is_context and status < 500:  # noqa: PLR2004 - HTTP's classes
        return _too_long(said)
    if status in {429, 503, 529}:
        return _slow_down(failure, said)
    if status >= 500 or status in _TIMEOUTS:  # noqa: PLR2004
        return _broken(failure, said)
    if status in {400, 404, 422} and failure.is_unknown_model and model:
        return unknown_model(model, known, said)
    return _refused(status, said)


def _too_long(said: str) -> ContextError:
    return ContextError(
        f"prompt and answer do not fit the model's context: {said}",
        hint="use smaller chunks, a smaller max_tokens, or a server with more context",
    )


def _denied(failure: Failure, said: str, key_state: str) -> ProviderError:
    if failure.status == HTTPStatus.FORBIDDEN and failure.is_moderation:
        return RequestRefusedError(f"the server's moderation refused this one: {said}")
    state = f"the key is {key_state}; " if key_state else ""
    return AuthError(
        f"the server refuses the key ({failure.status}): {said}",
        hint=f'{state}give one with api_key="env:NAME" and run again: what is done is kept',
    )


def _slow_down(failure: Failure, said: str) -> ProviderError:
    if failure.is_loading:
        return RateLimitError(
            f"the server is still loading its model ({failure.status}): {said}",
            hint="wait until it is ready; provider.check() shows when",
        )
    if failure.is_no_credit:
        return _final(
            RateLimitError(
                f"the account has no credit left ({failure.status}): {said}",
                hint="top the account up, then run again: what is done is kept",
            )
        )
    word = "busy" if failure.status >= 500 else "over a rate limit"  # noqa: PLR2004
    return RateLimitError(f"the server is {word} ({failure.status}): {said}")


def _broken(failure: Failure, said: str) -> ProviderError:
    if failure.status in _TIMEOUTS:
        return RequestTimeoutError(
            f"the server gave up waiting ({failure.status}): {said}"
        )
    hint = "an HTML page came back: a proxy or a wrong URL?" if failure.is_html else ""
    return ServerError(f"the server failed ({failure.status}): {said}", hint=hint)


def _refused(status: int, said: str) -> ProviderError:
    if 300 <= status < 400:  # noqa: PLR2004
        return _final(
            RequestRefusedError(
                f"the server redirects ({status}); a key is never sent on: {said}",
                hint="give the address that it redirects to, if you trust it",
            )
        )
    error = RequestRefusedError(f"the server refuses the request ({status}): {said}")
    if status in {402, 404, 405}:
        error.stops_run = True
        error.hint = {
            402: "top the account up, then run again: what is done is kept",
        }.get(
            status, "no chat API at this URL; did you mean another one, ending in /v1?"
        )
    return error


def unknown_model(
    model: str, known: tuple[str, ...], said: str = ""
) -> RequestRefusedError:
    """Return the error for a model that the server does not have; it stops the run."""
    close = get_close_matches(model, known, n=1, cutoff=0.4)
    guess = f"did you mean {close[0]!r}? " if close else ""
    listed = ", ".join(known[:_LISTED])
    if len(known) > _LISTED:
        listed += f" and {len(known) - _LISTED} more"
    hint = (
        f"{guess}The server has: {listed}"
        if known
        else "provider.check() lists the ids"
    )
    text = f"the server has no model {model!r}"
    return _final(RequestRefusedError(f"{text}: {said}" if said else text, hint=hint))


def _final(error: _E) -> _E:
    error.retryable = False
    error.stops_run = True
    return error


def excerpt(text: str, redactor: Redactor) -> str:
    """Return a server's text for an error: redacted, on one line, cut, harmless."""
    clean = redactor(text[:_READ])
    line = " ".join("".join(c if c.isprintable() else " " for c in clean).split())
    if not line:
        return "(nothing)"
    return line if len(line) <= _QUOTED else f"{line[: _QUOTED - 1]}…"
