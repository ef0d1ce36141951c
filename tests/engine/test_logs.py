"""The log: a run's life, what wants a look, each attempt; never content or a key."""

from __future__ import annotations

import logging

import pytest

import synthnb as sn
from synthnb.config import Limits, Retry
from synthnb.engine.events import Answered, Failed, Held, Noted, Retried, StateChanged
from synthnb.engine.logs import RunLog
from synthnb.engine.progress import State
from synthnb.errors import RateLimitError, ServerError, StoreError
from synthnb.pipeline import generate
from synthnb.recipes.base import Parsed
from synthnb.records import Status
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


def test_waits_that_follow_each_other_are_one_line(caplog):
    caplog.set_level(logging.INFO, logger="synthnb")
    moment = [0.0]
    log = RunLog("x", clock=lambda: moment[0])
    for second in range(70):
        moment[0] = float(second)
        log(Held(2.0, RateLimitError("slow down", http_status=429)))
    texts = [r.getMessage() for r in caplog.records]
    assert texts == [
        "run x: all wait 2.0 s after RateLimitError 429",
        "run x: all wait 2.0 s after RateLimitError 429 (and 29 times before)",
        "run x: all wait 2.0 s after RateLimitError 429 (and 29 times before)",
    ]


@pytest.mark.parametrize(
    ("event", "level", "text"),
    [
        (StateChanged(State.RUNNING), logging.INFO, "run x is running"),
        (StateChanged(State.STALLED), logging.WARNING, "run x is stalled"),
        (StateChanged(State.DONE), logging.INFO, "run x is done"),
        (
            StateChanged(State.ERROR, ServerError(CANARY, http_status=503)),
            logging.ERROR,
            "run x is error after ServerError 503",
        ),
        (
            StateChanged(State.ERROR, StoreError(CANARY)),
            logging.ERROR,
            "run x is error after StoreError",
        ),
        (Noted("disk full"), logging.WARNING, "run x: disk full"),
    ],
)
def test_what_a_life_brings_has_its_level(caplog, event, level, text):
    caplog.set_level(logging.DEBUG, logger="synthnb")
    RunLog("x")(event)
    assert [(r.levelno, r.getMessage()) for r in caplog.records] == [(level, text)]


def test_ids_cannot_forge_a_line_or_smuggle_a_text(caplog):
    caplog.set_level(logging.DEBUG, logger="synthnb")
    log = RunLog("x")
    ok, error = Parsed(Status.OK), ServerError("boom")
    log(Answered("a\nCRITICAL forged", ok, request_id=f"{CANARY} is the prompt"))
    log(Answered("b", ok, request_id="c" * 500))
    log(Retried("r\u2028x", error, 1.0))
    log(Failed("y\x1b[31m" + "long" * 100, error))
    log(Noted("two\nlines"))
    assert CANARY not in caplog.text
    for record in caplog.records:
        text = record.getMessage()
        assert len(text.splitlines()) == 1
        assert "\x1b" not in text
        assert len(text) < 200


async def test_the_sdks_own_logs_hold_neither_key_nor_content(echo, caplog):
    """openai 3, httpx2, httpcore2: methods, URLs, status, the response's headers."""
    openai = pytest.importorskip("openai")
    from synthnb.providers.sdk import SdkClient

    caplog.set_level(logging.DEBUG)
    async with FaultServer(answer=lambda _: Answer(f"{CANARY} answer")) as server:
        sdk = openai.AsyncOpenAI(
            base_url=server.base_url,
            api_key=f"sk-{CANARY}",
            default_headers={"x-api-key": CANARY},
        )
        client = SdkClient(sdk, "fault-model")
        data = [{"text": f"row {CANARY}"}]
        await generate(echo(), data, client, name="sdk", limits=QUICK)
        await sdk.close()
    loggers = {r.name.partition(".")[0] for r in caplog.records}
    assert {"openai", "synthnb"} <= loggers
    assert CANARY not in caplog.text
