"""The attempts of one row, in words."""

from __future__ import annotations

import pytest

from synthnb.config import Limits, Retry
from synthnb.engine.explain import _is_of, explain
from synthnb.errors import RequestRefusedError, RunError, ServerError
from synthnb.fingerprint import record_id
from synthnb.pipeline import generate
from synthnb.providers.provider import Provider
from synthnb.recipes import QA
from synthnb.store import RunStore
from synthnb.store.files import runs_home
from synthnb.testing import Fault, FaultServer

QUICK = Limits(retry=Retry(max_attempts=4, base_seconds=0.2, max_seconds=0.3))


def rows(n):
    return [{"record_id": f"row-{i}", "text": f"t{i}"} for i in range(n)]


async def test_each_attempt_is_told_with_the_wait_between(echo):
    faults = [Fault(500, contains="#R3#", per_prompt=2, body={"error": "boom"})]
    async with FaultServer(faults=faults) as server:
        provider = Provider(server.base_url, "fault-model")
        data = [{"record_id": f"row-{i}", "text": f"#R{i}#"} for i in range(5)]
        run = generate(echo(), data, provider, name="told", limits=QUICK)
        df = await run
        told = run.explain("row-3")
        assert len(told.attempts) == 3
        assert [a.status for a in told.attempts] == ["server", "server", "ok"]
        text = repr(told)
        assert "first request: 3 calls" in text
        assert "HTTP 500" in text
        assert "boom" in text
        assert server.base_url in text
        assert "answered by fault-model, ended by 'stop': 3 items, ok" in text
        by_record = run.explain(df["record_id"].iloc[3])
        assert by_record.row_id == "row-3"
        assert by_record.attempts == told.attempts


async def test_a_row_without_an_answer_says_what_can_be_done(echo, puppet):
    client = puppet(lambda _: ServerError("boom"))
    run = generate(echo(), rows(1), client, name="open", limits=QUICK)
    await run
    text = repr(run.explain("row-0"))
    assert "4 calls" in text
    assert "waited" in text
    assert "asks again" in text
    assert "server's log" in text


async def test_a_final_refusal_and_a_failed_reading_say_so(echo, puppet):
    answers = {"t0": RequestRefusedError("never this one"), "t1": ""}
    run = generate(echo(), rows(2), puppet(answers.get), name="final")
    await run
    assert "final: never this one" in repr(run.explain("row-0"))
    assert "no_json" in repr(run.explain("row-1"))
    assert "empty answer" in repr(run.explain("row-1"))


async def test_top_ups_and_samples_are_told_apart(echo, puppet):
    recipe = echo(wanted=2, top_ups=1)
    run = generate(recipe, rows(1), puppet(lambda _: "one"), name="more", samples=2)
    df = await run
    text = repr(run.explain("row-0"))
    assert "sample 0" in text
    assert "sample 1" in text
    assert "top-up request 1" in text
    last = run.explain(df["record_id"].iloc[-1])
    assert last.sample_index == 1


async def test_an_earlier_prompts_calls_are_named_as_such(echo, puppet):
    await generate(echo(), rows(1), puppet(), name="twice")
    run = generate(echo(prompt="Better: "), rows(1), puppet(), name="twice")
    await run
    assert "for an earlier prompt" in repr(run.explain("row-0"))


async def test_an_unknown_id_is_an_error_with_a_guess(echo, puppet):
    run = generate(echo(), rows(3), puppet(), name="unknown")
    await run
    with pytest.raises(RunError, match="no record or row 'row_1'") as caught:
        run.explain("row_1")
    assert "'row-1'" in caught.value.hint


async def test_what_the_dialect_changed_is_said():
    async with FaultServer(no_json_schema=True) as server:
        provider = Provider(server.base_url, "fault-model")
        text = "Bees live in hives. A hive has one queen. She lays eggs in spring."
        run = generate(QA(pairs=1), [{"text": text}], provider, name="form")
        await run
        (row_id,) = {r["row_id"] for r in run.records()}
        assert "without a schema" in repr(run.explain(row_id))


@pytest.mark.parametrize(
    "row_id", ["row-1", 'a"b\\c', "Zürich 東京", "\ud800", "a\nb", ""]
)
def test_the_search_hashes_as_record_ids_are_made(row_id):
    key = record_id("qa", row_id, 2, 11)
    assert _is_of(key, "qa", row_id, 2, 12)
    assert not _is_of(key, "qa", row_id, 2, 11)
    assert not _is_of(key, "qa", row_id, 1, 12)
    assert not _is_of(key, "judge", row_id, 2, 12)


async def test_a_record_of_an_earlier_call_is_found_after_a_restart(echo, puppet):
    first = await generate(
        echo(wanted=3), rows(3), puppet(lambda _: "a b c"), name="re"
    )
    await generate(echo(wanted=3), rows(1), puppet(lambda _: "a b c"), name="re")
    store = RunStore(runs_home() / "re")
    for number in (0, 5, 8):
        told = explain(echo(wanted=3), store, first["record_id"].iloc[number])
        assert told.row_id == first["row_id"].iloc[number]
        assert told.sample_index == 0


async def test_a_guess_names_what_is_spelled_alike(echo, puppet):
    run = generate(echo(), rows(3), puppet(), name="near")
    await run
    with pytest.raises(RunError) as caught:
        run.explain("rwo-1")
    assert "'row-1'" in caught.value.hint
    with pytest.raises(RunError) as caught:
        run.explain("0123456789abcdef")
    assert "Did you mean" not in caught.value.hint
