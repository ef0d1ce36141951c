"""Servers that misbehave on order, for our tests and for yours.

``FaultServer`` is a scripted OpenAI-compatible HTTP/1.1 server on 127.0.0.1. It costs no
model, answers about 10,000 requests a second of one core, and goes wrong exactly as its
script says. The guide, with whole tests to copy, is ``docs/testing.md``. ::

    from synthnb.testing import Fault, FaultServer

    async with FaultServer(
        answer=lambda body: "42",
        latency=0.02,
        faults=[
            Fault(429, retry_after=0.2, numbers=range(3, 6)),
            Fault("reset", rate=0.05),
            Fault(400, contains="#R17#", body={"error": "poisonous row"}),
        ],
        seed=7,
    ) as server:
        provider = Provider(server.base_url, model="fault-model")
        ...
    assert server.stats.max_in_flight <= 8
    assert server.stats.by_prompt["#R17#"] == 1

Three ways to run it:

- ``async with FaultServer(...) as server`` in the loop that runs;
- ``with FaultServer.in_thread(...) as server`` in a thread of its own;
- ``python -m synthnb.testing --latency 0.05`` as a process. It prints one JSON line with
  ``port``, ``base_url`` and ``pid``, and ends when its stdin closes or after
  ``--max-seconds``; ``with fault_process("--latency", "0.05") as server`` does that from a
  test and leaves no orphan; ``server.set(...)`` changes it while it runs.

Kinds: ``FaultServer.like("vllm")`` has the paths, metrics, error shapes, context errors and
refusals of that server. Paths of any kind: ``POST /v1/chat/completions``,
``GET /v1/models``, and ``GET /__stats`` and ``POST /__set`` for tests. It does not stream.

Answers: by default an echo; where the request has a ``json_schema`` response format, a
small valid instance of that schema, the same for the same body. Give ``answer`` a text or
a function ``body -> str | Answer`` for your own; ``Answer`` holds thinking in each form,
refusals and tool calls, ``ODD_TEXTS`` hard characters. All fields of ``server.chat``
(``answer``, ``latency``, ``models``, ``served_model``, ...) may be changed while it runs,
as may ``server.faults``, ``server.capacity``, ``server.outages`` and ``server.loading``.

What goes wrong: ``Fault`` (which requests: number, part of the body, rate with a seed, at
most so often, at most so often a prompt), ``Capacity`` (refuses, queues, batches, or limits
the rate), ``Outage`` or ``server.down()`` and ``server.up()``, ``Jitter`` and ``LogNormal``
delays, ``tls="self-signed"``, and the dialects' flags of ``FaultServer``.

Counts: ``server.stats`` (``Stats``). Prompts are named by a ``#R<digits>#`` mark in the
body where there is one, else by the last user message. Names of headers are kept, their
values never, so a key stays out of the counts and of ``/__stats``.
"""

from __future__ import annotations

from synthnb.testing.answers import ODD_TEXTS, Answer, ThinkForm
from synthnb.testing.capacity import Capacity
from synthnb.testing.chat import echo
from synthnb.testing.delays import Jitter, LogNormal
from synthnb.testing.faults import Fault, FaultKind
from synthnb.testing.instances import instance_of
from synthnb.testing.outages import Outage
from synthnb.testing.process import FaultProcess, fault_process
from synthnb.testing.server import FaultServer
from synthnb.testing.stats import Stats

__all__ = [
    "ODD_TEXTS",
    "Answer",
    "Capacity",
    "Fault",
    "FaultKind",
    "FaultProcess",
    "FaultServer",
    "Jitter",
    "LogNormal",
    "Outage",
    "Stats",
    "ThinkForm",
    "echo",
    "fault_process",
    "instance_of",
]
