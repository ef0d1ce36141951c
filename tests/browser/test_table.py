"""A table in JupyterLab: sorted, searched, walked by keyboard, its long texts opened."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SETUP = """
import pandas as pd
import synthnb.widgets.table as module
n = {n}
df = pd.DataFrame({{
    "record_id": [f"r{{i}}" for i in range(n)],
    "question": [f"Question {{i}}, of {{'alpha' if i % 3 else 'Omega'}}?" for i in range(n)],
    "answer": [f"line {{i}}\\n\\n" + "word " * (i % 90) for i in range(n)],
    "rating": pd.array([(i * 7919) % 11 if i % 5 else None for i in range(n)], dtype="Int64"),
    "source": [f"a rather long name of a document, part {{i % 7}}.pdf" for i in range(n)],
}})
table = module.table(df)
table
"""
GRID = ".snb-table-grid"
ROW = ".snb-list-row"
AT = f"document.querySelector('{ROW}[aria-selected=true]')"
COUNT = "document.querySelector('.snb-table [role=status]').textContent"


@pytest.fixture
def shown(notebook):
    def opened(n=300, *cells):
        nb = notebook(SETUP.format(n=n), *cells)
        nb.run(0)
        nb.until(f"document.querySelector('{ROW} [role=gridcell][id]') !== null")
        return nb

    return opened


def first(nb) -> str:
    """Return the first row's first cell, whichever row that is by now."""
    return nb.page.evaluate(
        f"""() => [...document.querySelectorAll('{ROW}')]
        .find(r => r.getAttribute('aria-rowindex') === '2')?.firstElementChild?.textContent"""
    )


def until_first(nb, text):
    nb.until(
        f"""[...document.querySelectorAll('{ROW}')].find(r => r.getAttribute('aria-rowindex')
        === '2')?.firstElementChild?.textContent.includes({json.dumps(text)})"""
    )


def selected(nb) -> int:
    return int(
        nb.page.locator(f"{ROW}[aria-selected=true]").get_attribute("aria-rowindex")
    )


def header(nb, name):
    return nb.page.locator("[role=columnheader]", has_text=name)


def test_a_header_sorts_up_then_down_then_not_at_all(shown):
    nb = shown()
    assert first(nb) == "Question 0, of Omega?"
    orders = []
    for expected in ("Question 11,", "Question 1,", "Question 0,"):
        header(nb, "rating").locator("button").click()
        until_first(nb, expected)
        orders.append(header(nb, "rating").get_attribute("aria-sort"))
        # The button is a new one, and still has the focus: a second press works.
        assert nb.page.evaluate("() => document.activeElement.title") == "rating"
    assert orders == ["ascending", "descending", "none"]
    assert nb.python("print(table.frame().index[:2].tolist())") == "[0, 1]\n"


def test_a_search_leaves_what_holds_the_text(shown):
    nb = shown()
    nb.page.locator(GRID).focus()
    nb.page.keyboard.press("/")
    nb.page.keyboard.type("OMEGA")
    nb.until(f"{COUNT} === '100 of 300 rows'")
    until_first(nb, "Question 0,")
    assert nb.python("print(len(table.frame()))") == "100\n"
    nb.page.keyboard.type(".*")
    nb.until(f"{COUNT} === '0 of 300 rows'")
    assert nb.page.locator(".snb-table-empty").is_visible()
    nb.page.keyboard.press("Escape")
    nb.until(f"{COUNT} === '300 rows'")
    nb.page.keyboard.press("Enter")
    assert nb.page.evaluate(f"() => document.activeElement.matches('{GRID}')")


def test_the_keyboard_reaches_every_row_and_column(shown):
    nb = shown()
    keys = nb.page.keyboard
    before = nb.sources()
    nb.page.locator(GRID).focus()
    steps = [("ArrowDown", 3), ("ArrowDown", 4), ("ArrowUp", 3), ("PageDown", None),
             ("PageUp", 3), ("End", 301), ("ArrowDown", 301), ("Home", 2)]  # fmt: skip
    for key, row in steps:
        keys.press(key)
        nb.until(f"{AT} !== null")
        assert row is None or selected(nb) == row, key
        inside = nb.page.evaluate(
            f"""() => {{ const r = {AT}.getBoundingClientRect(),
            b = document.querySelector('.snb-table .snb-list').getBoundingClientRect();
            return r.top >= b.top - 1 && r.bottom <= b.bottom + 1 }}"""
        )
        assert inside, key
    for _ in range(5):
        keys.press("ArrowRight")
    active = nb.page.locator(GRID).get_attribute("aria-activedescendant")
    cell = nb.page.locator(f"#{active}")
    assert cell.get_attribute("aria-colindex") == "4"
    assert cell.get_attribute("role") == "gridcell"
    # The header has followed to the right, and its last column stands above the cells.
    nb.until(
        f"""Math.abs(document.querySelector('[role=columnheader]:last-child').getBoundingClientRect().left
        - document.getElementById('{active}').getBoundingClientRect().left) < 1"""
    )
    keys.press("s")
    nb.until(
        "document.querySelector('[aria-sort=ascending]')?.textContent.includes('source')"
    )
    for key in ("a", "b", "d", "d", "x"):
        keys.press(key)
    assert nb.sources() == before


def test_a_row_opens_whole_and_closes_again(shown):
    nb = shown()
    page = nb.page
    box = page.locator(".snb-table").bounding_box()
    page.locator(GRID).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    card = page.locator(".snb-table-card")
    card.wait_for(state="visible")
    assert page.locator(".snb-table").bounding_box() == box  # nothing jumped
    assert card.get_attribute("aria-label") == "Row 2 of 300"
    assert "record_id\nr1" in card.inner_text()
    value = card.locator(".snb-table-value", has_text="line 1")
    assert value.inner_text() == "line 1\n\nword "
    page.keyboard.press("j")
    nb.until("document.querySelector('.snb-table-card').ariaLabel === 'Row 3 of 300'")
    page.keyboard.press("Escape")
    card.wait_for(state="hidden")
    assert selected(nb) == 4
    assert page.evaluate(f"() => document.activeElement.matches('{GRID}')")
    page.locator(ROW).nth(1).dblclick()
    card.wait_for(state="visible")


def test_a_row_is_copied_as_json_also_without_a_clipboard(shown):
    nb = shown()
    nb.lab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = nb.page
    page.locator(GRID).focus()
    page.keyboard.press("c")
    nb.until(
        "document.querySelector('.snb-table-foot [role=status]').textContent.includes('copied')"
    )
    copied = json.loads(page.evaluate("() => navigator.clipboard.readText()"))
    assert copied["record_id"] == "r0"
    page.evaluate(
        """() => { window.read = navigator.clipboard.readText.bind(navigator.clipboard);
        navigator.clipboard.writeText = () => Promise.reject(new Error('no')) }"""
    )
    page.keyboard.press("ArrowDown")
    page.keyboard.press("c")
    nb.until(
        "document.querySelector('.snb-table-foot [role=status]').textContent.startsWith('row 2')"
    )
    assert json.loads(page.evaluate("() => read()"))["record_id"] == "r1"
    assert page.evaluate(f"() => document.activeElement.matches('{GRID}')")


def test_columns_are_chosen(shown):
    nb = shown()
    fold = nb.page.locator(".snb-table-columns > summary")
    assert fold.inner_text().startswith("Columns 4 of 5")
    fold.click()
    nb.page.get_by_label("record_id").check()
    header(nb, "record_id").wait_for()
    nb.page.get_by_label("answer").uncheck()
    header(nb, "answer").wait_for(state="detached")
    nb.until(
        "document.querySelector('.snb-table-row [role=gridcell]:last-child')?.textContent === 'r0'"
    )
    assert (
        nb.python("print(*table.frame().columns)")
        == "question rating source record_id\n"
    )
    nb.page.keyboard.press("Escape")
    assert not nb.page.get_by_label("record_id").is_visible()


def test_two_pages_of_one_table_agree_and_a_reload_finds_it_again(shown):
    nb = shown(300, "table")
    nb.run(1)
    counts = nb.page.locator(".snb-table [role=status].snb-num")
    nb.until("document.querySelectorAll('.snb-table').length === 2")
    nb.page.locator(".snb-table .snb-input").first.fill("omega")
    for i in (0, 1):
        counts.nth(i).get_by_text("100 of 300 rows").wait_for()
    nb.save()
    nb.reload()
    counts.nth(1).get_by_text("100 of 300 rows").wait_for()
    assert nb.page.locator(".snb-table .snb-input").first.input_value() == "omega"


def test_100_000_rows_hold_few_elements_and_the_end_is_near(shown):
    nb = shown(100_000)
    nb.page.locator(GRID).focus()
    nb.page.keyboard.press("End")
    nb.until(f"{AT}?.firstElementChild.textContent === 'Question 99999, of Omega?'")
    assert nb.page.locator(ROW).count() < 60
    saved = nb.save()
    assert len(json.dumps(saved["cells"])) < 15_000
    assert "Question 9, of" in json.dumps(saved["cells"])  # the static form's last row
    assert "Question 10, of" not in json.dumps(saved)
    assert "Question" not in json.dumps(saved["metadata"])  # where traits are saved


def test_hostile_values_and_names_are_shown_as_they_are(notebook):
    path = Path(__file__).with_name("hostile.py")
    nb = notebook(
        f"""
import importlib.util, pandas as pd
spec = importlib.util.spec_from_file_location("hostile", {str(path)!r})
hostile = importlib.util.module_from_spec(spec); spec.loader.exec_module(hostile)
texts = list(hostile.STRINGS)
from synthnb.widgets.table import table
df = pd.DataFrame({{"text": pd.Series(texts, dtype=object), "n": range(len(texts))}})
wide = pd.DataFrame([texts], dtype=object); wide.columns = pd.Index(texts, dtype=object)
first = table(df); first
""",
        "table(wide, columns=None)",
        "first.frame()['n'].tolist()",
    )
    for i in (0, 1):
        nb.run(i)
    nb.until("document.querySelectorAll('.snb-table').length === 2")
    nb.until(
        f"[...document.querySelectorAll('.snb-table')].every(t => t.querySelector('{ROW} [id]'))"
    )
    page = nb.page
    page.locator(GRID).first.focus()
    for _ in range(45):
        page.keyboard.press("Enter")
        page.locator(".snb-table-card").first.wait_for(state="visible")
        page.keyboard.press("Escape")
        page.keyboard.press("ArrowDown")
    page.locator(GRID).nth(1).focus()
    page.keyboard.press("Enter")
    page.locator(".snb-table-card").nth(1).wait_for(state="visible")
    assert page.evaluate("() => window.hit === undefined")
    for i in (0, 1):
        widths = (
            page.locator(".snb-table")
            .nth(i)
            .evaluate("e => [e.scrollWidth, e.clientWidth]")
        )
        assert widths[0] <= widths[1] + 1


def test_a_saved_table_is_a_small_page_without_a_kernel(shown, tmp_path):
    nb = shown()
    nb.save()
    saved = json.loads(nb.path.read_text(encoding="utf-8"))
    del saved["metadata"]["widgets"]  # JupyterLab saves it only if told to
    nb.path.write_text(json.dumps(saved), encoding="utf-8")
    html = tmp_path / "saved.html"
    subprocess.run(
        [sys.executable, "-m", "nbconvert", "--to", "html", "--output", str(html),
         str(nb.path)],
        check=True, capture_output=True,
    )  # fmt: skip
    text = html.read_text(encoding="utf-8")
    assert "first 10 of 300 rows" in text
    assert "Question 9, of" in text


@pytest.mark.parametrize("width", [360, 1600])
def test_the_layout_holds(shown, width):
    nb = shown()
    nb.page.evaluate("() => jupyterapp.shell.collapseLeft()")
    nb.resize(width)
    nb.until(
        f"""(() => {{ const t = document.querySelector('.snb-table'); const b = t.getBoundingClientRect();
        return b.width > 200 && b.right <= {width} && t.scrollWidth <= t.clientWidth + 1 }})()"""
    )
    grid = nb.page.locator(f"{GRID}")
    assert grid.bounding_box()["height"] == pytest.approx(400, abs=2)
