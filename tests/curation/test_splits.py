from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import synthnb as sn
from synthnb.errors import ConfigError


def frame(sources, **columns):
    ids = [f"r{n}" for n in range(len(sources))]
    return pd.DataFrame({"record_id": ids, "source": sources, **columns})


def parts(df):
    return dict(zip(df["record_id"], df["split"], strict=True))


def sides(df):
    """Return document → how many parts it is in."""
    return {source: len(set(rows)) for source, rows in df.groupby("source")["split"]}


def test_a_documents_rows_stay_together_and_the_shares_are_near():
    df = frame([f"d{n % 40}" for n in range(1000)])
    done = sn.split(df, train=0.8, validation=0.1, test=0.1, seed=3)
    assert max(sides(done).values()) == 1
    told = done.attrs["splits"]
    assert told["rows"] == {"train": 800, "validation": 100, "test": 100}
    assert (told["seed"], told["groups"]) == (3, 40)


def test_duplicates_of_two_documents_bring_them_to_one_side():
    df = frame([f"d{n}" for n in range(50)])
    df["duplicate_of"] = pd.array([None] * 49 + ["r0"], dtype="string")
    df.loc[25, "duplicate_of"] = "r49"
    done = parts(sn.split(df, train=0.5, validation=0, test=0.5))
    assert done["r0"] == done["r25"] == done["r49"]


def test_the_order_of_the_rows_does_not_matter_and_the_seed_does():
    df = frame([f"d{n // 3}" for n in range(300)])
    once = parts(sn.split(df, seed=1))
    assert parts(sn.split(df.sample(frac=1, random_state=5), seed=1)) == once
    assert parts(sn.split(df, seed=2)) != once


def test_rows_without_a_value_or_without_the_column_are_groups_of_their_own():
    df = frame(pd.array([None] * 100, dtype="string"))
    assert sn.split(df).attrs["splits"]["groups"] == 100
    assert sn.split(df.drop(columns="source")).attrs["splits"]["groups"] == 100
    assert sn.split(df, by=["source", "topic"]).attrs["splits"]["groups"] == 100


def test_a_part_without_a_share_is_not_made_and_one_document_is_all_train():
    done = sn.split(frame(["d"] * 10), train=0.9, validation=0.1, test=0)
    assert set(done["split"]) == {"train"}
    assert done.attrs["splits"]["shares"] == {"train": 1.0, "validation": 0.0}
    assert len(sn.split(frame([]))) == 0


@pytest.mark.parametrize("shares", [(0.9, 0.2, 0.1), (1.2, -0.1, -0.1), (0, 0, 0)])
def test_shares_that_do_not_add_up_are_refused(shares):
    names = dict(zip(("train", "validation", "test"), shares, strict=True))
    with pytest.raises(ConfigError, match="add up to"):
        sn.split(frame(["a"]), **names)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 12), max_size=120), st.integers(0, 5))
def test_no_group_is_ever_in_two_parts(documents, seed):
    done = sn.split(frame([f"d{n}" for n in documents]), seed=seed)
    assert max(sides(done).values(), default=1) == 1
    assert done["split"].notna().all()


def test_the_parts_go_into_the_dataset_folder(tmp_path):
    df = frame([f"d{n}" for n in range(100)], question="q", answer="a", status="ok")
    result = sn.export_dataset(sn.split(df), tmp_path / "d", licence="mit")
    assert dict(result.rows) == {"train": 90, "validation": 5, "test": 5}
