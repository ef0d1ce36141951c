"""Deciding by plain calls: durable, undoable, the same in another process."""

from __future__ import annotations

import json
import subprocess
import sys

import pandas as pd
import pytest

from synthnb.curation import apply_checks, deduplicate, keep
from synthnb.errors import ConfigError, FrameError, StoreError
from synthnb.reviewing import decide, decisions, undo, with_decisions
from synthnb.reviewing.where import log_folder
from synthnb.reviewing.who import current_user
from synthnb.store.files import runs_home


@pytest.fixture(autouse=True)
def ada(monkeypatch):
    monkeypatch.setenv("SYNTHNB_USER", "ada")


def frame(n=3, **more):
    return pd.DataFrame(
        {
            "record_id": [f"{i:016x}" for i in range(n)],
            "question": [f"Question {i}?" for i in range(n)],
            "answer": pd.array([f"Answer {i}." for i in range(n)], dtype="string"),
            **more,
        }
    )


def ids(df):
    return df["record_id"].tolist()


def test_a_decision_is_there_for_the_next_call_and_the_next_process():
    df = frame()
    shown = decide(df, ids(df)[1], "reject", tags="wrong, short", stars=2, note=" n ")
    assert shown["decision"].tolist() == [pd.NA, "reject", pd.NA]
    assert shown["decision_tags"][1] == "wrong, short"
    assert shown["decision_stars"][1] == 2
    assert shown["decision_note"][1] == "n"
    assert with_decisions(df)["decided_by"][1] == "ada"
    code = (
        "import pandas as pd, sys; from synthnb.reviewing import with_decisions\n"
        "df = pd.read_json(sys.stdin, dtype=False)\n"
        "print(with_decisions(df).decision.tolist())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=df.to_json(),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "[<NA>, 'reject', <NA>]"


def test_looking_makes_nothing_on_disk():
    df = frame()
    assert with_decisions(df)["decision"].isna().all()
    assert len(decisions(df)) == 0
    with pytest.raises(ConfigError, match="no decision of ada is left"):
        undo(df)
    assert not runs_home().exists()


def test_edit_and_undo_bring_back_what_was_there():
    df = frame()
    edited = decide(df, ids(df)[0], "edit", edited={"answer": "2,850 km"})
    assert edited["answer"][0] == "2,850 km"
    assert edited["edited"][0] == "answer"
    assert edited["decision"][0] == "accept"
    again = decide(edited, ids(df)[0], "edit", edited={"answer": "2,851 km"})
    assert undo(again)["answer"][0] == "2,850 km"
    back = undo(again)
    assert back["answer"][0] == "Answer 0."
    assert back["decision"].isna().all()
    log = decisions(df)
    assert log["action"].tolist() == ["edit", "edit", "undo", "undo"]
    assert json.loads(log["what"][1])["was"] == {"answer": "2,850 km"}


def test_several_records_are_one_step():
    df = frame(4)
    decide(df, ids(df)[0], "accept")
    shown = decide(df, df["record_id"][1:], "reject")
    assert shown["decision"].tolist() == ["accept", "reject", "reject", "reject"]
    assert undo(df)["decision"].tolist() == ["accept", pd.NA, pd.NA, pd.NA]
    assert decisions(df)["step"].tolist() == [1, 2, 2, 2, 3]


def test_an_edit_that_changes_nothing_accepts():
    df = frame()
    shown = decide(df, ids(df)[0], "edit", edited={"answer": "Answer 0."})
    assert shown["edited"].isna().all()
    assert decisions(df)["action"].tolist() == ["accept"]


def test_each_person_takes_back_their_own():
    df = frame()
    decide(df, ids(df)[0], "accept", by="bob")
    decide(df, ids(df)[0], "reject")
    assert undo(df, by="bob")["decision"][0] == "reject"
    assert undo(df)["decision"].isna().all()
    with pytest.raises(ConfigError, match="no decision of bob"):
        undo(df, by="bob")


@pytest.mark.parametrize(
    ("record", "action", "more", "error", "said"),
    [
        ("nobody", "accept", {}, FrameError, "no row has the record_id 'nobody'"),
        (None, "accept", {}, FrameError, "no row has the record_id None"),
        (0, "approve", {}, ConfigError, "'approve' is no action"),
        (0, "undo", {}, ConfigError, r"sn\.undo"),
        (0, "edit", {}, ConfigError, "needs the new values"),
        (0, "reject", {"edited": {"answer": "x"}}, ConfigError, "does not go with"),
        (0, "edit", {"edited": {"answers": "x"}}, FrameError, "mean 'answer'"),
        (0, "edit", {"edited": {"record_id": "x"}}, FrameError, "cannot be edited"),
        (0, "edit", {"edited": {"page": "x"}}, FrameError, "does not fit"),
        (0, "edit", {"edited": {"good": "no"}}, FrameError, "does not fit"),
        (0, "annotate", {}, ConfigError, "nothing to annotate"),
        (0, "accept", {"stars": 6}, ConfigError, "stars is 6"),
        (0, "accept", {"stars": True}, ConfigError, "stars is True"),
        (0, "accept", {"tags": [1]}, ConfigError, "tags are texts"),
        (0, "accept", {"note": 1}, ConfigError, "note is a text"),
        ([], "accept", {}, ConfigError, "no record was named"),
    ],
)
def test_wrong_words_are_refused_and_nothing_is_saved(
    record, action, more, error, said
):
    df = frame(page=[1, 2, 3], good=[True, False, True])
    record = ids(df)[0] if record == 0 else record
    with pytest.raises(error, match=said) as caught:
        decide(df, record, action, **more)
    assert caught.value.hint
    assert not runs_home().exists()


def test_a_near_miss_of_an_id_is_named():
    df = frame()
    with pytest.raises(FrameError, match=f"mean '{ids(df)[2]}'"):
        decide(df, "000000000000002", "accept")


def test_values_become_what_their_column_holds():
    df = frame(page=[1, 2, 3], score=[0.5, 1.0, 2.0], ok=[True, True, True])
    new = {"page": "7", "score": 3, "ok": False}
    shown = decide(df, ids(df)[0], "edit", edited=new)
    assert shown.loc[0, ["page", "score", "ok"]].tolist() == [7, 3.0, False]
    assert (shown[["page", "score", "ok"]].dtypes == df[list(new)].dtypes).all()
    assert undo(shown).loc[0, ["page", "score", "ok"]].tolist() == [1, 0.5, True]


def test_a_frame_without_ids_gets_some_from_its_content(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("question,answer\nq,a\nq,a\nr,b\n")
    df = pd.read_csv(path)
    shown = decide(df, with_decisions(df)["record_id"][1], "accept")
    assert shown["decision"].tolist() == [pd.NA, "accept", pd.NA]
    assert "record_id" not in df.columns
    again = with_decisions(pd.read_csv(path))
    assert again["decision"].tolist() == [pd.NA, "accept", pd.NA]
    assert shown["record_id"][1] == f"{shown['record_id'][0]}#1"
    # Ids stay with rows that move, are edited, rated and decided on.
    turned = with_decisions(pd.read_csv(path)[::-1])
    assert turned["record_id"].nunique() == 3
    edited = decide(shown, shown["record_id"][2], "edit", edited={"answer": "new"})
    assert with_decisions(edited)["answer"].tolist() == ["a", "a", "new"]
    assert undo(df)["record_id"].tolist() == shown["record_id"].tolist()


def test_odd_frames_are_taken_or_refused_with_a_reason():
    df = pd.DataFrame([["q", "a"]], columns=[0, 1])
    assert decide(df, with_decisions(df)["record_id"][0], "accept")["1"].tolist() == [
        "a"
    ]
    assert len(with_decisions(frame(0))) == 0
    with pytest.raises(FrameError, match="takes a DataFrame"):
        decide([], "x", "accept")
    with pytest.raises(FrameError, match="two columns"):
        with_decisions(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(FrameError, match="drop_duplicates"):
        with_decisions(pd.concat([frame(), frame()]))


# where the log lies ----------------------------------------------------------------------


def place(df, **more):
    return log_folder(df, [str(i) for i in df["record_id"]], **more)


def test_the_log_lies_where_it_is_told_to(tmp_path):
    df = frame()
    assert place(df, folder=tmp_path / "x", name="n") == tmp_path / "x"
    assert place(df, name="my book") == place(df, name="my book")
    assert place(df, name="handbook") == runs_home() / "handbook"
    df.attrs["run_folder"] = str(runs_home() / "run-1")
    assert place(df) == runs_home() / "run-1"
    assert place(df, name="handbook") == runs_home() / "handbook"


def test_a_run_folder_of_another_machine_is_not_made_here(tmp_path):
    df = frame()
    df.attrs["run_folder"] = "/home/somebody/else/runs/x"
    assert place(df).parent == runs_home()
    assert place(df).name.startswith("review-")
    (tmp_path / "moved").mkdir()
    df.attrs["run_folder"] = str(tmp_path / "moved")
    assert place(df) == tmp_path / "moved"


def test_the_same_records_have_one_log_in_any_order_and_with_more_columns():
    df = frame()
    assert place(df) == place(df[::-1]) == place(df.assign(rating=1.0, answer="new"))
    assert place(df) != place(df.head(2))


def test_frames_with_the_same_plain_numbers_as_ids_have_logs_of_their_own():
    one = frame(record_id=[0, 1, 2])
    other = frame(record_id=[0, 1, 2], answer=["x", "y", "z"])
    assert place(one) == place(one[::-1]) != place(other)
    shown = decide(one, 1, "edit", edited={"answer": "new"})
    assert with_decisions(shown)["decision"][1] == "accept"  # it remembers the folder
    assert with_decisions(other)["decision"].isna().all()


def test_later_steps_keep_the_way_to_the_log():
    df = frame(status="ok", evidence="Answer", text="Answer 0. Answer 1. Answer 2.")
    df.attrs["run_folder"] = str(runs_home() / "run-1")
    done = keep(deduplicate(apply_checks(df)), checks=False)
    decide(done, ids(done)[0], "accept")
    assert (runs_home() / "run-1" / "decisions.sqlite").exists()
    assert with_decisions(df, name="run-1")["decision"].notna().sum() == 1


@pytest.mark.parametrize("call", ["look", "decide", "undo", "log"])
def test_a_frame_that_lost_the_way_to_its_log_loses_no_decision(call, tmp_path):
    df = frame(record_id=["a", "b", "c"])
    shown = decide(df, "a", "edit", edited={"answer": "mine"})
    folder = shown.attrs["run_folder"]
    shown.to_csv(tmp_path / "x.csv", index=False)
    lost = pd.read_csv(tmp_path / "x.csv")
    calls = {
        "look": with_decisions,
        "decide": lambda df: decide(df, "b", "accept"),
        "undo": undo,
        "log": decisions,
    }
    with pytest.raises(FrameError, match="no longer says in which log") as caught:
        calls[call](lost)
    assert "folder=" in caught.value.hint
    assert len(list(runs_home().glob("*/decisions.sqlite"))) == 1
    back = with_decisions(lost, folder=folder)
    assert back["decision"].tolist() == ["accept", pd.NA, pd.NA]
    ours = ["decision", "decided_by", "decided_at", "edited"]
    anew = with_decisions(lost.drop(columns=ours))
    assert anew["decision"].isna().all()


def test_edits_of_another_text_are_told(tmp_path):
    df = frame()
    shown = decide(df, ids(df)[0], "edit", edited={"answer": "mine"}, folder=tmp_path)
    with_decisions(shown)  # the edited text itself is no other
    again = df.assign(answer="of other prompts")
    with pytest.warns(UserWarning, match="1 rows of this frame hold another text"):
        with_decisions(again, folder=tmp_path)
    undo(df, folder=tmp_path)
    with_decisions(again, folder=tmp_path)


@pytest.mark.parametrize("action", ["accept", "reject"])
def test_a_decision_on_another_text_is_told(tmp_path, action):
    df = frame()
    shown = decide(df, ids(df)[0], action, folder=tmp_path)
    with_decisions(shown)
    with_decisions(
        df.assign(rating=3.0), folder=tmp_path
    )  # judged since: the same text
    with_decisions(df.drop(columns="answer"), folder=tmp_path)
    again = df.assign(answer="of other prompts")
    with pytest.warns(UserWarning, match="1 rows of this frame hold another text"):
        with_decisions(again, folder=tmp_path)
    decide(again, ids(df)[0], action, folder=tmp_path)  # looked at again: of this text
    with_decisions(again, folder=tmp_path)


def test_a_decision_after_an_edit_is_on_the_models_text(tmp_path):
    df = frame()
    shown = decide(df, ids(df)[0], "edit", edited={"answer": "mine"}, folder=tmp_path)
    shown = decide(shown, ids(df)[0], "accept")
    with_decisions(shown)
    with_decisions(df, folder=tmp_path)


def test_a_log_that_is_removed_begins_anew():
    df = frame()
    shown = decide(df, ids(df)[0], "accept")
    (path,) = runs_home().glob("*/decisions.sqlite")
    path.unlink()
    with pytest.warns(UserWarning, match="1 rows of this frame hold decisions"):
        assert with_decisions(shown)["decision"].isna().all()
    decide(df, ids(df)[1], "reject")
    assert decisions(df)["step"].tolist() == [1]


def test_a_folder_that_cannot_be_written_is_named():
    df = frame()
    with pytest.raises(StoreError, match="cannot be written"):
        decide(df, ids(df)[0], "accept", folder="/proc/nothing/here")
    assert with_decisions(df, folder="/proc/nothing/here")["decision"].isna().all()


def test_a_name_is_a_text_that_the_log_can_hold():
    df = frame()
    with pytest.raises(ConfigError, match="by is 5"):
        decide(df, ids(df)[0], "accept", by=5)
    shown = decide(df, ids(df)[0], "accept", by="\ud800")
    assert shown["decided_by"][0] == "\\ud800"
    assert undo(df, by="\ud800")["decision"].isna().all()


# who ---------------------------------------------------------------------------------------


def test_who_decides_is_told_by_the_environment_first(monkeypatch):
    assert current_user() == "ada"
    monkeypatch.setenv("SYNTHNB_USER", " ")
    monkeypatch.setenv("JUPYTERHUB_USER", "hub")
    assert current_user() == "hub"
    monkeypatch.delenv("JUPYTERHUB_USER")
    monkeypatch.setattr("getpass.getuser", lambda: "me")
    assert current_user() == "me"


@pytest.mark.parametrize("error", [KeyError, OSError, ImportError])
def test_a_system_without_users_has_an_unknown_one(monkeypatch, error):
    def fail():
        raise error

    monkeypatch.delenv("SYNTHNB_USER")
    monkeypatch.setattr("getpass.getuser", fail)
    assert current_user() == "unknown"
