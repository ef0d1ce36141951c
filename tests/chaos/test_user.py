"""Rows U1 to U5 of the table of faults: what a person does to a run."""

from __future__ import annotations

import asyncio
import logging
import shutil
import tempfile
import traceback
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.extra.pandas import column, data_frames, range_indexes
from invariant import check_invariant
from runs_on_the_wire import QUICK, at, proven, rows, until

import synthnb as sn
from synthnb.engine.progress import State
from synthnb.errors import ConfigError, FrameError, SynthnbError
from synthnb.pipeline import generate
from synthnb.providers.secrets import clean_key
from synthnb.testing import Answer, FaultServer
from synthnb.testing.stats import last_user_message

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(180)]


# U1 ---------------------------------------------------------------------------------------


async def test_u1_a_frame_that_is_changed_meanwhile_does_not_matter(echo):
    """Cells and columns of the frame go while its run is at work."""
    n = 3000  # more than one block of rows is read, so most are read after the change
    data = pd.DataFrame(rows(n))
    data.insert(0, "tags", [[f"t{i}"] for i in range(n)])
    async with FaultServer(latency=0.002) as server:
        run = generate(echo(), data, at(server.base_url), name="u1", limits=QUICK)
        await until(lambda: run.progress.done >= 20)
        data["text"] = "changed"
        data.loc[:, "new"] = 1
        del data["tags"]
        while len(data.columns) > 1:
            data.pop(data.columns[-1])
        df = await run
        assert server.stats.by_prompt["changed"] == 0
    assert list(df["text"]) == [f"#R{i}#" for i in range(n)]
    assert "new" not in df
    assert "input_tags" in df or "tags" in df
    assert len(proven(run, n).answers) == n


async def test_u1_a_list_that_is_changed_meanwhile_does_not_matter(echo):
    """Rows are added to and taken from the list; it is taken as it was."""
    data = rows(400)
    async with FaultServer(latency=0.002) as server:
        run = generate(echo(), data, at(server.base_url), name="u1", limits=QUICK)
        await until(lambda: run.progress.done >= 20)
        del data[200:]
        data += [{"text": "late"}] * 50
        data[150] = {"text": "changed"}
        df = await run
    assert list(df["text"]) == [f"#R{i}#" for i in range(400)]
    assert len(proven(run, 400).answers) == 400


async def test_u1_a_row_in_a_list_that_is_changed_in_place_does_not_matter(echo):
    data = rows(400)
    async with FaultServer(latency=0.002) as server:
        run = generate(echo(), data, at(server.base_url), name="u1", limits=QUICK)
        await until(lambda: run.progress.done >= 20)
        for row in data:
            row["text"] = "changed"
        df = await run
    assert list(df["text"]) == [f"#R{i}#" for i in range(400)]
    assert len(proven(run, 400).answers) == 400


# U2 ---------------------------------------------------------------------------------------

_mixed = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=8),
    st.binary(max_size=4),
    st.dates(),
    st.datetimes(),
    st.lists(st.integers(0, 3), max_size=2),
    st.dictionaries(st.text(max_size=2), st.integers(0, 3), max_size=2),
    st.just(pd.NaT),
    st.just(pd.NA),
    st.just(np.nan),
    st.just(np.int64(3)),
)
_frames = data_frames(
    columns=[
        column("text", elements=st.text(max_size=12), dtype=object),
        column("mixed", elements=_mixed, dtype=object, fill=st.nothing()),
        column("number", elements=st.floats(allow_infinity=False), dtype=float),
        column("moment", dtype="datetime64[ns]"),
    ],
    index=range_indexes(max_size=12),
)
_labels = st.lists(
    st.sampled_from([0, 0, 1, "a", None, np.nan]), min_size=12, max_size=12
)
_id_columns = st.sampled_from([None, "mixed", "text"])


# Each example is a run or two: too dear to shrink.
_RUNS = settings(
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
)


def in_a_folder(do):
    """Call with a new folder; Hypothesis has none for each example."""
    folder = Path(tempfile.mkdtemp(prefix="chaos-"))
    try:
        return do(folder)
    finally:
        shutil.rmtree(folder)


def cells_of(frame):
    """Return index and cells as they print; a NaN equals none, not even itself."""
    columns = [frame.iloc[:, i].tolist() for i in range(frame.shape[1])]
    return repr((list(frame.index), list(frame.columns), columns))


@settings(_RUNS, max_examples=60)
@given(frame=_frames, labels=_labels)
def test_u2_any_frame_gives_one_row_for_each_of_its_own(frame, labels):
    """Whatever its index and cells are: in its order, found again on the next call."""
    frame.index = pd.Index(labels[: len(frame)], dtype=object)
    before = cells_of(frame)

    async def run_it(folder):
        recipe = sn.Prompt("Say {{ text }}.")
        async with FaultServer(lambda _: "word") as server:
            for again in (False, True):
                run = generate(
                    recipe, frame, at(server.base_url), folder=folder, limits=QUICK
                )
                df = await run
                assert run.state is State.DONE
                assert run.progress.requests == (0 if again else len(frame))
                assert run.status == ({"ok": len(frame)} if len(frame) else {})
                found = proven(run, set(df["row_id"]))
                assert len(found.answers) == len(df) == len(frame)
        return df

    df = in_a_folder(lambda folder: asyncio.run(run_it(folder / "run")))
    assert df["row_id"].is_unique
    assert df.index.equals(pd.RangeIndex(len(frame)))
    assert cells_of(frame) == before
    if frame.empty:
        return
    assert list(df["text"]) == list(frame["text"])
    assert df["number"].isna().tolist() == frame["number"].isna().tolist()
    assert df["moment"].isna().tolist() == frame["moment"].isna().tolist()


@settings(_RUNS, max_examples=30)
@given(frame=_frames, id_column=_id_columns)
def test_u2_any_id_column_is_used_or_refused_in_words(frame, id_column):
    async def run_it(folder):
        async with FaultServer(lambda _: "word") as server:
            run = generate(
                sn.Prompt("Say {{ text }}."), frame, at(server.base_url),
                folder=folder, limits=QUICK, id_column=id_column,
            )  # fmt: skip
            refused = None
            try:
                df = await run
            except FrameError as error:
                refused = error
            if refused is not None:
                assert id_column is not None
                assert repr(id_column) in str(refused)
                check_invariant(run.folder, acknowledged=run.progress.saved)
                return
            assert len(df) == len(frame)
            assert df["row_id"].is_unique
            proven(run, set(df["row_id"]))

    in_a_folder(lambda folder: asyncio.run(run_it(folder / "run")))


async def test_u2_two_columns_of_one_name_are_refused_before_anything_is_sent(echo):
    data = pd.DataFrame([["a", "b", 1]], columns=["text", "text", "n"])
    async with FaultServer() as server:
        with pytest.raises(FrameError, match="two columns are named 'text'"):
            generate(echo(), data, at(server.base_url), name="u2")
        assert server.stats.requests == 0


@pytest.mark.parametrize("n", [0, 1])
async def test_u2_no_rows_and_one_row_are_a_whole_run(echo, n):
    async with FaultServer() as server:
        data = pd.DataFrame(rows(n), columns=["text"])
        run = generate(echo(), data, at(server.base_url), name="u2", limits=QUICK)
        df = await run
        assert run.state is State.DONE
        assert server.stats.requests == len(df) == n
        assert {"row_id", "status", "answer"} <= set(df.columns)
    assert len(proven(run, n).answers) == n


async def test_u2_a_frame_of_no_rows_keeps_its_columns(echo):
    """What is done to the result next (df["text"]) must not depend on there being rows."""
    async with FaultServer() as server:
        data = pd.DataFrame({"text": [], "topic": []})
        df = await generate(echo(), data, at(server.base_url), name="u2", limits=QUICK)
    assert {"text", "topic"} <= set(df.columns)


async def test_u2_an_infinite_number_is_not_lost_in_silence(echo):
    data = pd.DataFrame({"text": ["a", "b"], "number": [float("-inf"), 1.5]})
    async with FaultServer() as server:
        df = await generate(echo(), data, at(server.base_url), name="u2", limits=QUICK)
    assert list(df["number"]) == [float("-inf"), 1.5]


async def test_u2_equal_rows_are_rows_of_their_own(echo):
    data = pd.DataFrame({"text": ["same"] * 7}, index=[0] * 7)
    async with FaultServer() as server:
        run = generate(echo(), data, at(server.base_url), name="u2", limits=QUICK)
        df = await run
        assert server.stats.requests == len(df) == 7
    assert df["row_id"].is_unique
    assert proven(run, {"same"}).results == 7


# U3 ---------------------------------------------------------------------------------------


async def edited(target, recipe, data):
    run = generate(recipe, data, target, name="u3", limits=QUICK)
    df = await run
    proven(run, {row["text"] for row in data} | set(df["row_id"]))
    return run, df


async def test_u3_an_edited_recipe_asks_only_for_what_it_touches():
    """Another prompt touches all rows, the old one none; a row's edit touches that row."""
    ids = [{"record_id": f"r{i}", **row} for i, row in enumerate(rows(20))]
    async with FaultServer(last_user_message) as server:
        target = at(server.base_url)
        first, again = sn.Prompt("Say {{ text }}"), sn.Prompt("Shout {{ text }}")
        run, _ = await edited(target, first, ids)
        assert run.progress.requests == 20
        changed = [dict(row) for row in ids]
        for i in (3, 4, 11):
            changed[i]["text"] = f"#R{100 + i}#"
        run, df = await edited(target, first, changed)
        assert run.progress.requests == 3
        assert run.progress.resumed == 17
        assert list(df["answer"]) == [f"Say {row['text']}" for row in changed]
        run, df = await edited(target, again, changed)
        assert run.progress.requests == 20
        assert list(df["answer"]) == [f"Shout {row['text']}" for row in changed]
        # Back again: the answers to the first prompt are still there.
        run, df = await edited(target, first, changed)
        assert run.progress.requests == 0
        assert list(df["answer"]) == [f"Say {row['text']}" for row in changed]
        run, df = await edited(target, first, ids)
        assert run.progress.requests == 0
        assert server.stats.requests == 43


async def test_u3_the_cost_is_told_before_anything_is_bought():
    recipe = sn.Prompt("Say {{ text }}", max_tokens=50)
    async with FaultServer() as server:
        target = at(server.base_url, price=sn.Price(1.0, 2.0))
        told = await sn.estimate(recipe, rows(40), target, name="u3")
        assert server.stats.requests == 0
        assert told.requests == 40
        assert told.most_usd > 0
        run = generate(recipe, rows(40), target, name="u3", limits=QUICK)
        await run
        assert run.usage.usd <= told.most_usd
    proven(run, 40)


async def test_u3_the_cost_that_is_told_leaves_out_what_is_there():
    recipe = sn.Prompt("Say {{ text }}", max_tokens=50)
    async with FaultServer() as server:
        target = at(server.base_url)
        data = rows(20)
        await generate(recipe, data, target, name="u3", limits=QUICK)
        data[3] = {"text": "#R103#"}
        told = await sn.estimate(recipe, data, target, name="u3")
        run = generate(recipe, data, target, name="u3", limits=QUICK)
        await run
        assert run.progress.requests == 1
        assert (told.requests, told.present) == (1, 19)
        assert "19 answers, which cost nothing again" in repr(told)


# U4 ---------------------------------------------------------------------------------------

_USAGE = {"prompt_tokens": 40, "completion_tokens": 60}


@pytest.mark.parametrize(
    "budget", [{"budget_tokens": 5000}, {"budget_usd": 0.008}], ids=["tokens", "usd"]
)
async def test_u4_a_budget_ends_the_run_and_it_goes_on_with_a_higher_one(echo, budget):
    """100 tokens an answer, 0.00016 dollars: 50 answers, and at most those in flight."""
    price = sn.Price(1.0, 2.0)
    limits = QUICK.model_copy(update=budget)
    async with FaultServer(
        lambda _: Answer("word", usage=_USAGE), latency=0.005
    ) as server:
        target = at(server.base_url, price=price)
        run = generate(echo(), rows(300), target, name="u4", limits=limits)
        df = await run
        assert run.state is State.STOPPED
        assert "budget is used up" in run.progress.note
        bought = server.stats.requests
        assert 50 <= bought <= 50 + 8
        assert run.status["ok"] == bought
        assert (df["status"] == "ok").sum() == bought
        found = proven(run, 300)
        assert found.prompt_tokens + found.completion_tokens == 100 * bought
        assert run.usage.usd == pytest.approx(0.00016 * bought)
        more = generate(echo(), rows(300), target, name="u4", limits=QUICK)
        await more
        assert more.progress.resumed == bought
        assert server.stats.requests == 300
    found = proven(more, 300)
    assert found.prompt_tokens + found.completion_tokens == 100 * 300


# U5 ---------------------------------------------------------------------------------------

SECRET = "sk-CANARY-9f3b7d21e0"
_PASTED = [
    f"{SECRET}\n",
    f"  {SECRET}\t",
    f"\r\n{SECRET}\r\n",
    f'"{SECRET}"',
    f"'{SECRET}'",
    f"Bearer {SECRET}",
    f" bearer  {SECRET} \n",
    f"\u00a0{SECRET}\u3000",
]
_BROKEN = [
    f"“{SECRET}”",
    f"{SECRET[:9]}\n{SECRET[9:]}",
    f"{SECRET[:9]} {SECRET[9:]}",
    f"{SECRET[:9]}\x00{SECRET[9:]}",
    f"{SECRET}\u200b",
    f"\ufeff{SECRET}",
    f"«{SECRET}»",
    f"{SECRET}é",
    f"{SECRET}\ud800",
]


def parts_of(secret):
    return [secret[i : i + 6] for i in range(len(secret) - 5)]


def everything_written(folder):
    return "".join(
        path.read_text(errors="replace")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    )


@pytest.mark.parametrize("pasted", _PASTED)
async def test_u5_a_pasted_key_is_trimmed_and_is_nowhere(
    echo, pasted, tmp_path, caplog
):
    caplog.set_level(logging.DEBUG)
    async with FaultServer(require_key=SECRET) as server:
        target = at(server.base_url, api_key=pasted)
        run = generate(echo(), rows(20), target, name="u5", limits=QUICK)
        await run
        assert run.status == {"ok": 20}
    proven(run, 20)
    shown = repr(target) + repr(run) + caplog.text + everything_written(tmp_path)
    assert not [part for part in parts_of(SECRET) if part in shown]


@pytest.mark.parametrize("pasted", _BROKEN)
def test_u5_a_key_that_cannot_be_one_is_refused_and_not_repeated(pasted, caplog):
    caplog.set_level(logging.DEBUG)
    with pytest.raises(ConfigError, match="the API key holds") as caught:
        at("http://127.0.0.1:9/v1", api_key=pasted)
    assert "→" in str(caught.value)
    lines = traceback.format_exception(caught.value)
    # The line of this test that holds the call names the variable, not its value.
    shown = "".join(lines) + repr(caught.value.args) + caplog.text
    assert not [part for part in parts_of(SECRET) if part in shown]


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    before=st.text(st.characters(blacklist_categories=()), max_size=3),
    after=st.text(st.characters(blacklist_categories=()), max_size=3),
)
def test_u5_whatever_stands_around_a_key_is_taken_off_or_refused(before, after):
    found, said = SECRET, ""
    try:
        found = clean_key(before + SECRET + after)
    except SynthnbError as error:
        said = str(error)
    assert not [part for part in parts_of(SECRET) if part in said]
    assert SECRET in found
    assert found.isascii()
    assert found.isprintable()
    assert " " not in found
