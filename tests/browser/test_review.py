"""The reviewer's desk under a person's hands, in a real JupyterLab."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
from pathlib import Path

import pytest


def _load(name: str):
    """Load a script of this folder: tests are no package."""
    path = Path(__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


hand = _load("review_desk")
Desk, SETUP, OPEN = hand.Desk, hand.SETUP, hand.OPEN


@pytest.fixture
def open_desk(notebook):
    def made(*more: str, opening: str = OPEN) -> Desk:
        nb = notebook(SETUP, opening, *more)
        nb.run(0)
        nb.run(1)
        desk = Desk(nb)
        desk.focus()
        return desk

    return made


def test_each_key_does_what_the_table_says(open_desk):
    desk = open_desk()
    desk.decide("a")
    assert desk.here() == "r1"
    assert desk.row(0).get_attribute("aria-label").startswith("row 1 of 40, accepted")
    desk.decide("r")
    desk.says(".snb-foot-said", "rejected; row 3 of 40, undecided, rating 3")
    desk.says("[aria-live=polite]", "rejected; row 3 of 40, undecided, rating 3")
    for key, record in (
        ("k", "r1"), ("ArrowUp", "r0"), ("n", "r2"), ("j", "r3"), ("ArrowDown", "r4"),
        ("PageDown", "r14"), ("PageUp", "r4"), ("End", "r39"), ("Home", "r0"),
    ):  # fmt: skip
        desk.press(key)
        desk.at(record)
    desk.painted()
    desk.press("4")
    checked = desk.part("[role=radio][aria-checked=true]")
    assert checked.get_attribute("aria-label") == "4 stars"
    desk.press("0")
    assert checked.count() == 0
    desk.press("t", *"rivers", "Enter", *"long", "Enter", "Escape")
    assert desk.part(".snb-tag-name").all_inner_texts() == ["rivers", "long"]
    desk.press("m", *"look again", "Control+Enter")
    desk.press("j")
    desk.at("r1")
    assert desk.part(".snb-note").input_value() == ""
    desk.press("k")
    desk.at("r0")
    assert desk.part(".snb-note").input_value() == "look again"
    desk.press("?")
    assert desk.part(".snb-help").is_visible()
    assert "next undecided row" in desk.part(".snb-help").inner_text()
    desk.press("Escape")
    assert not desk.part(".snb-help").is_visible()
    desk.press("/", *"Question 12", "Enter")
    desk.at("r12")
    desk.press("u")
    desk.says("[aria-live=polite]", "undone")
    desk.counts(1, 1)
    actions = [action for _, action in desk.logged()]
    assert actions == ["accept", "reject", *["annotate"] * 5, "undo"]


def test_no_key_reaches_the_notebook_wherever_the_focus_is(open_desk):
    desk = open_desk("1 + 1")
    nb = desk.nb
    before = nb.sources()
    keys = (
        "b",
        "x",
        "d",
        "d",
        "z",
        "y",
        "c",
        "v",
        "Shift+Enter",
        "Alt+Enter",
        "h",
        "q",
    )
    places = [
        desk.focus,
        desk.root.focus,
        desk.part(".snb-card-body").focus,
        desk.part(".snb-judge-slider").focus,
        desk.part("[role=radio]").first.focus,
        desk.part(".snb-bar button").nth(3).focus,
        desk.part(".snb-filters select").first.focus,
        lambda: desk.press("?"),
        lambda: desk.press("Escape"),
        desk.part(".snb-judge-bulk > button").click,
        lambda: desk.press("Escape"),
        desk.part(".snb-card-text").first.click,
    ]
    for place in places:
        place()
        desk.press(*keys, "Control+Enter")
        assert desk.focused()
    # A focus that is lost with the element that had it would leave the keys to the notebook.
    desk.focus()
    desk.press("/", *"nothing holds this")
    desk.part(".snb-none button").click()
    desk.part(".snb-none").wait_for(state="hidden")
    desk.painted()
    assert desk.focused()
    desk.press("d", "d", "b", "t", *"tag", "Enter")
    desk.part(".snb-tag button").click()
    desk.painted()
    assert desk.focused()
    desk.press("Escape", "e", "Escape", "d", "d", "b", "Control+Enter", "a", "j", "k")
    assert nb.sources() == before
    assert nb.outputs(2) == []


def test_letters_in_fields_and_with_modifiers_decide_nothing(open_desk):
    desk = open_desk()
    desk.press("/", *"river")
    desk.press("Escape", "Control+a", "Alt+r", "Meta+u")
    desk.press("m", *"are you sure", "Escape")
    desk.says(".snb-foot-said", "note saved")
    desk.press("e", *" rare", "Escape")
    desk.root.evaluate(
        """e => { for (const how of [{isComposing: true}, {keyCode: 229}, {repeat: true}])
        e.querySelector('.snb-list').dispatchEvent(
          new KeyboardEvent('keydown', {key: 'a', bubbles: true, ...how})); }"""
    )
    desk.painted()
    assert [action for _, action in desk.logged()] == ["annotate"]


def test_ten_quick_presses_decide_ten_rows_that_were_seen(open_desk):
    desk = open_desk()
    # Without waiting for the kernel: as soon as the next card is on the screen.
    for n in range(10):
        desk.decide("ar"[n % 2])
    desk.counts(5, 5)
    assert desk.logged() == [[f"r{n}", ("accept", "reject")[n % 2]] for n in range(10)]
    # Faster than the screen: what could not be seen is not decided, nothing is twice.
    desk.press(*"a" * 15)
    desk.nb.python("")
    desk.painted()
    records = [record for record, _ in desk.logged()]
    assert records == [f"r{n}" for n in range(len(records))]
    assert len(records) > 10


def test_an_edit_is_saved_shown_as_a_diff_and_undone(open_desk):
    desk = open_desk()
    desk.painted()
    desk.press("e")
    areas = desk.part(".snb-edit textarea")
    assert areas.nth(1).evaluate("e => e === document.activeElement")
    areas.nth(1).fill("Answer 0, as the map shows it.")
    desk.press("Control+Enter")
    desk.part(".snb-diff").wait_for()
    assert desk.here() == "r0"
    assert desk.part(".snb-diff del").text_content() == "taken out: text says"
    assert desk.part(".snb-diff ins").text_content() == "put in: map shows"
    desk.counts(1, 0)
    assert "edited" in desk.row(0).get_attribute("aria-label")
    assert desk.logged() == [["r0", "edit"]]
    # Esc loses nothing: the next e brings it back.
    desk.painted()
    desk.press("e")
    areas.nth(0).fill("Half a question")
    desk.press("Escape")
    desk.says(".snb-card-head", "text not saved")
    assert "Half a question" not in desk.part(".snb-card-body").inner_text()
    desk.painted()
    desk.press("e")
    assert areas.nth(0).input_value() == "Half a question"
    desk.part(".snb-edit .snb-btn-text").click()
    assert areas.nth(0).input_value() == "Question 0 about the river?"
    desk.press("Escape")
    desk.painted()
    desk.press("u")
    desk.says("[aria-live=polite]", "undone")
    desk.counts(0, 0)
    desk.part(".snb-diff").wait_for(state="detached")
    assert "as the text says" in desk.part(".snb-card-body").inner_text()


def test_thirty_steps_are_undone_one_by_one(open_desk):
    desk = open_desk()
    for n in range(30):
        desk.decide("ar"[n % 2])
    desk.counts(15, 15)
    for n in reversed(range(30)):
        desk.press("u")
        desk.at(f"r{n}")
    desk.counts(0, 0)
    desk.press("u")
    desk.says("[aria-live=polite]", "nothing to undo")
    assert desk.part(".snb-bar [aria-disabled=true]").inner_text().startswith("Undo")


def test_filters_sort_and_search(open_desk):
    desk = open_desk()
    desk.decide("a")
    decision, status, duplicates, source, sort = (
        desk.part(f".snb-filters select[aria-label='{name}']")
        for name in ("decision", "status", "duplicates", "source", "sort by")
    )
    clear = desk.part(".snb-filter-clear")
    assert not clear.is_visible()

    def total(n: int):
        desk.page.wait_for_function(
            "([e, n]) => e.querySelector('.snb-list-row')?.getAttribute('aria-setsize') === n",
            arg=[desk.root.element_handle(), str(n)],
        )

    decision.select_option("undecided")
    total(39)
    status.select_option("truncated")
    total(5)
    desk.says(".snb-list-row[aria-posinset='1']", "truncated")
    desk.says(".snb-card-body", "cut at 256 tokens")
    assert clear.inner_text() == "clear 2 filters"
    clear.click()
    total(40)
    assert not clear.is_visible()
    duplicates.select_option("only")
    total(6)
    desk.part(".snb-card-body .snb-btn-text").click()
    desk.at("r0")
    desk.says(".snb-card-head", "not in the filter")
    desk.press("j")
    desk.at("r5")
    clear.click()
    total(40)
    source.select_option("b.md")
    total(20)
    desk.part("[aria-label='lowest rating']").fill("9")
    desk.press("Enter")
    total(4)
    clear.click()
    total(40)
    sort.select_option("rating")
    desk.part("[aria-label='sort descending']").click()
    desk.focus()
    chosen = desk.part(".snb-list-row[aria-selected=true] .snb-row-rating")
    for key, rating in (("Home", "10"), ("End", "1")):
        # The kernel sorts: a key that comes before the new order moves in the old one.
        for _ in range(40):
            desk.press(key)
            desk.page.wait_for_timeout(250)
            if chosen.inner_text() == rating:
                break
        assert chosen.inner_text() == rating
    desk.press("/", *"Question 3")
    total(13)
    desk.press("Enter")
    desk.at("r39")
    desk.press("/", *"nothing holds this")
    desk.part(".snb-none").wait_for()
    assert "0 of 40 rows match" in desk.part(".snb-none").inner_text()
    desk.part(".snb-none button").click()
    total(40)


def test_many_are_decided_in_one_step_that_says_first_what_it_does(open_desk):
    desk = open_desk()
    desk.decide("r")
    slider = desk.part(".snb-judge-slider")
    slider.focus()
    while slider.input_value() != "8":
        desk.press("ArrowRight" if float(slider.input_value()) < 8 else "ArrowLeft")
    button = desk.part(".snb-judge-bulk > button")
    desk.says(".snb-judge-bulk > button", "≥ 8")
    button.click()
    question = desk.part(".snb-pop-box")
    question.wait_for()
    assert (
        "Accept 12 undecided rows rated 8 or more and reject 27"
        in question.inner_text()
    )
    desk.press("Escape")
    assert not question.is_visible()
    assert len(desk.logged()) == 1
    desk.part(".snb-filters select").first.select_option("undecided")
    desk.part("[aria-label='lowest rating']").fill("7")
    desk.press("Enter")
    desk.says(".snb-foot-said", "16 of 40 rows match")
    button.click()
    desk.says(".snb-pop-box", "Accept 12 undecided rows rated 8 or more and reject 4")
    assert "16 rows in the filter" in question.inner_text()
    question.locator("button").first.click()
    desk.counts(12, 5)
    desk.focus()
    desk.press("u")
    desk.counts(0, 1)
    desk.press("u")
    desk.counts(0, 0)


def test_the_figures_are_those_of_the_kernel(open_desk):
    desk = open_desk()
    for n in range(16):
        desk.decide("r" if n % 10 < 4 or n % 7 == 6 else "a")
    for threshold in (3, 6, 9):
        slider = desk.part(".snb-judge-slider")
        slider.focus()
        while slider.input_value() != str(threshold):
            low = float(slider.input_value()) < threshold
            desk.press("ArrowRight" if low else "ArrowLeft")
        told = json.loads(
            desk.nb.python(
                f"""
import json
from synthnb.curation.agreement import agreement
a = agreement(desk.frame(), {threshold})
print(json.dumps([f"agrees {{round(a.agreement * 100)}} % (κ {{a.kappa:.2f}}, {{a.decided}} decided)",
  f"{{round(a.precision * 100)}} %", f"{{round(a.recall * 100)}} %", [a.tp, a.fp, a.fn, a.tn]]))"""
            )
        )
        line, precision, recall, cases = told
        desk.says(".snb-judge-says", f"≥ {threshold}: {line.replace('-', '−')}")
        figures = desk.part(".snb-judge-figures table")
        rows = figures.nth(0).locator("td:nth-child(2)").all_text_contents()
        assert rows[2:] == [precision, recall]
        confusion = figures.nth(1).locator("tbody td").all_text_contents()
        assert list(map(int, confusion)) == cases
    assert "rejected" in desk.part(".snb-judge-picture svg").get_attribute("aria-label")


def test_two_desks_of_one_log_agree(open_desk):
    one = open_desk("other = review(frame(40), folder='log', by='anna')\nother")
    one.nb.run(2)
    other = Desk(one.nb, 2)
    one.focus()
    one.decide("a")
    one.decide("r")
    other.counts(1, 1)
    other.says(".snb-card-head", "accepted by anna")
    assert ", rejected" in other.row(1).get_attribute("aria-label")
    other.focus()
    other.press("End")
    other.at("r39")
    other.painted()
    other.press("a")
    one.counts(2, 1)
    one.nb.python("desk.accept(['r20', 'r21'])")
    one.counts(4, 1)
    other.counts(4, 1)
    other.press("u")
    one.counts(2, 1)


def test_decisions_outlive_a_killed_kernel_and_a_closed_page(open_desk):
    desk = open_desk()
    nb = desk.nb
    for n in range(10):
        desk.decide("ar"[n % 2])
    desk.counts(5, 5)
    pid = int(nb.python("print(os.getpid())"))
    os.kill(pid, signal.SIGKILL)
    nb.until("jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'idle'", 60)  # fmt: skip
    nb.page.locator(".jp-Dialog button").click()  # "the kernel appears to have died"
    desk.focus()
    desk.press("a")
    desk.says(".snb-foot-said", "waiting for the kernel")
    nb.restart()
    nb.run(0)
    nb.run(1)
    again = Desk(nb)
    again.counts(5, 5)
    assert again.logged() == [[f"r{n}", ("accept", "reject")[n % 2]] for n in range(10)]
    # The page is closed and opened: the desk that the kernel still has is shown again.
    again.at("r10")
    again.focus()
    again.decide("a")
    again.counts(6, 5)
    nb.save()
    nb.reload()
    reopened = Desk(nb)
    reopened.counts(6, 5)
    reopened.at("r11")
    reopened.focus()
    reopened.decide("r")
    reopened.counts(6, 6)


def test_a_kernel_that_is_busy_is_said_and_waited_for(open_desk):
    desk = open_desk("import time\ntime.sleep(8)")
    desk.nb.python(
        "import synthnb.widgets.review_view as v, time\n"
        "slow = v.ReviewView.on_decide\n"
        "v.ReviewView.on_decide = lambda self, m: (time.sleep(5), slow(self, m))[1]"
    )
    desk.painted()
    desk.press("a")
    desk.at("r1")  # the next card does not wait
    desk.says(".snb-foot-said", "waiting for the kernel")
    desk.counts(1, 0)
    desk.says(".snb-foot-said", "row 2 of 40")


def test_what_was_not_saved_is_said_and_taken_back(open_desk):
    desk = open_desk()
    desk.nb.python(
        """
from synthnb.errors import StoreError
live = desk._model.live
save = live.append
def refuse(*told, **how):
    live.append = save
    raise StoreError("the disk is full", hint="Make room, then decide again.")
live.append = refuse"""
    )
    desk.decide("r")
    desk.says("[role=alert]", "was not rejected: the disk is full")
    assert "Make room" in desk.part("[role=alert]").inner_text()
    assert ", undecided" in desk.row(0).get_attribute("aria-label")
    desk.counts(0, 0)
    desk.part("[role=alert] button").first.click()
    desk.at("r0")
    desk.painted()
    desk.press("r")
    desk.counts(0, 1)
