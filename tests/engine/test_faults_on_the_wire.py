"""The engine against a real HTTP server that misbehaves."""

from __future__ import annotations

import asyncio
import traceback
from itertools import pairwise

import pytest

from synthnb.config import Limits, Retry
from synthnb.engine.progress import State
from synthnb.errors import AuthError, ConnectError, ProviderError
from synthnb.local import Provider
from synthnb.pipeline import generate
from synthnb.testing import Answer, Fault, FaultServer

QUICK = Limits(
    max_concurrency=8,
    max_answer_bytes=100_000,
    retry=Retry(max_attempts=3, base_seconds=0.001, max_seconds=0.01),
)
# Only for faults that a time-out ends: a slow machine must not look like one.
IMPATIENT = QUICK.model_copy(update={"first_byte_timeout": 1.5, "total_timeout": 2.0})
CANARY = "sk-CANARY-9f3b7d21"


def rows(n):
    return [{"text": f"#R{i}#"} for i in range(n)]


def provider(server, **options):
    return Provider(server.base_url, model="fault-model", **options)


async def answered(server, recipe, n=20, limits=QUICK, name="wire"):
    run = generate(recipe, rows(n), provider(server), name=name, limits=limits)
    return run, await run


async def test_concurrency_as_the_server_sees_it_is_the_setting(echo):
    async with FaultServer(latency=0.02) as server:
        limits = QUICK.model_copy(update={"max_concurrency": 11})
        await answered(server, echo(), 80, limits)
        assert server.stats.max_in_flight == 11
        assert server.stats.requests == 80


@pytest.mark.parametrize(
    ("fault", "retries"),
    [
        (Fault("reset", per_prompt=1), 20),
        (Fault("drop", per_prompt=1), 20),
        (Fault("half_body", per_prompt=1), 20),
        (Fault("html", per_prompt=1), 20),
        (Fault("garbage", per_prompt=1), 20),
        (Fault("empty", per_prompt=1), 20),
        (Fault(500, per_prompt=2), 40),
        (Fault(503, per_prompt=1), 20),
        (Fault(429, per_prompt=1), 20),
        (Fault("hang", numbers=[3]), 1),
        (Fault("trickle", numbers=[3], interval=0.3), 1),
    ],
    ids=lambda value: f"{value.what}" if isinstance(value, Fault) else "",
)
async def test_what_passes_is_retried_and_never_taken_for_an_answer(
    echo, fault, retries
):
    limits = IMPATIENT if fault.what in {"hang", "trickle"} else QUICK
    async with FaultServer(answer=lambda body: "right", faults=[fault]) as server:
        run, df = await answered(server, echo(), limits=limits)
        assert set(df["status"]) == {"ok"}
        assert set(df["answer"]) == {"right"}
        assert run.progress.retries == retries
        assert run.usage.total_requests == 20 + retries


@pytest.mark.parametrize("as_date", [False, True])
async def test_retry_after_holds_every_request(echo, as_date):
    fault = Fault(429, numbers=[5], retry_after=1 if as_date else 0.3, as_date=as_date)
    times = []
    loop = asyncio.get_running_loop()

    def answer(body):
        times.append(loop.time())
        return "x"

    async with FaultServer(answer=answer, faults=[fault]) as server:
        limits = QUICK.model_copy(update={"max_concurrency": 1})
        await answered(server, echo(), 10, limits)
    gaps = [b - a for a, b in pairwise(times)]
    assert len(times) == 10
    # A date has whole seconds, rounded up, and the clock may tick while it travels.
    assert max(gaps) >= (0.9 if as_date else 0.3)


async def test_one_poisonous_row_is_one_failed_row(echo):
    faults = [Fault(500, contains="#R7#", body={"error": {"message": "poison"}})]
    async with FaultServer(faults=faults) as server:
        run, df = await answered(server, echo())
        bad = df[df["status"] != "ok"]
        assert list(bad["status"]) == ["server"]
        assert "poison" in bad["detail"].iloc[0]
        assert run.state is State.DONE
        assert server.stats.by_prompt["#R7#"] == 3


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (
            {
                "error": {
                    "message": "This model's maximum context length is 2048 tokens"
                }
            },
            "context",
        ),
        (
            {"error": {"message": "temperature is out of range", "param": "x"}},
            "refused",
        ),
    ],
)
async def test_a_bad_request_is_final_for_its_row(echo, body, status):
    faults = [Fault(400, contains="#R7#", body=body)]
    async with FaultServer(faults=faults) as server:
        _, df = await answered(server, echo())
        assert df["status"].value_counts().to_dict() == {"ok": 19, status: 1}
        assert server.stats.by_prompt["#R7#"] == 1
        run, _ = await answered(server, echo())
        assert run.progress.requests == 0


async def test_a_huge_answer_is_cut_off_and_fails_its_row(echo):
    faults = [Fault("endless", contains="#R3#")]
    async with FaultServer(faults=faults) as server:
        _, df = await answered(server, echo())
        assert df["status"].value_counts().to_dict() == {"ok": 19, "server": 1}


async def test_usage_that_is_missing_or_wrong_is_unknown(echo):
    def answer(body):
        if "#R0#" in str(body):
            return Answer("x", usage=None)
        return Answer("x", usage={"prompt_tokens": -5, "completion_tokens": -1})

    async with FaultServer(answer=answer) as server:
        run, df = await answered(server, echo(), 2)
        assert df["completion_tokens"].isna().all()
        assert run.usage.completion_tokens == 0
        assert run.usage.unknown == 2


async def test_a_wrong_key_is_one_clear_error_without_the_key(echo):
    async with FaultServer(require_key="right", latency=0.01) as server:
        target = provider(server, api_key=CANARY)
        run = generate(echo(), rows(500), target, name="key", limits=QUICK)
        with pytest.raises(AuthError) as caught:
            await run
        assert server.stats.requests <= 8
        text = (
            "".join(traceback.format_exception(caught.value)) + repr(run) + repr(target)
        )
        kept = "".join(p.read_text(errors="replace") for p in run.folder.iterdir())
        for start in range(len(CANARY) - 5):
            assert CANARY[start : start + 6] not in text + kept
        assert "→" in str(caught.value)
        good = provider(server, api_key="right")
        df = await generate(echo(), rows(500), good, name="key", limits=QUICK)
        assert set(df["status"]) == {"ok"}


async def test_a_wrong_model_names_the_right_ones(echo):
    async with FaultServer(models=["good-model"], strict_model=True) as server:
        target = Provider(server.base_url, model="goof-model")
        run = generate(echo(), rows(100), target, name="model", limits=QUICK)
        with pytest.raises(ProviderError, match="good-model"):
            await run
        assert server.stats.requests <= 8


def test_a_dead_url_fails_in_the_cell(echo):
    with pytest.raises(ConnectError, match=r"127\.0\.0\.1:9[\s\S]*→"):
        generate(echo(), rows(3), Provider("http://127.0.0.1:9", model="m"))


async def test_an_unknown_host_is_one_message_and_no_storm(echo):
    limits = QUICK.model_copy(update={"max_connect_failures": 2})
    target = Provider("http://nope.invalid:8000", model="m")
    run = generate(echo(), rows(100), target, name="dns", limits=limits)
    with pytest.raises(ProviderError, match=r"nope\.invalid"):
        await run
    assert run.progress.requests <= 3 * 8


async def test_a_server_that_dies_is_waited_for_and_the_run_resumes(echo):
    server = FaultServer(latency=0.01)
    async with server:
        target, port = provider(server), server.port
        run = generate(echo(), rows(300), target, name="dies", limits=QUICK)
        while run.progress.done < 50:
            await asyncio.sleep(0.005)
    with pytest.raises(ConnectError, match="times in a row"):
        await run
    bought = run.progress.ok
    async with FaultServer(port=port) as again:
        df = await generate(echo(), rows(300), target, name="dies", limits=QUICK)
        assert set(df["status"]) == {"ok"}
        assert again.stats.requests == 300 - bought
