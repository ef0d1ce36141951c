"""The engine with a scripted client and a real ledger."""

from __future__ import annotations

import asyncio

import pytest

from synthnb.config import Limits, Retry
from synthnb.engine.progress import State
from synthnb.errors import (
    AuthError,
    ConfigError,
    ConnectError,
    ContextError,
    FrameError,
    RateLimitError,
    RequestTimeoutError,
    ServerError,
)
from synthnb.pipeline import generate, preview
from synthnb.records import Completion

FAST = Limits(retry=Retry(max_attempts=3, base_seconds=0.001, max_seconds=0.01))


def rows(n):
    return [{"text": f"t{i}", "topic": i} for i in range(n)]


async def test_every_row_is_answered_in_order_and_carries_its_input(echo, puppet):
    run = generate(echo(), rows(50), puppet(), name="all")
    df = await run
    assert list(df["answer"]) == [f"t{i}" for i in range(50)]
    assert list(df["topic"]) == list(range(50))
    assert set(df["status"]) == {"ok"}
    assert df["record_id"].is_unique
    assert run.state is State.DONE
    assert run.status == {"ok": 50}
    assert run.progress.saved == 50
    # A review finds from these where its decisions go, and which columns are edited.
    assert df.attrs["run_folder"] == str(run.folder)
    assert df.attrs["fields"] == ["answer"]


async def test_the_same_call_again_buys_nothing(echo, puppet):
    first = await generate(echo(), rows(20), puppet(), name="again")
    client = puppet()
    run = generate(echo(), rows(20), client, name="again")
    second = await run
    assert client.asked == []
    assert run.progress.requests == 0
    assert run.progress.resumed == 20
    assert first.equals(second)


async def test_a_changed_prompt_asks_only_for_what_it_touches(echo, puppet):
    await generate(echo(), rows(10), puppet(), name="touch")
    changed = rows(10)
    changed[3]["text"] = "new"
    client = puppet()
    df = await generate(echo(), changed, client, name="touch")
    assert client.asked == ["new"]
    assert list(df["answer"])[3] == "new"
    client = puppet()
    await generate(echo(prompt="Say: "), rows(10), client, name="touch")
    assert len(client.asked) == 10
    client = puppet()
    await generate(echo(), rows(10), client, name="touch")
    assert client.asked == []


async def test_rows_with_an_id_keep_their_slot_when_their_text_changes(echo, puppet):
    await generate(
        echo(), [{"id": "a", "text": "x"}], puppet(), name="i", id_column="id"
    )
    df = await generate(
        echo(), [{"id": "a", "text": "y"}], puppet(), name="i", id_column="id"
    )
    assert list(df["row_id"]) == ["a"]
    assert list(df["answer"]) == ["y"]


async def test_equal_rows_are_rows_of_their_own(echo, puppet):
    client = puppet()
    df = await generate(echo(), [{"text": "same"}] * 3, client, name="same")
    assert len(client.asked) == 3
    assert df["record_id"].is_unique
    client = puppet()
    await generate(echo(), [{"text": "same"}] * 4, client, name="same")
    assert len(client.asked) == 1


async def test_samples_are_slots_of_their_own_with_seeds_of_their_own(echo, puppet):
    client = puppet()
    df = await generate(echo(seed=7), rows(2), client, samples=3, name="samples")
    assert len(df) == 6
    assert sorted(client.seeds) == [7, 7, 8, 8, 9, 9]
    assert list(df["sample_index"]) == [0, 1, 2, 0, 1, 2]
    client = puppet()
    await generate(echo(seed=7), rows(2), client, samples=5, name="samples")
    assert len(client.asked) == 4


async def test_observed_concurrency_is_the_setting(echo, puppet):
    async def slow():
        await asyncio.sleep(0.005)
        return "x"

    client = puppet(lambda _: slow())
    limits = Limits(max_concurrency=13)
    run = generate(echo(), rows(100), client, name="width", limits=limits)
    await run
    assert client.max_in_flight == 13
    assert run.progress.max_in_flight == 13


async def test_an_iterator_is_read_only_as_far_as_needed(echo, puppet):
    taken = []

    def endless():
        for i in range(10**9):
            taken.append(i)
            yield {"text": f"t{i}"}

    run = generate(echo(), endless(), puppet(), name="endless")
    while run.progress.done < 300:
        await asyncio.sleep(0.001)
    run.stop()
    df = await run
    assert run.state is State.STOPPED
    assert run.progress.wanted is None
    assert len(taken) < run.progress.done + 200
    assert len(df) == run.progress.done


async def test_top_ups_reach_the_wanted_count(echo, puppet):
    client = puppet(lambda text: "c" if "again" in text else "a b")
    recipe = echo(wanted=3, top_ups=2)
    df = await generate(recipe, rows(4), client, name="topup")
    assert list(df["answer"]) == ["a", "b", "c"] * 4
    assert len(client.asked) == 8
    again = puppet()
    run = generate(recipe, rows(4), again, name="topup")
    assert (await run).equals(df)
    assert again.asked == []


async def test_too_few_items_are_rows_with_a_reason(echo, puppet):
    run = generate(echo(wanted=3), rows(1), puppet(lambda _: "a b"), name="few")
    df = await run
    assert list(df["status"]) == ["ok", "ok", "schema"]
    assert df["detail"].iloc[2] == "2 of 3 items in 1 answers"
    assert run.status == {"ok": 2, "schema": 1}


async def test_one_failed_row_is_a_row(echo, puppet):
    def answer(text):
        return ContextError("too long", http_status=400) if text == "t3" else text

    client = puppet(answer)
    run = generate(echo(), rows(6), client, name="one", limits=FAST)
    df = await run
    assert run.state is State.DONE
    assert df["status"].value_counts().to_dict() == {"ok": 5, "context": 1}
    assert client.asked.count("t3") == 1
    (trouble,) = run.errors()
    assert trouble.count == 1
    assert trouble.detail == "too long"
    assert "chunk_tokens" in trouble.next_step


async def test_a_final_refusal_is_not_asked_again_a_passing_failure_is(echo, puppet):
    errors = {"t0": ContextError("too long"), "t1": ServerError("boom")}
    run = generate(
        echo(), rows(3), puppet(lambda t: errors.get(t, t)), name="r", limits=FAST
    )
    df = await run
    assert list(df["status"]) == ["context", "server", "ok"]
    assert list(df["attempts"]) == [1, 3, 1]
    client = puppet()
    df = await generate(echo(), rows(3), client, name="r", limits=FAST)
    assert client.asked == ["t1"]
    assert list(df["status"]) == ["context", "ok", "ok"]
    assert list(df["attempts"]) == [1, 4, 1]


class Window:
    """A true rate limit: so many a window, the others are refused, whoever they are."""

    def __init__(self, allowed, never=()):
        self.allowed, self.never, self.left = allowed, never, allowed
        self.until = 0.0

    def __call__(self, text):
        now = asyncio.get_running_loop().time()
        if now >= self.until:
            self.until, self.left = now + 0.03, self.allowed
        if not self.left or text in self.never:
            return RateLimitError("slow down", retry_after=self.until - now)
        self.left -= 1
        return "word"


async def test_a_rate_limit_that_serves_others_uses_up_no_row(echo, puppet):
    client = puppet(Window(8))
    retry = Retry(max_attempts=3, base_seconds=0.01)
    limits = Limits(max_concurrency=16, adaptive=False, retry=retry)
    rows = [{"text": f"t{n}"} for n in range(60)]
    run = generate(echo(), rows, client, name="rate", limits=limits)
    await run
    assert run.status == {"ok": 60}
    assert run.progress.retries > 0


async def test_a_row_that_is_always_refused_is_given_up_all_the_same(echo, puppet):
    client = puppet(Window(50, never={"t3"}))
    retry = Retry(max_attempts=3, base_seconds=0.001)
    limits = Limits(max_concurrency=2, adaptive=False, retry=retry)
    rows = [{"text": f"t{n}"} for n in range(400)]
    run = generate(echo(), rows, client, name="rate", limits=limits)
    await run
    assert run.status["ok"] == 399
    assert 3 <= client.asked.count("t3") <= 12


@pytest.mark.parametrize("error", [ServerError, RequestTimeoutError, RateLimitError])
async def test_passing_errors_are_retried(echo, puppet, error):
    tries = {}

    def answer(text):
        tries[text] = tries.get(text, 0) + 1
        return error("not now") if tries[text] < 3 else text

    run = generate(echo(), rows(5), puppet(answer), name="retry", limits=FAST)
    df = await run
    assert set(df["status"]) == {"ok"}
    assert run.progress.retries == 10
    assert run.usage.total_requests == 15


async def test_retry_after_holds_the_whole_pool(echo, puppet):
    loop = asyncio.get_running_loop()
    refused_at, sent = [], []

    def answer(text):
        sent.append(loop.time())
        if not refused_at:
            refused_at.append(loop.time())
            return RateLimitError("slow down", retry_after=0.2)
        return text

    limits = FAST.model_copy(update={"max_concurrency": 1})
    await generate(echo(), rows(5), puppet(answer), name="hold", limits=limits)
    assert min(t - refused_at[0] for t in sent[1:]) >= 0.2


async def test_a_refused_key_stops_the_run_at_once(echo, puppet):
    client = puppet(lambda _: AuthError("key refused", hint="paste it"))
    run = generate(echo(), rows(1000), client, name="auth")
    with pytest.raises(AuthError, match="key refused"):
        await run
    assert len(client.asked) <= client.default_concurrency
    assert run.state is State.ERROR
    assert isinstance(run.error, AuthError)
    good = puppet()
    assert len(await generate(echo(), rows(1000), good, name="auth")) == 1000


async def test_nobody_answering_ends_the_run_resumable(echo, puppet):
    limits = FAST.model_copy(update={"max_connect_failures": 3})
    client = puppet(lambda _: ConnectError("refused"))
    run = generate(echo(), rows(100), client, name="dead", limits=limits)
    with pytest.raises(ConnectError, match="4 times in a row"):
        await run
    assert len(client.asked) <= 4 * client.default_concurrency
    assert len(await generate(echo(), rows(100), puppet(), name="dead")) == 100


async def test_an_outage_costs_no_row_its_attempts(echo, puppet):
    count = 0

    def answer(text):
        nonlocal count
        count += 1
        return ConnectError("refused") if 10 < count < 60 else text

    limits = FAST.model_copy(update={"max_connect_failures": 50})
    df = await generate(echo(), rows(40), puppet(answer), name="flap", limits=limits)
    assert set(df["status"]) == {"ok"}


async def test_a_recipe_that_cannot_parse_costs_its_row(echo, puppet):
    data = [*rows(3), {"text": "poison", "topic": 9}]
    run = generate(echo(), data, puppet(), name="poison")
    df = await run
    assert list(df["status"]) == ["ok"] * 3 + ["schema"]
    assert "parse raised ValueError: cannot read this" in df["detail"].iloc[3]
    assert run.answers(df["row_id"].iloc[3]) == ["poison"]


async def test_a_recipe_that_cannot_ask_costs_its_row(echo, puppet):
    data = [*rows(3), {"other": 1}]
    run = generate(echo(), iter(data), puppet(), name="ask")
    df = await run
    assert list(df["status"]) == ["ok"] * 3 + ["schema"]
    assert "request raised KeyError" in df["detail"].iloc[3]
    assert run.usage.total_requests == 3


async def test_a_recipe_that_never_can_ask_raises_in_the_cell(puppet, echo):
    class Broken(echo):
        def request(self, row, earlier, sample_index):
            raise ZeroDivisionError("oops")

    with pytest.raises(ConfigError, match=r"ZeroDivisionError[\s\S]*nothing was sent"):
        generate(Broken(), rows(3), puppet(), name="broken")


async def test_a_missing_column_raises_in_the_cell_with_the_closest(echo, puppet):
    with pytest.raises(FrameError, match=r"'text'[\s\S]*Did you mean 'texts'"):
        generate(echo(), [{"texts": "x"}], puppet(), name="columns")


async def test_no_rows_is_a_finished_run(echo, puppet):
    import pandas as pd

    df = await generate(echo(), pd.DataFrame({"text": []}), puppet(), name="none")
    assert len(df) == 0
    assert "answer" in df.columns


async def test_the_callers_frame_may_change_meanwhile(echo, puppet):
    import pandas as pd

    data = pd.DataFrame({"text": [f"t{i}" for i in range(100)]})
    run = generate(echo(), data, puppet(), name="snapshot")
    data["text"] = "changed"
    assert list((await run)["answer"]) == [f"t{i}" for i in range(100)]


async def test_a_fault_of_the_client_fails_its_row_only(echo, puppet):
    def answer(text):
        return KeyError("bug") if text == "t1" else text

    df = await generate(echo(), rows(3), puppet(answer), name="bug", limits=FAST)
    assert list(df["status"]) == ["ok", "server", "ok"]
    assert "KeyError" in df["detail"].iloc[1]


async def test_reasoning_and_cost_are_columns(echo, puppet):
    client = puppet(lambda t: Completion(t, reasoning="thought", finish_reason="stop"))
    run = generate(echo(), rows(2), client, name="cost")
    df = await run
    assert list(df["reasoning"]) == ["thought", "thought"]
    assert df["prompt_tokens"].isna().all()
    assert run.usage.unknown == 2


async def test_preview_shows_prompts_and_answers_and_stores_nothing(
    echo, puppet, tmp_path
):
    shown = await preview(echo(), rows(5), puppet(), n=2)
    assert [p.items[0]["answer"] for p in shown] == ["t0", "t1"]
    assert "[user]\nt0" in repr(shown)
    assert not (tmp_path / "home").exists()
    with pytest.raises(ServerError, match="boom"):
        await preview(echo(), rows(1), puppet(lambda _: ServerError("boom")))


async def test_samples_out_of_range_are_refused(echo, puppet):
    with pytest.raises(ConfigError, match="samples"):
        generate(echo(), rows(1), puppet(), samples=0)
    with pytest.raises(ConfigError, match="samples is '3'"):
        generate(echo(), rows(1), puppet(), samples="3")


async def test_an_answer_to_a_prompt_that_was_cut_is_not_ok(echo, puppet):
    cut = Completion("x", adapted=("prompt_cut_by_server",))
    run = generate(echo(), rows(1), puppet(lambda _: cut), name="cut")
    df = await run
    assert list(df["status"]) == ["context"]
    assert list(df["answer"]) == ["x"]
    assert "cut the prompt" in df["detail"].iloc[0]
    assert run.status == {"context": 1}


async def test_rows_are_counted_as_they_come(echo, puppet):
    gate = asyncio.Event()

    async def later():
        await gate.wait()
        return "b"

    client = puppet(lambda text: later() if "again" in text else "a")
    run = generate(echo(wanted=2, top_ups=1), rows(1), client, name="come")
    while not client.in_flight or len(client.asked) < 2:
        await asyncio.sleep(0.001)
    assert run.status == {"ok": 1}
    gate.set()
    await run
    assert run.status == {"ok": 2}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("rows", "recipe", "client"), "list is no recipe"),
        (("class", "rows", "client"), "Echo is no recipe"),
        (("recipe", "rows", "url"), "str is no provider"),
        (("recipe", "rows", None), "NoneType is no provider"),
    ],
)
async def test_arguments_of_the_wrong_kind_are_named(echo, puppet, arguments, said):
    there = {"rows": rows(1), "recipe": echo(), "class": echo, "client": puppet(),
             "url": "http://127.0.0.1:1"}  # fmt: skip
    given = [there.get(name) for name in arguments]
    with pytest.raises(ConfigError, match=said):
        generate(*given)
    with pytest.raises(ConfigError, match=said):
        await preview(*given)


def test_limits_of_the_wrong_kind_are_named(echo, puppet):
    with pytest.raises(ConfigError, match="limits is a dict"):
        generate(echo(), rows(1), puppet(), limits={"max_concurrency": 4})
    with pytest.raises(ConfigError, match=r"Limits\.max_concurrency: [\s\S]*There are"):
        Limits(max_concurrency="four")
    with pytest.raises(ConfigError, match=r"Limits\.concurrency: Extra inputs"):
        Limits(concurrency=4)
    assert Limits.model_validate(FAST.to_json()) == FAST
