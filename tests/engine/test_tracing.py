"""Spans with the GenAI names, on a small tracer provider of the test's own."""

from __future__ import annotations

import asyncio
import builtins
import subprocess
import sys

import pytest

import synthnb as sn
from synthnb.config import Limits, Retry
from synthnb.engine.tracing import Tracing
from synthnb.errors import AuthError
from synthnb.pipeline import generate
from synthnb.records import Completion, Message, Request
from synthnb.testing import Answer, Fault, FaultServer

# Optional for users too: without it a run has no spans.
trace = pytest.importorskip("opentelemetry.trace")
CANARY = "canary-77e1"


class Span(trace.NonRecordingSpan):
    def __init__(self, name, parent, kind, attributes):
        number = len(SPANS) + 1
        super().__init__(trace.SpanContext(1, number, is_remote=False))
        self.name, self.parent, self.kind = name, parent, kind
        self.attributes, self.status, self.ended = dict(attributes or {}), None, 0
        self.started_under = trace.get_current_span()
        SPANS.append(self)

    def set_attribute(self, key, value):
        self.attributes[key] = value

    def set_attributes(self, attributes):
        self.attributes |= attributes

    def set_status(self, status, description=None):
        self.status = status.status_code

    def end(self, end_time=None):
        self.ended += 1


SPANS: list[Span] = []


class Tracer(trace.Tracer):
    def start_span(
        self, name, context=None, kind=trace.SpanKind.INTERNAL, attributes=None, **_
    ):
        parent = trace.get_current_span(context) if context else None
        return Span(name, parent, kind, attributes)

    def start_as_current_span(self, *_, **__):
        raise NotImplementedError


class Provider(trace.TracerProvider):
    def get_tracer(self, *_, **__):
        return Tracer()


@pytest.fixture
def spans(monkeypatch):
    SPANS.clear()
    monkeypatch.setattr(trace, "get_tracer_provider", Provider)
    monkeypatch.setattr(trace, "get_tracer", lambda *_: Tracer())
    return SPANS


async def run_of(server, **options):
    provider = sn.Provider(server.base_url, "fault-model")
    recipe = sn.Prompt("About {{ text }}", max_tokens=9, temperature=0.5, seed=3)
    limits = Limits(retry=Retry(base_seconds=0.01, max_seconds=0.02), max_concurrency=1)
    run = generate(
        recipe, [{"text": CANARY}], provider, name="traced", limits=limits, **options
    )
    await run
    return run


async def test_a_run_and_each_attempt_has_a_span_with_the_conventions_names(spans):
    faults = [Fault(500, numbers=[1], body={"error": CANARY})]
    async with FaultServer(answer=lambda _: Answer(CANARY), faults=faults) as server:
        await run_of(server)
        port = server.port
    run, failed, good = spans
    assert run.name == "synthnb.run traced"
    assert failed.parent is good.parent is run
    assert good.name == "chat fault-model"
    assert good.kind is trace.SpanKind.CLIENT
    assert good.attributes == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "fault-model",
        "gen_ai.request.max_tokens": 9,
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.seed": 3,
        "gen_ai.response.model": "fault-model",
        "gen_ai.response.id": "chatcmpl-2",
        "gen_ai.response.finish_reasons": ["stop"],
        "gen_ai.usage.input_tokens": 5,
        "gen_ai.usage.output_tokens": 3,
        "server.address": "127.0.0.1",
        "server.port": port,
        "synthnb.row.id": good.attributes["synthnb.row.id"],
    }
    assert failed.attributes["error.type"] == "500"
    assert failed.status is trace.StatusCode.ERROR
    assert [span.ended for span in spans] == [1, 1, 1]
    assert CANARY not in str([span.attributes for span in spans])


async def test_without_a_provider_there_is_no_tracing():
    assert Tracing.of_run("x", "m", "http://h:1/v1") is None


async def test_without_the_package_there_is_no_tracing(monkeypatch):
    real = builtins.__import__

    def absent(name, *rest, **options):
        if name.startswith("opentelemetry"):
            raise ImportError(name)
        return real(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", absent)
    assert Tracing.of_run("x", "m", "http://h:1/v1") is None


@pytest.mark.parametrize(
    ("endpoint", "provider", "address", "port"),
    [
        ("http://10.0.0.7:8000/v1", "openai", "10.0.0.7", 8000),
        ("https://api.openai.com/v1", "openai", "api.openai.com", 443),
        ("https://api.groq.com/openai/v1", "groq", "api.groq.com", 443),
        ("https://x.openai.azure.com/v1", "azure.ai.openai", "x.openai.azure.com", 443),
        ("https://evil-api.x.ai.example/v1", "openai", "evil-api.x.ai.example", 443),
        ("https://notapi.x.ai/v1", "openai", "notapi.x.ai", 443),
        ("http://[::1]/v1", "openai", "::1", 80),
        (f"http://user:{CANARY}@host:1/v1?key={CANARY}", "openai", "host", 1),
        ("puppet:", "openai", "puppet:", None),
    ],
)
def test_a_server_is_named_as_the_conventions_have_it(
    spans, endpoint, provider, address, port
):
    tracing = Tracing.of_run("named", "m", endpoint)
    tracing.attempt(Request((Message("user", CANARY),)), "row-1").answered(
        Completion(CANARY)
    )
    tracing.end()
    attributes = spans[1].attributes
    assert attributes["gen_ai.provider.name"] == provider
    assert attributes["server.address"] == address
    assert attributes.get("server.port") == port
    assert None not in attributes.values()
    assert CANARY not in str([vars(span) for span in spans])


async def test_a_run_that_is_cancelled_or_fails_ends_its_spans(spans, echo, puppet):
    gate = asyncio.Event()

    async def never():
        await gate.wait()

    run = generate(echo(), [{"text": "x"}], puppet(lambda _: never()), name="stopped")
    while len(spans) < 2:
        await asyncio.sleep(0)
    run.stop()
    run.stop()
    await run
    assert [span.ended for span in spans] == [1, 1]
    assert spans[1].attributes["error.type"] == "CancelledError"

    spans.clear()
    failing = generate(
        echo(), [{"text": "x"}], puppet(lambda _: AuthError("no")), name="failing"
    )
    with pytest.raises(AuthError):
        await failing
    assert [span.ended for span in spans] == [1, 1]
    assert [s.attributes["error.type"] for s in spans] == ["AuthError", "AuthError"]


async def test_a_runs_span_lies_below_the_callers_own(spans, echo, puppet):
    outer = Tracer().start_span("mine")
    with trace.use_span(outer):
        await generate(echo(), [{"text": "x"}], puppet(), name="below")
    _, run, _ = spans
    assert run.name == "synthnb.run below"
    assert run.started_under is outer


def test_asking_for_tracing_loads_nothing_of_it_where_there_is_none():
    code = (
        "import sys; import synthnb; import synthnb.engine.tracing\n"
        "assert not any(n.startswith('opentelemetry') for n in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
