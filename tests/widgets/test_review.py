"""``review(df)`` as a person has it: from Python, as text, in a saved notebook, live."""

from __future__ import annotations

import json
import subprocess
import sys

import pandas as pd
import pytest

from synthnb.errors import ConfigError, FrameError
from synthnb.reviewing import decide
from synthnb.widgets.review import Review, review
from synthnb.widgets.review_view import ReviewView


def frame(n=4):
    return pd.DataFrame(
        {
            "record_id": [f"r{i}" for i in range(n)],
            "question": [f"<b>Question</b> {i}?" for i in range(n)],
            "answer": "yes",
            "rating": [float(i) for i in range(n)],
        }
    )


@pytest.fixture
def desk(tmp_path):
    return review(frame(), folder=tmp_path / "run", by="ada")


def test_decisions_edits_and_undo_by_plain_calls(desk):
    desk.accept("r0")
    desk.reject(["r1", "r2"])
    desk.edit("r3", answer="no", question="Really?")
    desk.decide("r3", "annotate", tags=["x"], stars=5)
    assert desk.progress == {"rows": 4, "accept": 2, "reject": 2, "todo": 0}
    assert desk.undo() == "note of “Really?”"
    assert desk.undo() == "edit of “<b>Question</b> 3?”"
    assert desk.frame()["decision"].tolist() == ["accept", "reject", "reject", pd.NA]
    assert desk.decisions["action"].tolist()[-2:] == ["undo", "undo"]
    assert desk.decisions["by"].unique().tolist() == ["ada"]


def test_a_frame_of_one_kind_has_a_fresh_index(desk):
    desk.edit("r3", answer="no")
    desk.reject("r0")
    kept = desk.frame("accept")
    assert kept.index.tolist() == [0]
    assert kept.loc[0, ["record_id", "answer", "edited"]].tolist() == [
        "r3",
        "no",
        "answer",
    ]
    assert desk.frame("reject")["record_id"].tolist() == ["r0"]
    assert desk.frame("undecided")["record_id"].tolist() == ["r1", "r2"]
    assert len(desk.frame()) == 4
    with pytest.raises(ConfigError, match="'accepted' is no decision"):
        desk.frame("accepted")


def test_the_frame_remembers_its_log(desk, tmp_path):
    desk.accept("r0")
    shown = desk.frame()
    assert shown.attrs["run_folder"] == str(tmp_path / "run")
    assert decide(shown, "r1", "accept", by="bob")["decision"].notna().sum() == 2
    assert desk.progress["accept"] == 2
    assert Review(shown).progress["accept"] == 2


def test_the_fields_can_be_named(tmp_path):
    desk = review(frame(), folder=tmp_path / "run", fields=["answer"])
    assert desk._model.open()["fields"] == ["answer"]
    with pytest.raises(FrameError, match="mean 'answer'"):
        review(frame(), fields=["answr"])


def test_it_prints_as_one_line(desk):
    desk.accept("r0")
    line = repr(desk)
    assert "4 rows · 1 accepted, 0 rejected, 3 to do" in line
    assert "decisions.sqlite" in line
    assert "\n" not in line


def test_what_a_saved_notebook_shows_is_escaped_and_short(tmp_path):
    df = frame(30)
    df["answer"] = "<img src=x onerror=alert(1)>" + "w" * 100_000
    desk = review(df, folder=tmp_path / "run")
    desk.accept("r1")
    data, _ = desk._repr_mimebundle_()
    html = data["text/html"]
    assert data["text/plain"] == repr(desk)
    assert "<b>" not in html
    assert "<img" not in html
    assert "&lt;b&gt;Question&lt;/b&gt; 0?" in html
    assert html.count("<tr>") == 11
    assert "✓ accepted" in html
    assert "and 20 more" in html
    assert len(html) < 20_000


def test_an_empty_frame_shows_itself(tmp_path):
    data, _ = review(frame(0), folder=tmp_path / "run")._repr_mimebundle_()
    assert "0 rows" in data["text/html"]


def test_a_script_needs_no_widget_and_no_kernel(tmp_path):
    code = (
        "import sys, pandas as pd\n"
        "from synthnb.widgets.review import review\n"
        "desk = review(pd.DataFrame({'answer': ['a', 'b']}), folder=sys.argv[1])\n"
        "desk.accept(desk.frame().record_id[0])\n"
        "print(desk); print(len(desk.frame('accept')))\n"
        "print({'IPython', 'anywidget', 'ipywidgets'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "run"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.splitlines()[1:] == ["1", "set()"]


# the live view -----------------------------------------------------------------------------


class Page:
    """A front end of a view, in this thread: what it asks and what it is sent."""

    def __init__(self, desk):
        desk._repr_mimebundle_()
        self.view: ReviewView = desk._view
        self.pushed = []
        self.view.send = lambda content, buffers=None: self.pushed.append(content)

    def ask(self, op, **content):
        answer = self.view._outcome({"op": op, "ask": "1", **content})
        json.dumps(answer)
        return answer


@pytest.fixture
def page(desk):
    made = Page(desk)
    yield made
    made.view.close()


def test_every_operation_of_the_protocol(page):
    assert page.ask("open")["state"]["total"] == 4
    assert len(page.ask("rows", start=0, end=100)["rows"]) == 4
    assert page.ask("record", i=1)["id"] == "r1"
    assert page.ask("record", id="r2")["i"] == 2
    assert page.ask("decide", id="r0", action="accept", **{"from": 0})["next"] == 1
    answer = page.ask("edit", id="r1", values={"answer": "no"}, **{"from": 1})
    assert (answer["row"]["edited"], answer["next"]) == (True, 2)
    assert page.ask("annotate", id="r2", stars=4)["row"]["stars"] == 4
    assert page.ask("annotate", id="r2", tags=["t"], note="n")["row"]["stars"] == 4
    assert page.ask("next", **{"from": 0, "back": True})["i"] == 3
    assert page.ask("judge", threshold=2)["above"] == 2
    everything = page.ask("open")["filter"]
    answer = page.ask("filter", **{**everything, "decision": "undecided"})
    assert answer["state"]["matching"] == 2
    answer = page.ask("bulk", threshold=3)
    assert (answer["many"], answer["accepted"], answer["rejected"]) == (2, 1, 1)
    assert page.ask("undo")["many"] == 2
    assert page.ask("sync")["state"]["counts"]["todo"] == 2


def test_a_refusal_says_what_to_do(page):
    for op, content in [
        ("decide", {"id": "nobody", "action": "accept"}),
        ("decide", {"id": "r0", "action": "explode"}),
        ("decide", {}),
        ("edit", {"id": "r0", "values": "x"}),
        ("edit", {"id": "r0", "values": {"nothing": "x"}}),
        ("record", {"i": 99}),
        ("rows", {"start": "x", "end": None}),
        ("filter", {"decision": "maybe"}),
        ("bulk", {"threshold": "x"}),
        ("annotate", {"id": "r0"}),
        ("undo", {}),
    ]:
        answer = page.ask(op, **content)
        assert set(answer) == {"error", "hint"}, (op, answer)
    assert page.pushed == []


def test_pages_hear_of_what_is_decided_elsewhere(page, desk, tmp_path):
    desk.accept("r0")
    (push,) = page.pushed
    assert push["op"] == "changed"
    assert push["rows"][0]["decision"] == "accept"
    decide(frame(), "r1", "reject", folder=tmp_path / "run")
    assert page.pushed[-1]["state"]["counts"] == {"accept": 1, "reject": 1, "todo": 2}


def test_a_filter_set_from_python_reaches_the_pages(page, desk):
    assert desk.filter(text="question", rating=(2, None)) is desk
    push = page.pushed[-1]
    assert push["state"]["matching"] == 2
    assert push["filter"]["rating"] == [2, None]
    assert push["rows"] is None
    desk.filter(sort="rating", descending=True)
    assert page.pushed[-1]["filter"]["rating"] == [None, None]
    assert page.ask("rows", start=0, end=9)["rows"][0]["id"] == "r3"
    with pytest.raises(ConfigError, match="no filter 'colour'"):
        desk.filter(colour="red")


def test_one_desk_shown_twice_is_one_view(desk):
    first, _ = desk._repr_mimebundle_()
    second, _ = desk._repr_mimebundle_()
    mime = "application/vnd.jupyter.widget-view+json"
    assert first[mime]["model_id"] == second[mime]["model_id"]
    desk._view.close()


def test_nothing_of_the_rows_is_in_the_widgets_saved_state(page):
    page.ask("open")
    page.ask("decide", id="r0", action="accept")
    state = page.view.get_state()
    assert "Question" not in json.dumps(
        {k: v for k, v in state.items() if k not in {"_esm", "_css"}}, default=str
    )
    assert set(state) <= {
        "_anywidget_id", "_css", "_dom_classes", "_esm", "_model_module",
        "_model_module_version", "_model_name", "_view_count", "_view_module",
        "_view_module_version", "_view_name", "layout", "tabbable", "tooltip",
    }  # fmt: skip
