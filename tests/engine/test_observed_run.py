"""What a run tells of itself: which slot, why it ended; to the log without listeners."""

from __future__ import annotations

import logging

import pytest

from synthnb.config import Limits, Retry
from synthnb.engine.events import Answered, Failed, Retried, StateChanged
from synthnb.engine.progress import State
from synthnb.errors import AuthError, ServerError
from synthnb.pipeline import generate

QUICK = Limits(retry=Retry(max_attempts=2, base_seconds=0.01, max_seconds=0.02))


def rows(n):
    return [{"record_id": f"row-{i}", "text": f"t{i}"} for i in range(n)]


async def test_events_name_the_slot_and_its_round(echo, puppet):
    recipe = echo(wanted=2, top_ups=1)
    run = generate(recipe, rows(1), puppet(lambda _: "one"), name="slots", samples=2)
    found = {
        (e.row_id, e.sample_index, e.round)
        async for e in run.events()
        if isinstance(e, Answered)
    }
    assert found == {
        ("row-0", sample, round_) for sample in (0, 1) for round_ in (0, 1)
    }


async def test_retries_and_failures_name_it_as_well(echo, puppet):
    client = puppet(lambda _: ServerError("boom"))
    run = generate(echo(), rows(1), client, name="fail", samples=2, limits=QUICK)
    events = [e async for e in run.events()]
    for kind in (Retried, Failed):
        assert sorted(e.sample_index for e in events if isinstance(e, kind)) == [0, 1]


async def test_the_end_says_what_it_was_caused_by(echo, puppet):
    run = generate(echo(), rows(1), puppet(lambda _: AuthError("no")), name="auth")
    events = [e async for e in run.events()]
    with pytest.raises(AuthError):
        await run
    assert events[-1] == StateChanged(State.ERROR, run.error)


@pytest.mark.parametrize("listened", [False, True])
async def test_the_log_counts_what_is_not_ok_whoever_listens(
    echo, puppet, caplog, listened
):
    caplog.set_level(logging.INFO, logger="synthnb")
    run = generate(echo(), rows(6), puppet(lambda _: ""), name=f"bad{listened}")
    if listened:
        run.subscribe(lambda _: None)
    await run
    assert caplog.records[-1].getMessage() == (
        f"run bad{listened} is done; not ok: 6 no_json"
    )
