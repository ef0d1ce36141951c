"""What the engine counts for those who watch: failed rows, answers, waits, the end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthnb.config import Limits, Retry
from synthnb.engine.events import Answered, Held, Retried, StateChanged
from synthnb.engine.progress import Progress
from synthnb.engine.troubles import Tally, group
from synthnb.errors import AuthError, ConnectError, RateLimitError
from synthnb.pipeline import generate
from synthnb.records import Status

QUICK = Limits(retry=Retry(max_attempts=3, base_seconds=0.001, max_seconds=0.01))


def rows(n):
    return [{"text": f"t{i}"} for i in range(n)]


failures = st.lists(
    st.tuples(st.sampled_from([s for s in Status if s != "ok"]), st.text(), st.text())
)


@given(failures)
def test_counting_as_they_come_gives_what_a_replay_gives(failed):
    tally = Tally()
    for status, row_id, detail in failed:
        tally.add(status, 1, row_id, detail)
    records = [{"status": s, "row_id": r, "detail": d} for s, r, d in failed]
    assert tally.troubles() == group(records)


def test_progress_keeps_an_example_of_what_is_not_ok():
    progress = Progress()
    progress.count({"ok": 2, "truncated": 1}, "a", "cut off")
    progress.count({"truncated": 3}, "b", "cut off too")
    assert progress.by_status == {"ok": 2, "truncated": 4}
    (trouble,) = progress.failed.troubles()
    assert (trouble.status, trouble.count) == ("truncated", 4)
    assert (trouble.row_id, trouble.detail) == ("a", "cut off")


async def test_the_status_that_people_see_is_counted_by_plain_texts(echo, puppet):
    run = generate(echo(), rows(2), puppet(), name="plain")
    await run
    assert repr(run.status) == "{'ok': 2}"


async def test_a_resumed_failure_has_its_example_too(echo, puppet):
    def client():
        return puppet(lambda text: "" if text == "t3" else "word")

    await generate(echo(), rows(6), client(), name="again")
    run = generate(echo(), rows(6), client(), name="again")
    await run
    assert (run.progress.requests, run.progress.resumed) == (0, 6)
    assert run.progress.failed.troubles() == run.errors()
    assert run.progress.failed.troubles()[0].detail == "empty answer"


async def test_a_shortfall_after_top_ups_is_counted_once_with_its_reason(echo, puppet):
    run = generate(echo(wanted=3, top_ups=1), rows(2), puppet(lambda _: "one"))
    await run
    assert run.progress.by_status == {"ok": 4, "schema": 2}
    assert run.progress.failed.troubles() == run.errors()


async def test_rows_that_a_stop_left_are_counted_with_a_reason(echo, puppet):
    def answer(text):
        run.stop()
        run.stop()
        return "word"

    run = generate(echo(wanted=5, top_ups=3), rows(3), puppet(answer), name="left")
    await run
    found = {t.status: t.count for t in run.progress.failed.troubles()}
    assert found == {s: n for s, n in run.progress.by_status.items() if s != "ok"}


async def test_the_model_and_the_limit_are_known_once_connected(echo, puppet):
    run = generate(echo(), rows(3), puppet(concurrency=5), name="limit")
    assert run.progress.limit is None
    await run
    assert (run.model, run.progress.limit) == ("puppet", 5)
    assert run.progress.answers == 3
    assert run.progress.last_answer <= run.progress.ended


@pytest.mark.parametrize(
    ("error", "times"), [(RateLimitError("slow"), 30), (ConnectError("nobody"), 1)]
)
async def test_a_wait_of_the_whole_pool_is_told_with_its_reason(
    echo, puppet, error, times
):
    failed = []

    def answer(text):
        if len(failed) >= times:
            return "word"
        failed.append(text)
        error.retry_after = 0.01
        return error

    limits = QUICK.model_copy(
        update={"retry": Retry(max_attempts=40, base_seconds=0.01)}
    )
    run = generate(echo(), rows(5), puppet(answer), name="held", limits=limits)
    heard = []
    run.subscribe(heard.append)
    await run
    held = [event for event in heard if isinstance(event, Held)]
    assert {event.error for event in held} == {error}
    assert all(0 < event.seconds < 1 for event in held)


async def test_one_refusal_among_answers_holds_nobody_else(echo, puppet):
    slow = RateLimitError("slow", retry_after=0.2)
    refused = []

    def answer(text):
        if text == "t0" and not refused:
            refused.append(text)
            return slow
        return "word"

    run = generate(echo(), rows(50), puppet(answer), name="one", limits=QUICK)
    heard = []
    run.subscribe(heard.append)
    await run
    assert not [event for event in heard if isinstance(event, Held)]
    # It came last, for it alone had to wait.
    assert [e.row_id for e in heard if isinstance(e, Answered)][-1] == next(
        e.row_id for e in heard if isinstance(e, Retried)
    )


async def test_who_hears_of_the_end_can_ask_for_its_reason(echo, puppet):
    run = generate(echo(), rows(3), puppet(lambda _: AuthError("no")), name="reason")
    reasons = []

    def listen(event):
        if isinstance(event, StateChanged) and event.state.is_final:
            reasons.append(run.error)

    run.subscribe(listen)
    with pytest.raises(AuthError):
        await run
    assert [str(reason) for reason in reasons] == ["no"]
