"""Tries an endpoint step by step: reach, key, models, model, one token, context.

It contacts the provider's own host only. LiteLLM's ``/health`` calls each model behind it
and costs money: it is never asked, nor is any server that might be one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING

from synthnb.config import Limits
from synthnb.errors import AuthError, ProviderError, SynthnbError
from synthnb.providers.answers import Answer
from synthnb.providers.client import HttpChatClient
from synthnb.providers.connecting import Link, client_for, meet_server, open_link
from synthnb.providers.error_bodies import read_failure
from synthnb.providers.failures import error_for
from synthnb.providers.report import CheckReport, Outcome, Step
from synthnb.providers.server_details import context_of, is_still_loading, loading_note
from synthnb.providers.servers import ListedModel, kind_of, read_models
from synthnb.providers.urls import root_of
from synthnb.records import Message, Request, Sampling

if TYPE_CHECKING:
    from synthnb.providers.provider import Provider

_NAMES = (
    "reached",
    "key accepted",
    "models listed",
    "model present",
    "answered",
    "server kind",
    "max context",
)
_OK = 200
_LIMITS = Limits(connect_timeout=5.0, first_byte_timeout=60.0, total_timeout=60.0)
_QUICK = 10.0
_HELLO = Request((Message("user", "Hi"),), Sampling(max_tokens=1))
_LOADING = "still loading: wait until the model is ready, then check again"


@dataclass(slots=True)
class _Findings:
    """What is known so far; the steps of the report in the making."""

    base_url: str
    model: str | None
    steps: dict[str, Step] = field(default_factory=dict)
    models: tuple[ListedModel, ...] = ()
    server: str = "unknown"
    context: int | None = None
    client: HttpChatClient | None = None
    stopped: bool = False
    began: float = field(default_factory=time.perf_counter)
    progress: Callable[[Step], None] | None = None

    def note(
        self, name: str, outcome: Outcome, detail: str = "", next_step: str = ""
    ) -> None:
        now = time.perf_counter()
        seconds = 0.0 if outcome == "skipped" else now - self.began
        self.steps[name] = Step(name, outcome, detail, next_step, seconds)
        if self.progress is not None:
            self.progress(self.steps[name])
        self.began = now
        self.stopped = self.stopped or outcome == "failed"

    def fail(self, name: str, error: SynthnbError) -> None:
        self.note(name, "failed", error.message, error.hint)


async def check(
    provider: Provider, progress: Callable[[Step], None] | None = None
) -> CheckReport:
    """Check a provider; see ``Provider.check``."""
    found = _Findings(
        provider.base_url or "local model", provider.model, progress=progress
    )
    try:
        link = await open_link(provider, _LIMITS)
    except SynthnbError as error:
        found.fail("reached", error)
        return _report(found, provider)
    try:
        found.base_url, found.model, found.context = (
            link.base_url,
            link.model,
            link.context,
        )
        await _walk(found, link, provider)
    finally:
        await link.transport.aclose()
    return _report(found, provider)


async def _walk(found: _Findings, link: Link, provider: Provider) -> None:
    answer = await _reach(found, link)
    if answer is None:
        return
    await _models(found, link, answer, provider)
    if not found.stopped:
        await _present(found, link)
    if not found.stopped:
        await _answered(found, link, provider)
    if "answered" in found.steps and not found.stopped:
        await _details(found, link)


async def _reach(found: _Findings, link: Link) -> Answer | None:
    try:
        answer = await link.transport.get(
            f"{link.base_url}/models", timeout_seconds=_QUICK
        )
    except ProviderError as error:
        found.fail("reached", error)
        return None
    found.note("reached", "ok", f"HTTP {answer.status} from {link.base_url}")
    return answer


async def _models(
    found: _Findings, link: Link, answer: Answer, provider: Provider
) -> None:
    if answer.status in {401, 403}:
        error = error_for(answer, link.redactor, key_state=provider.key_state)
        found.fail("key accepted", error)
        return
    found.note("key accepted", "ok", f"the key is {provider.key_state}")
    listed = read_models(answer) if answer.status == _OK else None
    if listed is None:
        await _no_models(found, link, answer)
        return
    found.models = listed
    found.server = kind_of(listed, answer, link.base_url)
    names = ", ".join(
        f"{m.id} (adapter of {m.parent})" if m.parent else m.id for m in listed
    )
    if listed:
        found.note("models listed", "ok", names)
    else:
        found.note("models listed", "failed", "none", "load or pull a model there")


async def _no_models(found: _Findings, link: Link, answer: Answer) -> None:
    failure = read_failure(answer)
    note = await loading_note(link, answer)
    if note is not None or (failure.status == 503 and failure.is_loading):  # noqa: PLR2004
        found.note("models listed", "failed", note or "HTTP 503", _LOADING)
        return
    if answer.status == 404:  # noqa: PLR2004
        better = await _better_url(link)
        if better is not None:
            found.note("models listed", "failed", "HTTP 404", f"did you mean {better}?")
            return
    if found.model is not None and answer.status in {404, 405, 501}:
        found.note("models listed", "skipped", "the server lists no models")
        return
    error = error_for(answer, link.redactor)
    hint = error.hint or "is this an OpenAI-compatible API? name the model otherwise"
    found.note("models listed", "failed", error.message, hint)


async def _better_url(link: Link) -> str | None:
    """Look for the API in the usual places of the same host."""
    for candidate in dict.fromkeys(
        (f"{link.base_url}/v1", f"{root_of(link.base_url)}/v1")
    ):
        if candidate == link.base_url:
            continue
        try:
            answer = await link.transport.get(
                f"{candidate}/models", timeout_seconds=_QUICK
            )
        except ProviderError:
            continue
        if answer.status == _OK and read_models(answer) is not None:
            return candidate
    return None


async def _present(found: _Findings, link: Link) -> None:
    if found.steps["models listed"].outcome == "skipped":
        found.note("model present", "skipped", "there is no list to look in")
        return
    ids = [model.id for model in found.models]
    if found.model is None and len(ids) > 1:
        found.note(
            "model present", "failed", "none is named", "name one of them with model="
        )
        return
    model = found.model or ids[0]
    if await is_still_loading(link, found.server, found.models, model):
        found.note("model present", "failed", "the server is not ready", _LOADING)
    elif model in ids or f"{model}:latest" in ids:
        found.note("model present", "ok", model)
    elif found.server == "llama.cpp":
        found.note("model present", "ok", f"it answers with the one it has: {ids[0]}")
    else:
        close = get_close_matches(model, ids, n=1, cutoff=0.4)
        guess = f"did you mean {close[0]!r}?" if close else "name one of those listed"
        found.note("model present", "failed", f"no model {model!r} there", guess)
    found.model = model


async def _answered(found: _Findings, link: Link, provider: Provider) -> None:
    assert found.model is not None
    await meet_server(provider, link, found.model, found.models, found.server)
    client = client_for(provider, link, found.model, found.models, found.server)
    try:
        completion = await client.complete(_HELLO)
    except AuthError as error:
        # The list of models is public on some servers: only now the key was looked at.
        found.note("key accepted", "failed", error.message, error.hint)
        found.note("answered", "skipped")
    except ProviderError as error:
        if "max_tokens or model output limit" in error.message:
            found.note("answered", "ok", "one token was too few to finish: it works")
        else:
            found.fail("answered", error)
    else:
        served = completion.model or found.model
        found.note("answered", "ok", f"one token from {served}")
    if "answered" in found.steps and found.steps["answered"].outcome == "ok":
        await client.count_tokens(_HELLO.messages)
    found.client = client


async def _details(found: _Findings, link: Link) -> None:
    found.note("server kind", "ok", found.server)
    client = found.client
    assert client is not None
    # Ollama tells it only now: the model is loaded.
    found.context = client.context or await context_of(
        link, found.server, found.models, found.model
    )
    counts = "; it counts tokens itself (/tokenize)" if client.counts_tokens else ""
    if found.context is None:
        found.note("max context", "skipped", f"the server does not say{counts}")
    else:
        found.note("max context", "ok", f"{found.context:,} tokens{counts}")


def _report(found: _Findings, provider: Provider) -> CheckReport:
    client = found.client
    steps = [found.steps.get(name) or Step(name, "skipped") for name in _NAMES]
    return CheckReport(
        base_url=found.base_url,
        steps=tuple(steps),
        model=found.model,
        models=tuple(model.id for model in found.models),
        adapters={m.id: m.parent for m in found.models if m.parent},
        server=found.server,
        context=found.context,
        dialect=client.dialect if client else (),
        learned_at=client.learned_at if client else 0.0,
        counts_tokens=bool(client and client.counts_tokens),
        origins=dict(provider.origins),
        notes=(*provider.notes, *([provider.describe()] if provider.is_local else [])),
    )
