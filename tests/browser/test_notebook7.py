"""Notebook 7: the same widgets in the other front end of the Jupyter project."""

from __future__ import annotations

import pytest

SETUP = """
import synthnb as sn
from synthnb.providers.scripted import ScriptedClient
run = sn.generate(sn.Prompt("say {{ i }}"), [{"i": i} for i in range(30)],
                  ScriptedClient(lambda r: r.messages[-1].content, delay=0.05), name="seven")
run
"""


@pytest.fixture
def seven(lab, tmp_path, start_app):
    with start_app("notebook", tmp_path / "seven") as app:
        yield app


def test_every_view_works_there(seven):
    nb = seven.notebook(
        [
            SETUP,
            "df = await run",
            "desk = sn.review(df); desk",
            "sn.table(df)",
            "sn.profile(df)",
            "sn.ProviderPicker()",
        ]
    )
    nb.run_all()
    assert "done in" in nb.cell(0).inner_text()
    desk = nb.cell(2).locator(".snb").first
    nb.cell(2).locator(".snb-list-row").nth(3).wait_for()
    nb.cell(2).locator(".snb-list").focus()
    before = nb.sources()
    for key in ("a", "a", "r"):
        nb.page.keyboard.press(key)
        nb.page.wait_for_timeout(300)  # a person looks at the next row
    nb.cell(2).get_by_text("2 accepted").first.wait_for()
    assert "1 rejected" in desk.inner_text()
    assert nb.sources() == before
    assert nb.python("print(desk.progress)").strip()
    nb.cell(3).locator(".snb-list-row").first.wait_for()
    assert nb.cell(4).locator("svg").count() > 0
    nb.cell(5).get_by_role("button", name="Check").wait_for()
    # Notebook's own start has such an error; ours would name one of our modules.
    broken = [text for kind, text in seven.console if kind == "pageerror"]
    assert not [text for text in broken if "reading 'schema'" not in text]
    assert not seven.external
    nb.close()
