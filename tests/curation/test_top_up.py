from __future__ import annotations

import json

import pandas as pd
import pytest

import synthnb as sn
from synthnb.errors import ConfigError, FrameError
from synthnb.testing import FaultServer

CHUNKS = pd.DataFrame({"chunk_id": ["a", "b", "c", "d"], "text": list("ABCD")})


def records(**columns):
    given = {"record_id": ["1", "2", "3", "4"], "chunk_id": ["a", "b", "b", "x"]}
    return pd.DataFrame(given | {"status": ["ok"] * 4} | columns)


def test_chunks_without_a_kept_row_are_returned_in_their_order():
    lacking = sn.top_up(records(), CHUNKS)
    assert list(lacking["chunk_id"]) == ["c", "d"]
    assert list(lacking["text"]) == ["C", "D"]
    assert lacking.attrs["coverage"] == {
        "chunks": 4, "covered": 2, "share": 0.5, "elsewhere": 1,
    }  # fmt: skip
    assert list(sn.top_up(records(), CHUNKS, rows=2)["chunk_id"]) == ["a", "c", "d"]
    assert list(sn.top_up(records(), CHUNKS, rows=2)["kept_rows"]) == [1, 0, 0]


@pytest.mark.parametrize(
    "columns",
    [
        {"status": ["truncated", "ok", "ok", "ok"]},
        {"checks_ok": pd.array([False, True, True, True], dtype="boolean")},
        {"duplicate_of": pd.array(["2", None, None, None], dtype="string")},
        {"decision": pd.array(["reject", "accept", None, None], dtype="string")},
    ],
)
def test_what_is_not_kept_covers_nothing(columns):
    assert list(sn.top_up(records(**columns), CHUNKS)["chunk_id"]) == ["a", "c", "d"]


def test_no_records_and_no_chunks():
    assert len(sn.top_up(records()[:0], CHUNKS)) == 4
    assert sn.top_up(records(), CHUNKS[:0]).attrs["coverage"]["share"] == 1.0


def test_what_is_needed_is_named():
    with pytest.raises(FrameError, match="chunk_id"):
        sn.top_up(records().drop(columns="chunk_id"), CHUNKS)
    with pytest.raises(ConfigError, match="rows"):
        sn.top_up(records(), CHUNKS, rows=0)


async def test_a_document_of_forty_chunks_is_covered_by_a_second_run(tmp_path):
    """Every third chunk gets prose at first; the second run asks for those alone."""
    text = "\n\n".join(f"Fact {n} is so and not otherwise. " * 12 for n in range(40))
    (tmp_path / "d.txt").write_text(text)
    chunks = sn.read(tmp_path / "d.txt", chunk_tokens=120, overlap=0)
    assert len(chunks) >= 40
    first = True

    def answer(request):
        user = request["messages"][-1]["content"]
        number = int(user.split("Fact ")[1].split(" ")[0])
        if first and number % 3 == 0:
            return "I would rather talk."
        said = f"Fact {number} is so and not otherwise."
        one = {"evidence": said, "question": f"What is {number}?", "answer": "so"}
        return json.dumps({"pair_1": one})

    recipe = sn.QA(pairs=1, top_ups=0)
    async with FaultServer(answer) as server:
        provider = sn.Provider(server.base_url, "fault-model")
        df = await sn.generate(recipe, chunks, provider, name="one")
        lacking = sn.top_up(df, chunks)
        before = lacking.attrs["coverage"]["share"]
        assert 0.5 < before < 0.8
        first, sent = False, server.stats.requests
        again = await sn.generate(recipe, lacking, provider, name="two")
        assert server.stats.requests - sent == len(lacking)
    df = pd.concat([sn.keep(df), again], ignore_index=True)
    after = sn.top_up(df, chunks)
    assert (after.attrs["coverage"]["share"], len(after)) == (1.0, 0)
    assert df["record_id"].is_unique
