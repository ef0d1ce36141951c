"""Rows S1 to S11 of the table of faults: what a server does to a run.

Each is a whole run against a fault server, with the invariant proven at its end. Row
S12 (texts that are hard to keep) stands in ``test_hard_text.py``.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import defaultdict
from itertools import pairwise

import pytest
from proxy import Proxy
from pydantic import BaseModel
from runs_on_the_wire import QUICK, asked, at, proven, rows, until

import synthnb as sn
from synthnb.config import Limits, Retry
from synthnb.engine.events import Held, Noted, Retried
from synthnb.engine.progress import State
from synthnb.errors import AuthError
from synthnb.pipeline import generate
from synthnb.testing import Answer, Fault, FaultServer
from synthnb.testing.stats import last_user_message

pytestmark = pytest.mark.chaos

FOREVER = range(1, 10**9)


def heard(run, *kinds):
    """Return the list to which the run's events of these kinds are added."""
    events = []
    run.subscribe(lambda event: isinstance(event, kinds) and events.append(event))
    return events


class Times:
    """When each request arrived, by its text; given to the server as its latency."""

    def __init__(self, latency=0.0):
        self.latency = latency
        self.of = defaultdict(list)

    def __call__(self, body):
        self.of[last_user_message(body)].append(time.monotonic())
        return self.latency


# S1 ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("as_date", [False, True], ids=["seconds", "date"])
async def test_s1_retry_after_is_waited_for(echo, as_date):
    """Each refused row comes back after what was asked, at the earliest."""
    asks = 1 if as_date else 0.6
    fault = Fault(429, per_prompt=1, retry_after=asks, as_date=as_date)
    times = Times()
    async with FaultServer(latency=times, faults=[fault]) as server:
        run = generate(echo(), rows(24), at(server.base_url), name="s1", limits=QUICK)
        await run
        assert server.stats.statuses[429] == 24
    found = proven(run, 24)
    assert run.status == {"ok": 24}
    assert found.by_status == {"ok": 24, "rate_limited": 24}
    for first, second in times.of.values():
        assert second - first >= asks


async def test_s1_a_server_that_refuses_everything_is_left_alone(echo):
    """The whole pool waits: an account's limit is not met by asking for other rows."""
    until_then = time.monotonic() + 1.5
    refused = []

    class Rules(list):
        def __iter__(self):
            if time.monotonic() < until_then:
                refused.append(time.monotonic())
                return iter([Fault(429, retry_after=1.6)])
            return iter(())

    async with FaultServer() as server:
        server.chat.script.rules = Rules([None])
        limits = QUICK.model_copy(update={"adaptive": True, "max_concurrency": 16})
        run = generate(echo(), rows(400), at(server.base_url), name="s1", limits=limits)
        waits = heard(run, Held)
        await run
        assert waits
        assert max(event.seconds for event in waits) >= 1.5
        # Those in flight at the first refusals, not the four hundred.
        assert len(refused) == server.stats.statuses[429] <= 3 * 16
    found = proven(run, 400)
    assert run.status == {"ok": 400}
    assert found.by_status == {"ok": 400, "rate_limited": len(refused)}


# S2 ---------------------------------------------------------------------------------------


async def test_s2_refusals_without_a_word_are_met_with_less_load(echo):
    faults = [Fault(503, numbers=range(60, 110)), Fault(429, rate=0.1)]
    limits = Limits(
        max_concurrency=64,
        retry=Retry(max_attempts=10, base_seconds=0.02, max_seconds=0.2),
    )
    async with FaultServer(latency=0.01, faults=faults, seed=3) as server:
        run = generate(echo(), rows(600), at(server.base_url), name="s2", limits=limits)
        retried = heard(run, Retried)
        loads = []
        run.subscribe(lambda _: loads.append(run.progress.limit or 16))
        await run
        stats = server.stats
        refusals = stats.statuses[429] + stats.statuses[503]
        assert stats.statuses[503] >= 50
        assert max(stats.by_prompt.values()) <= 10
        assert stats.requests == 600 + refusals
    found = proven(run, 600)
    assert run.status == {"ok": 600}
    assert found.by_status == {"ok": 600, "rate_limited": refusals}
    # It fell when the server refused, below where it stood before.
    assert any(after < before for before, after in pairwise(loads))
    # Full jitter: no two waits are the same, none is beyond its ceiling.
    waits = [event.seconds for event in retried]
    assert len(set(waits)) == len(waits) == refusals
    assert 0 <= min(waits) < max(waits) <= 0.2


async def test_s2_a_budget_of_attempts_ends_a_row_not_the_run(echo):
    """Each refusal is written down; the row stays open and is asked again next time.

    Of refusals while others are answered four count as one attempt.
    """
    always = [Fault(503, contains="#R3#"), Fault(429, contains="#R5#")]
    async with FaultServer(faults=always) as server:
        run = generate(echo(), rows(30), at(server.base_url), name="s2", limits=QUICK)
        await run
        assert run.state is State.DONE
        assert run.status == {"ok": 28, "rate_limited": 2}
        tried = [server.stats.by_prompt[f"#R{n}#"] for n in (3, 5)]
        assert all(4 <= number <= 4 * 4 for number in tried)
        found = proven(run, 30)
        assert found.by_status == {"ok": 28, "rate_limited": sum(tried)}
        server.faults.clear()
        again = generate(echo(), rows(30), at(server.base_url), name="s2", limits=QUICK)
        await again
        assert again.progress.requests == 2
        assert proven(again, 30).by_status == {"ok": 30, "rate_limited": sum(tried)}


# S3 ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [401, 403])
async def test_s3_a_key_that_is_refused_stops_the_run_at_once(echo, status):
    """Also in the middle: a key expires, and 10,000 rows do not knock with it."""
    dead = Fault(status, numbers=range(51, 10**9))
    async with FaultServer(latency=0.005, faults=[dead]) as server:
        target = at(server.base_url, api_key="sk-CANARY-7d21aa90")
        run = generate(echo(), rows(10_000), target, name="s3", limits=QUICK)
        with pytest.raises(AuthError) as caught:
            await run
        assert run.state is State.ERROR
        assert server.stats.requests <= 50 + 8
        assert "CANARY" not in str(caught.value)
        found = proven(run, 10_000)
        assert found.results == 50
        assert found.by_status["auth"] >= 1
        server.faults.clear()
        target = at(server.base_url, api_key="sk-another")
        more = generate(echo(), rows(200), target, name="s3", limits=QUICK)
        await more
        assert more.progress.resumed == 50
        assert more.progress.requests == 150
        assert more.status == {"ok": 200}
    proven(more, 10_000)


# S4, S5 -----------------------------------------------------------------------------------

_CONTEXT = {"error": {"message": "This model's maximum context length is 2048 tokens"}}
_PARAMETER = {"error": {"message": "temperature is out of range", "param": "x"}}


@pytest.mark.parametrize(
    ("body", "status"),
    [(_CONTEXT, "context"), (_PARAMETER, "refused")],
    ids=["context", "parameter"],
)
async def test_s4_what_cannot_succeed_is_asked_once(echo, body, status):
    bad = [Fault(400, contains=f"#R{i}#", body=body) for i in (3, 7, 21)]
    async with FaultServer(faults=bad) as server:
        for requests in (40, 0):
            run = generate(
                echo(), rows(40), at(server.base_url), name="s4", limits=QUICK
            )
            await run
            assert run.status == {"ok": 37, status: 3}
            assert run.progress.requests == requests
            found = proven(run, 40)
            assert found.by_status == {"ok": 37, status: 3}
        assert max(server.stats.by_prompt.values()) == 1


async def test_s5_a_poisonous_row_is_alone(echo):
    poison = Fault(500, contains="#R7#", body={"error": {"message": "poison"}})
    async with FaultServer(faults=[poison]) as server:
        run = generate(echo(), rows(60), at(server.base_url), name="s5", limits=QUICK)
        df = await run
        assert run.state is State.DONE
        assert run.status == {"ok": 59, "server": 1}
        bad = df[df["status"] != "ok"]
        assert list(bad["text"]) == ["#R7#"]
        assert "poison" in bad["detail"].iloc[0]
        assert server.stats.by_prompt["#R7#"] == 4
    found = proven(run, 60)
    assert "#R7#" not in found.texts
    assert found.by_status == {"ok": 59, "server": 4}


# S6, S7 -----------------------------------------------------------------------------------


async def test_s6_what_is_no_answer_is_said_in_its_own_words(echo):
    """A page, a cut JSON, nothing at all: each row's detail shows what came."""
    bad = [
        Fault("html", contains="#R1#"),
        Fault("garbage", contains="#R2#"),
        Fault("empty", contains="#R3#"),
        Fault(200, contains="#R4#", body="[1, 2]"),
        Fault(200, contains="#R5#", body={"choices": []}),
    ]
    async with FaultServer(faults=bad) as server:
        run = generate(echo(), rows(30), at(server.base_url), name="s6", limits=QUICK)
        df = await run
        assert run.status == {"ok": 25, "server": 5}
    found = proven(run, 30)
    assert found.by_status == {"ok": 25, "server": 5 * 4}
    said = dict(zip(df["text"], df["detail"].fillna(""), strict=True))
    assert "page" in said["#R1#"]
    assert "Portal" in said["#R1#"]
    assert '"content": "cut' in said["#R2#"]
    assert "empty" in said["#R3#"]
    assert "[1, 2]" in said["#R4#"]
    assert "choices" in said["#R5#"]


class Wanted(BaseModel):
    """What is asked for in the test below."""

    question: str


async def test_s6_prose_in_place_of_json_is_kept_raw():
    recipe = sn.Prompt("Ask about {{ text }}", output=Wanted)
    prose = "Certainly! I would rather not."

    def answer(body):
        return prose if "#R2#" in str(body) else json.dumps({"question": "Why?"})

    async with FaultServer(answer) as server:
        run = generate(recipe, rows(10), at(server.base_url), name="s6", limits=QUICK)
        df = await run
    assert run.status == {"ok": 9, "no_json": 1}
    bad = df[df["status"] == "no_json"]
    assert run.answers(bad["row_id"].iloc[0]) == [prose]
    assert proven(run, 10).texts["#R2#"] == prose


async def test_s7_an_answer_that_ended_badly_is_kept_and_is_not_ok():
    endings = {"#R1#": "length", "#R2#": "content_filter", "#R3#": "refusal"}

    def answer(body):
        mark = last_user_message(body)
        return Answer(f"half of {mark}", endings.get(mark, "stop"))

    recipe = sn.Prompt("{{ text }}")
    async with FaultServer(answer) as server:
        run = generate(recipe, rows(20), at(server.base_url), name="s7", limits=QUICK)
        df = (await run).set_index("text")
        assert server.stats.requests == 20
    assert run.status == {"ok": 17, "truncated": 1, "refused": 2}
    assert {t: df["finish_reason"][t] for t in endings} == endings
    found = proven(run, 20)
    assert found.texts["#R2#"] == "half of #R2#"
    # The cut-off text is there to be looked at; what was refused is no answer at all.
    assert df["answer"]["#R1#"] == "half of #R1#"
    assert df["answer"][["#R2#", "#R3#"]].isna().all()


# S8 ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["endless", "huge"])
async def test_s8_an_answer_without_an_end_is_cut_off(echo, kind):
    """No more is read than the cap and what the sockets hold."""
    limits = QUICK.model_copy(update={"max_answer_bytes": 200_000})
    fault = Fault(kind, contains="#R3#", size=60_000_000)
    async with FaultServer(faults=[fault]) as server:
        with Proxy(server.port) as proxy:
            run = generate(
                echo(), rows(20), at(proxy.base_url), name="s8", limits=limits
            )
            df = await run
            await until(lambda: proxy.open == 0)
            assert proxy.passed < 4 * 12_000_000
    assert run.status == {"ok": 19, "server": 1}
    detail = df.set_index("text")["detail"]["#R3#"]
    assert "larger than 200,000 bytes" in detail
    assert "#R3#" not in proven(run, 20).texts


async def test_s8_five_megabytes_are_the_most_by_default(echo):
    fault = Fault("huge", contains="#R3#", size=5_000_001)
    limits = Limits(retry=QUICK.retry)
    async with FaultServer(faults=[fault]) as server:
        run = generate(echo(), rows(5), at(server.base_url), name="s8", limits=limits)
        await run
    assert run.status == {"ok": 4, "server": 1}
    proven(run, 5)


# S9 ---------------------------------------------------------------------------------------

_COUNTS = [
    "null",
    '{"prompt_tokens": -5, "completion_tokens": -1}',
    '{"prompt_tokens": 1000000000000, "completion_tokens": 99999999999999999999999}',
    '{"prompt_tokens": "many", "completion_tokens": true}',
    '{"prompt_tokens": 1e308, "completion_tokens": null}',
    '{"prompt_tokens": NaN, "completion_tokens": Infinity}',
    "{}",
    '[["prompt_tokens", 7]]',
]


async def test_s9_usage_that_cannot_be_is_unknown_and_no_sum_is_wrong(echo):
    choice = '{"message": {"content": "word"}, "finish_reason": "stop"}'
    odd = [
        Fault(200, contains=f"#R{i}#", body=f'{{"choices": [{choice}], "usage": {u}}}')
        for i, u in enumerate(_COUNTS)
    ]
    good = {"prompt_tokens": 10, "completion_tokens": 20}
    async with FaultServer(lambda _: Answer("word", usage=good), faults=odd) as server:
        target = at(server.base_url, price=sn.Price(1.0, 2.0))
        run = generate(echo(), rows(20), target, name="s9", limits=QUICK)
        df = await run
    assert run.status == {"ok": 20}
    found = proven(run, 20)
    bad = df["text"].isin([f"#R{i}#" for i in range(8)])
    assert df[bad]["completion_tokens"].isna().all()
    usage = run.usage
    assert usage.unknown == 8
    assert (usage.prompt_tokens, usage.completion_tokens) == (120, 240)
    assert (found.prompt_tokens, found.completion_tokens) == (120, 240)
    assert usage.usd is None  # unknown is said, not guessed
    assert usage.total_usd is None or usage.total_usd == pytest.approx(600 / 1e6)
    assert "nan" not in repr(run).lower()


# S10 --------------------------------------------------------------------------------------


async def test_s10_a_server_that_came_back_with_another_model_is_noticed(echo):
    """Rows say who wrote them, and a person is told once."""

    def answer(body):
        served = "fault-model" if server.stats.requests <= 30 else "another-model"
        return Answer("word", model=served)

    async with FaultServer(answer) as server:
        run = generate(echo(), rows(80), at(server.base_url), name="s10", limits=QUICK)
        notes = heard(run, Noted)
        df = await run
    proven(run, 80)
    assert set(df["model"]) == {"fault-model", "another-model"}
    assert len([n for n in notes if "another-model" in n.text]) == 1


# S11 --------------------------------------------------------------------------------------


async def test_s11_an_answer_that_comes_too_late_is_not_a_second_row(echo):
    """The server made it, and bills it: both attempts stand in the ledger."""
    times = Times()
    late = {f"#R{i}#" for i in (2, 5, 9)}

    def latency(body):
        text = last_user_message(body)
        times(body)
        return 2.5 if text in late and len(times.of[text]) == 1 else 0.0

    limits = QUICK.model_copy(
        update={
            "first_byte_timeout": 1.5,
            "total_timeout": 1.5,
            "retry": Retry(max_attempts=6, base_seconds=1.2, max_seconds=2.0),
        }
    )
    async with FaultServer(latency=latency) as server:
        run = generate(echo(), rows(20), at(server.base_url), name="s11", limits=limits)
        await run
        # By now the late ones would have come, had anybody waited.
        await asyncio.sleep(1.2)
        assert server.stats.requests == run.progress.requests >= 23
        assert server.stats.abandoned >= 3
    found = proven(run, 20)
    assert run.status == {"ok": 20}
    assert len(found.answers) == found.results == 20
    assert found.by_status["timeout"] >= 3
    assert found.calls == server.stats.requests
    assert len(run.frame()) == 20
    assert set(found.texts) == asked(20)
