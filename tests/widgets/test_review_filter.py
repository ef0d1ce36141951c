"""Which rows the desk shows, in which order."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthnb.errors import ConfigError
from synthnb.widgets.review_model import ReviewModel


@pytest.fixture
def model(tmp_path):
    df = pd.DataFrame(
        {
            "record_id": ["a", "b", "c", "d", "e"],
            "question": ["How long is it?", "WHO was STRASSE", "why", None, "how deep"],
            "answer": ["2,850 km", "Straße 7", None, "x" * 50, "dëep"],
            "rating": pd.array([7, None, 3, 7, 9.5], dtype="Float64"),
            "status": ["ok", "ok", "truncated", None, "ok"],
            "source": ["b.pdf", "a.pdf", None, "a.pdf", "b.pdf"],
            "chunk_id": ["k1", "k2", "k1", "k1", None],
            "duplicate_of": [None, "a", None, None, None],
            "text": "nobody searches here: needle",
        }
    )
    return ReviewModel(df, folder=tmp_path / "run", by="ada")


def shown(model, **values):
    model.set_filter(values)
    return "".join(row["id"] for row in model.rows(0, 100)["rows"])


@pytest.mark.parametrize(
    ("values", "ids"),
    [
        ({}, "abcde"),
        ({"status": "ok"}, "abe"),
        ({"status": "nothing"}, ""),
        ({"rating": [7, None]}, "ade"),
        ({"rating": [None, 7]}, "acd"),
        ({"rating": (4, 8)}, "ad"),
        ({"rating": None}, "abcde"),
        ({"duplicates": "only"}, "b"),
        ({"duplicates": "none"}, "acde"),
        ({"source": "a.pdf"}, "bd"),
        ({"chunk": "k1"}, "acd"),
        ({"chunk": "k1", "status": "ok"}, "a"),
        ({"text": "HOW"}, "ae"),
        ({"text": "it  long"}, "a"),
        ({"text": "2,850"}, "a"),
        ({"text": "strasse"}, "b"),
        ({"text": "needle"}, ""),
        ({"text": "c"}, "c"),  # the record's id is found as well
        ({"text": ".*"}, ""),
        ({"text": " "}, "abcde"),
    ],
)
def test_rows_pass_every_part_of_the_filter(model, values, ids):
    assert shown(model, **values) == ids


@pytest.mark.parametrize(
    ("sort", "up", "down"),
    [
        ("order", "abcde", "edcba"),
        ("rating", "cadeb", "eadcb"),  # equal ones in the frame's order, missing last
        ("length", "ceabd", "dabec"),  # of question and answer together
        ("source", "bdaec", "aebdc"),
    ],
)
def test_sorting_is_stable_and_missing_values_are_last(model, sort, up, down):
    assert shown(model, sort=sort) == up
    assert shown(model, sort=sort, descending=True) == down


def test_rows_are_sorted_by_the_time_of_their_decision(model):
    for record in "dbd":
        model.decide(record, "accept")
    assert shown(model, sort="decided") == "bdace"
    assert shown(model, sort="decided", descending=True) == "dbace"


def test_rows_are_found_by_what_a_person_said(model):
    model.decide("a", "accept")
    model.decide("b", "reject")
    model.edit("c", {"answer": "brand NEW"})
    model.annotate("d", tags=["Geography"], note="check the year")
    assert shown(model, decision="undecided") == "de"
    assert shown(model, decision="accept") == "ac"
    assert shown(model, decision="reject") == "b"
    assert shown(model, decision="edited") == "c"
    assert shown(model, decision="noted") == "d"
    assert shown(model, decision="", text="brand new") == "c"
    assert shown(model, text="geography year") == "d"
    model.edit("c", {"answer": "other"})
    assert shown(model, text="brand new") == ""
    model.undo()
    assert shown(model, text="brand new") == "c"
    model.undo()
    model.undo()
    assert shown(model, text="") == "abcde"
    assert shown(model, decision="edited") == ""


def test_a_view_is_looked_at_again_only_when_asked(model):
    assert shown(model, decision="undecided") == "abcde"
    version = model.state()["version"]
    model.decide("a", "accept")
    answer = model.sync()
    assert answer["state"]["version"] == version
    assert answer["state"]["matching"] == 5
    answer = model.set_filter({})
    assert answer["state"]["version"] > version
    assert answer["filter"]["decision"] == "undecided"
    assert shown(model) == "bcde"


def test_the_selection_stays_at_the_record_that_was_looked_at(model):
    model.record(record_id="d")
    assert model.set_filter({"sort": "rating", "descending": True})["selected"] == 2
    assert model.set_filter({"status": "ok"})["selected"] == 0  # d is not there
    model.decide("e", "accept")
    assert model.set_filter({})["selected"] == 1  # the first undecided
    assert model.set_filter({"text": "nothing like it"})["selected"] is None


@pytest.mark.parametrize(
    "values",
    [
        {"decision": "maybe"},
        {"sort": "colour"},
        {"duplicates": True},
        {"rating": [1]},
        {"rating": 5},
        {"rating": ["low", None]},
        {"text": 5},
        {"colour": "red"},
    ],
)
def test_a_filter_that_cannot_be_is_refused_and_the_old_one_stays(model, values):
    shown(model, status="ok")
    with pytest.raises(ConfigError, match=r"filter|cannot be") as caught:
        model.set_filter(values)
    assert next(iter(values)) in str(caught.value)
    assert model.open()["filter"]["status"] == "ok"
    assert model.open()["state"]["matching"] == 3


cells = st.tuples(
    st.sampled_from(["ab", "AB c", "", "x"]), st.sampled_from([None, 1.0, 2.0])
)


@settings(deadline=None)
@given(
    st.lists(cells, max_size=8),
    st.sampled_from(["", "a", "b c"]),
    st.sampled_from(["order", "rating"]),
    st.booleans(),
)
def test_filter_and_sort_do_what_plain_loops_do(
    tmp_path_factory, rows, text, sort, descending
):
    df = pd.DataFrame(rows, columns=["answer", "rating"]).astype({"rating": "Float64"})
    df.insert(0, "record_id", [f"#{i}" for i in range(len(rows))])
    model = ReviewModel(df, folder=tmp_path_factory.mktemp("run"), by="ada")
    model.set_filter({"text": text, "sort": sort, "descending": descending})
    words = text.split()
    wanted = [
        i
        for i, (t, _) in enumerate(rows)
        if all(w in f"#{i}\n{t}".lower() for w in words)
    ]
    sign = -1 if descending else 1
    if sort == "order":
        wanted = wanted[::sign]
    else:
        rated = [i for i in wanted if rows[i][1] is not None]
        wanted = sorted(rated, key=lambda i: sign * rows[i][1]) + [
            i for i in wanted if rows[i][1] is None
        ]
    assert [int(row["id"][1:]) for row in model.rows(0, 99)["rows"]] == wanted
