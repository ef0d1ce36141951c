"""Spans with the GenAI names, on a small tracer provider of the test's own."""

from __future__ import annotations

import builtins

import pytest
from opentelemetry import trace

import synthnb as sn
from synthnb.config import Limits, Retry
from synthnb.engine.tracing import Tracing
from synthnb.pipeline import generate
from synthnb.testing import Answer, Fault, FaultServer

CANARY = "canary-77e1"


class Span(trace.NonRecordingSpan):
    def __init__(self, name, parent, kind, attributes):
        number = len(SPANS) + 1
        super().__init__(trace.SpanContext(1, number, is_remote=False))
        self.name, self.parent, self.kind = name, parent, kind
        self.attributes, self.status, self.ended = dict(attributes or {}), None, 0
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
        "gen_ai.output.type": "text",
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
