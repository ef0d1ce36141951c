"""A table's model, view and static form, without a kernel."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from synthnb.errors import ConfigError, FrameError
from synthnb.widgets.table import table
from synthnb.widgets.table_cells import cell, safe, whole
from synthnb.widgets.table_model import TableModel
from synthnb.widgets.table_view import TableView

RECORDS = pd.DataFrame(
    {
        "record_id": ["r0", "r1", "r2", "r3", "r4"],
        "start": [0, 10, 20, 30, 40],
        "question": ["Beta?", "alpha?", None, "Gamma?", "alpha?"],
        "answer": ["Rhine", "Danube", "DANUBE delta", None, "Elbe"],
        "rating": [7.0, None, 3.5, 7.0, 10.0],
        "empty": [None] * 5,
    }
)
AT = {name: place for place, name in enumerate(RECORDS.columns)}


@pytest.fixture
def model():
    return TableModel(RECORDS)


def ids(model):
    return RECORDS.loc[model.frame().index, "record_id"].tolist()


# columns --------------------------------------------------------------------------------


def test_at_first_what_is_worth_reading_is_shown(model):
    assert [model.columns[at].name for at in model.chosen] == [
        "question",
        "answer",
        "rating",
    ]


def test_of_only_ids_some_are_shown():
    made = TableModel(pd.DataFrame({"record_id": ["a"], "start": [1]}))
    assert made.chosen == [0, 1]


def test_columns_are_shown_as_asked_and_in_that_order():
    made = table(RECORDS, columns=["rating", "record_id"])
    assert list(made.frame().columns) == ["rating", "record_id"]
    with pytest.raises(FrameError, match=r"'ratng'.*rating"):
        table(RECORDS, columns=["ratng"])


def test_kinds_and_widths_come_from_the_values(model):
    kinds = {column.name: column.kind for column in model.columns}
    assert kinds["question"] == "text"
    assert kinds["rating"] == kinds["start"] == "number"
    made = TableModel(
        pd.DataFrame(
            {
                "n": pd.Series([1, None], dtype=object),
                "b": [True, False],
                "t": pd.to_datetime(["2026-01-02", None]),
                "long": ["x" * 500, "y"],
                "mixed": pd.Series([1, "x"], dtype=object),
            }
        )
    )
    assert [c.kind for c in made.columns] == ["number", "truth", "time", "text", "text"]
    assert [c.width for c in made.columns][3] <= 32
    assert min(c.width for c in made.columns) >= 5


def test_one_column_has_to_stay(model):
    model.choose([AT["answer"]])
    assert list(model.frame().columns) == ["answer"]
    with pytest.raises(ConfigError, match="no column is left"):
        model.choose([])
    with pytest.raises(ConfigError):
        model.choose([99])


# order and search -----------------------------------------------------------------------


def test_sorting_is_stable_with_missing_values_last_both_ways(model):
    model.sort_by(AT["rating"])
    assert ids(model) == ["r2", "r0", "r3", "r4", "r1"]
    model.sort_by(AT["rating"], descending=True)
    assert ids(model) == ["r4", "r0", "r3", "r2", "r1"]
    model.sort_by(None)
    assert ids(model) == ["r0", "r1", "r2", "r3", "r4"]


def test_texts_sort_without_case(model):
    model.sort_by(AT["question"])
    assert ids(model) == ["r1", "r4", "r0", "r3", "r2"]


def test_a_search_is_plain_text_in_any_case_over_the_shown_columns(model):
    model.search("danube")
    assert (model.matching, ids(model)) == (2, ["r1", "r2"])
    model.search("r1")
    assert model.matching == 0  # record_id is not shown
    model.choose([AT["record_id"]])
    assert model.matching == 1
    model.search("D.*e")
    assert model.matching == 0
    model.search("")
    assert model.matching == 5


def test_a_search_keeps_the_order_and_a_sort_keeps_the_search(model):
    model.sort_by(AT["rating"], descending=True)
    model.search("alpha")
    assert ids(model) == ["r4", "r1"]
    model.sort_by(None)
    assert ids(model) == ["r1", "r4"]


def test_each_change_has_a_new_version(model):
    versions = [model.version]
    for change in (
        lambda: model.sort_by(AT["rating"]),
        lambda: model.search("a"),
        lambda: model.choose([2]),
    ):
        change()
        versions.append(model.version)
    assert versions == sorted(set(versions))


def test_there_is_no_such_column_or_row(model):
    with pytest.raises(ConfigError):
        model.sort_by(99)
    for index in (-1, 5):
        with pytest.raises(ConfigError):
            model.row(index)
        with pytest.raises(ConfigError):
            model.as_json(index)


def test_every_kind_of_column_sorts():
    odd = [{"a": 1}, [2, 1], "x", None, 7, b"\xff", float("nan"), True]
    df = pd.DataFrame(
        {
            "odd": pd.Series(odd, dtype=object),
            "time": pd.to_datetime([None, *(["2026-01-02"] * 6), "2025-01-01"]),
            "kind": pd.Series(list("bacdefgh"), dtype="category"),
            "nothing": pd.Series([pd.NA] * 8, dtype="Int64"),
            "huge": pd.Series([10**400, 1, 2, 3, 4, 5, 6, 7], dtype=object),
        }
    )
    made = TableModel(df)
    for place in range(len(df.columns)):
        for descending in (False, True):
            made.sort_by(place, descending=descending)
            assert sorted(made.frame().index) == list(range(8))
            json.dumps(made.rows(0, 8))
    made.sort_by(1)
    assert made.frame().index[0] == 7
    assert made.frame().index[-1] == 0


def test_numbers_sort_exactly_and_infinite_ones_are_not_missing():
    whole_numbers = [2**53 + 1, 2**53, 2**53 + 3, 2**53 + 2]
    df = pd.DataFrame(
        {
            "big": whole_numbers,
            "nullable": pd.array(whole_numbers, dtype="Int64"),
            "float": [float("inf"), None, -float("inf"), 0.0],
            "took": pd.to_timedelta([10, 9, 100, None], unit="h"),
        }
    )
    made = TableModel(df)
    orders = ([1, 0, 3, 2], [1, 0, 3, 2], [2, 3, 0, 1], [1, 0, 2, 3])
    for place, order in enumerate(orders):
        made.sort_by(place)
        assert made.frame().index.tolist() == order


# cells ----------------------------------------------------------------------------------


def test_pages_hold_short_cells_and_only_what_is_there(model):
    assert model.rows(0, 2) == [["Beta?", "Rhine", "7"], ["alpha?", "Danube", None]]
    assert model.rows(4, 100) == [["alpha?", "Elbe", "10"]]
    assert model.rows(7, 9) == []
    long = TableModel(pd.DataFrame({"t": ["W" * 1_000_000] * 2000}))
    assert len(long.rows(0, 2000)) == 500
    assert len(long.rows(0, 1)[0][0]) == 240


def test_an_opened_row_has_every_column_the_shown_ones_first(model):
    row = model.row(2)
    assert [f["name"] for f in row["fields"][:3]] == ["question", "answer", "rating"]
    assert {f["name"]: f["text"] for f in row["fields"]} == {
        "record_id": "r2",
        "start": "20",
        "question": None,
        "answer": "DANUBE delta",
        "rating": "3.5",
        "empty": None,
    }
    long = TableModel(pd.DataFrame({"t": ["line\n" * 10_000]})).row(0)["fields"][0]
    assert (len(long["text"]), long["cut"]) == (20_000, 30_000)
    assert json.loads(model.as_json(0))["answer"] == "Rhine"
    assert json.loads(model.as_json(1))["rating"] is None


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, None), (float("nan"), None), (pd.NA, None), (pd.NaT, None), ("", None),
        (7, "7"), (7.0, "7"), (0.1 + 0.2, "0.3"),
        (12345678.0, "12345678"), (1234567.25, "1234567.25"), (1e20, "1e+20"),
        (1e-7, "1e-07"), (-123456.5, "-123456.5"), (-0.0, "0"), (True, "yes"), (np.int64(3), "3"),
        ("two\n lines\t", "two lines"), ([1, "é"], '[1, "é"]'), ({"a": None}, '{"a": null}'),
        (pd.Timestamp("2026-01-02"), "2026-01-02T00:00:00"), ("\ud800x", "U+D800x"),
        (10**400, str(10**400)[:239] + "…"), (float("inf"), "inf"), (b"\xff", "/w=="),
    ],
)  # fmt: skip
def test_any_value_is_a_line_of_text(value, shown):
    assert cell(value) == shown


def test_whole_texts_keep_their_lines():
    assert whole("two\n lines") == "two\n lines"
    assert whole(1234567.123456789) == "1234567.123456789"
    assert safe("plain") == "plain"


HOSTILE = [
    "<script>window.hit=1</script>",
    '"><img src=x onerror=window.hit=1>',
    "\x1b[2J\x1b]8;;http://x\x07",
    "\u202etxt.exe",
    "\ud800",
    "__proto__",
    "W" * 100_000,
]  # fmt: skip


def test_hostile_values_and_names_stay_text():
    df = pd.DataFrame([[text] * len(HOSTILE) for text in HOSTILE], dtype=object)
    df.columns = pd.Index(HOSTILE, dtype=object)
    made = table(df)
    bundle = made._repr_mimebundle_()
    html = bundle["text/html"]
    assert "<script" not in html
    assert "<img" not in html
    assert "\u202e" not in html
    assert "\x1b" not in bundle["text/plain"]
    json.dumps(made._model.state()).encode()
    json.dumps(made._model.rows(0, 9), ensure_ascii=False).encode()
    json.dumps(made._model.row(4), ensure_ascii=False).encode()
    assert max(map(len, bundle["text/plain"].splitlines())) < 300


def test_two_columns_of_one_name_and_names_that_are_no_text():
    df = pd.DataFrame([[1, 2, 3]], columns=["a", "a", 7])
    made = TableModel(df)
    assert made.rows(0, 1) == [["1", "2", "3"]]
    made.sort_by(1)
    assert made.row(0)["fields"][2]["name"] == "7"


# the table ------------------------------------------------------------------------------


def test_the_bundle_is_a_view_a_page_and_a_text():
    made = table(RECORDS)
    bundle = made._repr_mimebundle_()
    again = made._repr_mimebundle_()
    key = "application/vnd.jupyter.widget-view+json"
    assert bundle[key]["model_id"] == again[key]["model_id"]
    lines = bundle["text/plain"].splitlines()
    assert lines[0] == "Table: 5 rows, 3 of 6 columns"
    assert lines[1].split() == ["question", "answer", "rating"]
    assert lines[4].split() == ["–", "DANUBE", "delta", "3.5"]
    assert bundle["text/html"].count("<tr") == 6
    assert "5 rows, 3 of 6 columns" in bundle["text/html"]


def test_of_many_rows_the_first_ten_are_saved():
    made = table(pd.DataFrame({"n": range(1203)}))
    html = made._repr_mimebundle_()["text/html"]
    assert "first 10 of 1,203 rows" in html
    assert html.count("<tr") == 11


def test_later_changes_of_the_frame_do_not_reach_it():
    df = pd.DataFrame({"n": [3, 1, 2]})
    made = table(df)
    df.loc[0, "n"] = 99
    assert made.frame()["n"].tolist() == [3, 1, 2]


@pytest.mark.parametrize("df", [pd.DataFrame(), pd.DataFrame({"a": []}), pd.DataFrame(index=[1, 2])])  # fmt: skip
def test_a_frame_with_nothing_in_it_is_a_table(df):
    made = table(df)
    assert repr(made).startswith("Table: ")
    assert made._repr_mimebundle_()["text/html"]
    assert len(made._model.rows(0, 10)) == len(df)
    assert len(made.frame()) == len(df)


def test_what_is_no_frame_or_no_height_is_refused():
    with pytest.raises(FrameError):
        table([1])
    with pytest.raises(ConfigError, match="height"):
        table(RECORDS, height=5)


# the view -------------------------------------------------------------------------------


def test_the_view_carries_messages():
    made = TableModel(RECORDS)
    view = TableView(made, 300)
    opened = view.on_open({})
    assert (opened["height"], opened["state"]["total"]) == (300, 5)
    assert json.loads(json.dumps(opened)) == opened
    sorted_ = view.on_sort({"column": AT["rating"], "descending": True})
    assert (sorted_["state"]["sort"], sorted_["state"]["descending"]) == (4, True)
    page = view.on_rows({"start": 0, "end": 1})
    assert page == {"version": made.version, "rows": [["alpha?", "Elbe", "10"]]}
    assert view.on_search({"text": "elbe"})["state"]["matching"] == 1
    assert view.on_row({"i": 0})["row"] == 4
    assert json.loads(view.on_json({"i": 0})["text"])["record_id"] == "r4"
    assert view.on_choose({"columns": [0]})["state"]["chosen"] == [0]
    assert view.on_sort({"column": None})["state"]["sort"] is None


def test_all_open_pages_hear_of_a_change(monkeypatch):
    view = TableView(TableModel(RECORDS), 300)
    heard = []
    monkeypatch.setattr(view, "push", lambda op, **content: heard.append((op, content)))
    answer = view.on_search({"text": "x"})
    assert heard == [("changed", {"state": answer["state"]})]


def test_nothing_of_the_data_is_a_trait():
    view = TableView(TableModel(RECORDS), 300)
    assert "Danube" not in json.dumps(view.get_state(), default=str)
