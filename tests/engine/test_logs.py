"""The log: a run's life, what wants a look, each attempt; never content or a key."""

from __future__ import annotations

import logging

import synthnb as sn
from synthnb.config import Limits, Retry
from synthnb.errors import ServerError
from synthnb.pipeline import generate
from synthnb.testing import Answer, Fault, FaultServer

QUICK = Limits(retry=Retry(max_attempts=2, base_seconds=0.01, max_seconds=0.02))
CANARY = "canary-8f3a1c"


def rows(n):
    return [{"record_id": f"row-{i}", "text": f"t{i}"} for i in range(n)]


async def test_life_is_told_at_info_and_a_kind_of_failure_once(echo, puppet, caplog):
    caplog.set_level(logging.INFO, logger="synthnb")
    client = puppet(lambda text: ServerError("boom") if text < "t5" else "word")
    await generate(echo(), rows(8), client, name="told", limits=QUICK)
    texts = [r.getMessage() for r in caplog.records]
    assert "run told is running" in texts
    assert sum("more of this kind are only counted" in text for text in texts) == 1
    assert texts[-1] == "run told is done; not ok: 5 server"
    assert caplog.records[-1].levelno == logging.WARNING


async def test_each_attempt_is_told_at_debug_with_its_request_id(echo, caplog):
    caplog.set_level(logging.DEBUG, logger="synthnb")
    async with FaultServer(faults=[Fault(500, numbers=[1])]) as server:
        provider = sn.Provider(server.base_url, "fault-model")
        limits = QUICK.model_copy(update={"max_concurrency": 1})
        await generate(echo(), rows(2), provider, name="each", limits=limits)
    texts = [r.getMessage() for r in caplog.records]
    assert any(
        "row row-0 is tried again" in t and "ServerError 500" in t for t in texts
    )
    assert any("row row-1 was answered: ok" in t and "chatcmpl-" in t for t in texts)
    assert any("row row-0 was answered" in t and "attempt 2" in t for t in texts)


async def test_no_content_and_no_key_at_any_level(echo, caplog):
    caplog.set_level(logging.DEBUG)
    faults = [
        Fault(500, numbers=[1], body={"error": {"message": f"bad prompt {CANARY}"}}),
        Fault(429, numbers=[2], body=f"slow down {CANARY}", retry_after=0.01),
        Fault(400, contains="row 3", body={"error": {"message": f"no {CANARY}"}}),
    ]
    server = FaultServer(
        answer=lambda _: Answer(f"{CANARY} answer", reasoning=CANARY), faults=faults
    )
    async with server:
        provider = sn.Provider(
            server.base_url,
            "fault-model",
            api_key=f"sk-{CANARY}",
            headers={"x-api-key": CANARY},
        )
        data = [{"text": f"row {i} {CANARY}"} for i in range(6)]
        run = generate(echo(), data, provider, name="canary", limits=QUICK)
        await run
    # asyncio's own debug log and ours are looked at alike.
    assert any(r.name == "synthnb.run" for r in caplog.records)
    assert CANARY not in caplog.text


def test_a_program_without_logging_sees_nothing(capfd):
    import subprocess
    import sys

    code = (
        "import asyncio, logging, synthnb.engine.logs as l\n"
        "from synthnb.engine.events import Noted\n"
        "l.RunLog('x')(Noted('disk full'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stderr == done.stdout == ""
