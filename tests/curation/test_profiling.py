"""The figures of a profile: right for a run's frame, and calm about any other."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthnb.curation import apply_checks, keep
from synthnb.curation.profiling import figures
from synthnb.curation.profiling_columns import Columns, as_numbers, as_text, tally
from synthnb.curation.profiling_language import guess_language
from synthnb.curation.profiling_lengths import distribution


def frame(**columns):
    made = pd.DataFrame(columns)
    if "record_id" not in made:
        made.insert(0, "record_id", [f"r{i}" for i in range(len(made))])
    return made


def covered(df, chunks=None):
    return figures(df, chunks=chunks)["coverage"]


# counts ---------------------------------------------------------------------------------


def test_statuses_and_decisions_are_counted_commonest_first():
    found = figures(
        frame(
            status=["ok", "server", "ok", None], decision=["reject", None, None, None]
        )
    )
    assert found["status"]["values"] == [["ok", 2], ["server", 1]]
    assert found["status"]["missing"] == 1
    assert found["decision"] == {
        "values": [["reject", 1]],
        "others": 0,
        "other_rows": 0,
        "missing": 3,
    }
    assert found["kept"] == 1
    assert found["kept_means"] == ["status ok", "not rejected"]


flags = st.sampled_from([True, False, None])
rows = st.lists(
    st.tuples(
        st.sampled_from(["ok", "truncated"]),
        flags,
        st.sampled_from([None, "r0", "r1", "r2", "gone"]),
    ),
    max_size=9,
)


@given(rows)
def test_kept_is_what_keep_keeps(listed):
    df = frame(
        status=[row[0] for row in listed],
        checks_ok=pd.array([row[1] for row in listed], dtype="boolean"),
        duplicate_of=pd.array([row[2] for row in listed], dtype="string"),
    )
    assert figures(df)["kept"] == len(keep(df))


def test_duplicates_are_groups_with_the_row_that_stays():
    df = frame(duplicate_of=[None, "r0", "r0", None, "r3"])
    assert figures(df)["duplicates"] == {"rows": 3, "groups": 2, "largest": 3}


def test_shares_are_of_the_rows_that_say_so():
    df = frame(
        repaired=[True, False, False, None],
        adapted=["json_object", "", None, None],
        grounded=pd.array([True, True, None, False], dtype="boolean"),
    )
    assert figures(df)["shares"] == {
        "repaired": {"yes": 1, "known": 3},
        "adapted": {"yes": 1, "known": 4},
        "grounded": {"yes": 2, "known": 3},
    }


def test_many_different_values_are_listed_in_part():
    counted = tally(pd.Series([f"m{i}" for i in range(9)] + ["m3"]), listed=2)
    assert counted["values"] == [["m3", 2], ["m0", 1]]
    assert (counted["others"], counted["other_rows"]) == (7, 7)


# distributions --------------------------------------------------------------------------


def test_a_few_whole_numbers_have_a_bin_each_with_the_empty_ones_between():
    found = distribution(pd.Series([7.0, 7, 5, np.nan]))
    assert [(b["lo"], b["n"]) for b in found["bins"]] == [(5, 1), (6, 0), (7, 2)]
    assert (found["n"], found["missing"], found["median"]) == (3, 1, 7)


@given(
    st.lists(
        st.floats(-1e12, 1e12, allow_nan=False) | st.integers(-50, 50).map(float),
        min_size=1,
        max_size=60,
    )
)
def test_every_number_stands_in_one_bin(numbers):
    found = distribution(pd.Series(numbers))
    assert sum(part["n"] for part in found["bins"]) == len(numbers)
    assert len(found["bins"]) <= 18
    edges = [part["lo"] for part in found["bins"]]
    assert edges == sorted(set(edges))
    json.dumps(found, allow_nan=False)


def test_the_reasons_of_checks_are_no_texts_to_measure():
    df = apply_checks(frame(question=["Why?"], answer=["So."]))
    assert any(name.startswith("check_") for name in df.columns)
    assert list(figures(df)["lengths"]) == ["question", "answer"]


def test_lengths_are_of_the_recipes_fields_question_first():
    df = frame(answer=["four", None], question=["four?", "ab"], evidence=["x", "y"])
    lengths = figures(df)["lengths"]
    assert list(lengths) == ["question", "answer"]
    assert (lengths["answer"]["n"], lengths["answer"]["missing"]) == (1, 1)
    assert lengths["question"]["max"] == 5


# tokens ---------------------------------------------------------------------------------


def test_a_call_that_gave_three_rows_is_paid_once():
    df = frame(
        status=["ok"] * 4,
        step=["qa"] * 4,
        row_id=["a", "a", "a", "b"],
        sample_index=[0] * 4,
        prompt_tokens=[100, 100, 100, 50],
        completion_tokens=[30, 30, 30, 10],
        tokens_estimated=[False, False, False, True],
    )
    usage = figures(df)["usage"]
    assert (usage["calls"], usage["prompt"], usage["completion"]) == (2, 150, 40)
    assert usage["estimated"] == {"calls": 1, "prompt": 50, "completion": 10}
    assert usage["per_kept_row"] == 47.5
    assert not usage["by_row"]


def test_without_slots_each_row_is_a_call_and_a_missing_count_is_unknown():
    usage = figures(frame(completion_tokens=[5, 5, None]))["usage"]
    assert (usage["by_row"], usage["calls"], usage["completion"]) == (True, 2, 10)
    assert usage["unknown"] == 1
    nothing_kept = figures(frame(status=["server"], prompt_tokens=[3]))["usage"]
    assert nothing_kept["per_kept_row"] is None


# language -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("What is the length of the Danube?\n2,850 km", "English"),
        ("Wie lang ist die Donau und wo entspringt sie?", "German"),
        ("Quelle est la longueur du Danube et où naît-il ?", "French"),
        ("¿Cuál es la longitud del río y dónde nace?", "Spanish"),
        ("Qual è la lunghezza del fiume e dove nasce?", "Italian"),
        ("Qual é o comprimento do rio e onde ele nasce? Não se sabe.", "Portuguese"),
        ("Wat is de lengte van het water en waar begint het?", "Dutch"),
        (
            "Jak długa jest rzeka i gdzie się zaczyna? W Niemczech, na południu.",
            "Polish",
        ),
        ("Hur lång är floden och var börjar den? Det är i ett berg.", "Swedish"),
        ("Nehir ne kadar uzun ve nerede doğar? Bu bir dağ için.", "Turkish"),
        ("Какова длина реки и где она начинается? Это не в горах.", "Russian"),
        ("Яка довжина річки і де вона починається? Це є у горах.", "Ukrainian"),
        ("ドナウ川の長さはどのくらいですか。", "Japanese"),
        ("多瑙河有多长？大约两千八百五十公里。", "Chinese"),
        ("도나우강의 길이는 얼마입니까?", "Korean"),
        ("ما هو طول نهر الدانوب؟", "Arabic script"),
        ("Ποιο είναι το μήκος του Δούναβη;", "Greek"),
        ("2,850 km", "unknown"),
        ("", "unknown"),
        ("\ud800 \x00 <b>", "unknown"),
        ("SELECT length FROM rivers", "unknown"),
    ],
)
def test_languages_are_guessed_from_plain_sentences(text, language):
    assert guess_language(text) == language


def test_of_many_rows_a_sample_is_looked_at_and_said_so():
    df = frame(question=["What is the length of the river?"] * 5000 + [None])
    language = figures(df)["language"]
    assert (language["of"], language["looked_at"]) == (5000, 1667)
    assert language["values"] == [["English", 1667]]


# coverage -------------------------------------------------------------------------------

CHUNKS = pd.DataFrame(
    {
        "chunk_id": ["a2", "a1", "b1", "a3"],
        "source": ["a.md", "a.md", "b.md", "a.md"],
        "page": pd.array([2, 1, None, 3], dtype="Int64"),
        "start": [100, 0, 0, 200],
    }
)


def test_chunks_stand_in_their_order_with_those_that_gave_nothing():
    df = frame(
        chunk_id=["a2", "a2", "a1", "zz", None],
        source=["a.md"] * 5,
        status=["ok", "server", "schema", "ok", "ok"],
    )
    found = covered(df, CHUNKS)
    assert (found["chunks"], found["with_rows"], found["with_kept"]) == (4, 2, 1)
    assert (found["rows_without_chunk"], found["rows_elsewhere"]) == (1, 1)
    assert found["all_known"]
    assert found["documents"] == 2
    strip = found["strips"][0]
    assert [c["chunk"] for c in strip["cells"]] == ["a1", "a2", "a3"]
    assert [(c["rows"], c["ok"], c["kept"]) for c in strip["cells"]] == [
        (1, 0, 0),
        (2, 1, 1),
        (0, 0, 0),
    ]
    assert [c["page"] for c in strip["cells"]] == [1, 2, 3]


def test_without_chunks_only_those_seen_are_known():
    found = covered(frame(chunk_id=[3.0, None, 3.0], source=["a", "a", "a"]))
    assert not found["all_known"]
    assert found["strips"][0]["cells"][0]["chunk"] == "3"
    assert covered(frame(status=["ok"])) is None


def test_a_long_document_is_binned_and_nothing_is_lost():
    n = 1001
    df = frame(
        chunk_id=[f"c{i}" for i in range(n)], source=["long"] * n, start=range(n)
    )
    strip = covered(df)["strips"][0]
    assert strip["per_cell"] == 6
    assert len(strip["cells"]) == 167
    assert sum(cell["kept"] for cell in strip["cells"]) == n
    assert (strip["cells"][-1]["first"], strip["cells"][-1]["last"]) == (997, 1001)
    assert strip["cells"][0]["chunk"] is None


def test_of_many_documents_the_least_covered_are_shown():
    chunks = pd.DataFrame(
        {"chunk_id": range(80), "source": [f"d{i // 2}" for i in range(80)]}
    )
    df = frame(chunk_id=[i for i in range(80) if i not in {61, 70, 71}])
    found = covered(df, chunks)
    assert found["documents"] == 40
    assert [s["source"] for s in found["strips"][:2]] == ["d35", "d30"]
    assert len(found["strips"]) == 30


# any frame ------------------------------------------------------------------------------

HOSTILE = [
    "<script>hit=1</script>",
    "\ud800",
    "\x1b[31m",
    "\u202e",
    "=1+1",
    "x" * 10_000,
]


def test_columns_that_are_not_there_are_named():
    found = figures(pd.DataFrame({"status": ["ok"]}))
    assert found["decision"] is None
    assert {"decision", "rating", "chunk_id"} <= set(found["missing"])
    assert "status" not in found["missing"]


@pytest.mark.parametrize("rows", [0, 3])
def test_an_empty_frame_and_one_of_missing_values_have_figures(rows):
    names = ["record_id", "status", "decision", "rating", "question", "chunk_id", "source",
             "start", "prompt_tokens", "row_id", "duplicate_of", "repaired", "checks_ok",
             "adapted", "grounded", "tokens_estimated", "model"]  # fmt: skip
    for value in (None, float("nan"), pd.NA, pd.NaT):
        df = pd.DataFrame({name: [value] * rows for name in names})
        found = figures(df, chunks=df)
        assert (found["rows"], found["kept"]) == (rows, 0)
        json.dumps(found, allow_nan=False)
    assert figures(pd.DataFrame())["rows"] == 0


def test_values_of_the_wrong_kind_raise_nothing():
    odd = [{"a": 1}, [1, 2], float("inf"), "x", None, b"\xff", 7, True]
    names = ["record_id", "status", "decision", "rating", "question", "chunk_id", "source",
             "page", "start", "prompt_tokens", "row_id", "duplicate_of", "repaired",
             "checks_ok", "adapted", "grounded", "model", "finish_reason"]  # fmt: skip
    df = pd.DataFrame({name: pd.Series(odd, dtype=object) for name in names})
    json.dumps(figures(df, chunks=df), allow_nan=False)
    times = pd.DataFrame({name: pd.to_datetime(["2026-01-01"]) for name in names})
    json.dumps(figures(times), allow_nan=False)
    kinds = df.map(repr).astype("category")
    assert figures(kinds)["rows"] == 8


def test_hostile_texts_and_odd_column_names_are_only_data():
    names = ["status", "source", "chunk_id", "row_id", "duplicate_of", "record_id"]
    df = pd.DataFrame({name: pd.Series(HOSTILE, dtype=object) for name in names})
    df["prompt_tokens"] = 1
    df.insert(0, ("a", 1), range(6))
    df.insert(0, 7, pd.Series(HOSTILE, dtype=object))
    found = figures(df)
    shown = [v for v, _ in found["status"]["values"]]
    assert shown == [text.replace("\ud800", "U+D800") for text in HOSTILE]
    assert "7" in found["lengths"]
    twice = pd.DataFrame([["ok", "server"]], columns=["status", "status"])
    assert figures(twice)["repeated"] == ["status"]
    assert figures(twice)["status"]["values"] == [["ok", 1]]


def test_an_index_that_repeats_changes_nothing():
    df = frame(status=["ok", "server"], chunk_id=["a", "b"], source=["s", "s"])
    twice = pd.concat([df, df])
    found = figures(twice)
    assert found["kept"] == 2
    assert found["coverage"]["with_kept"] == 1


def test_texts_and_numbers_of_every_dtype():
    assert as_text(pd.Series([1.0, None, 2.5])).tolist()[0] == "1"
    assert as_text(pd.Series(["", "a"])).isna().tolist() == [True, False]
    assert as_numbers(pd.Series(["8", "x", None])).tolist()[0] == 8.0
    assert Columns(pd.DataFrame()).names == []
