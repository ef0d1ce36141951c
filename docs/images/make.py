"""Takes the pictures of the README: JupyterLab, the built-in model, the demo's documents.

``.venv/bin/python docs/images/make.py`` after ``make test`` has brought a browser. Uses the
laboratory of the browser tests, so what it shows is what they drive.
"""

from __future__ import annotations

import importlib.util
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TESTS = HERE.parents[1] / "tests" / "browser"
CELLS = [
    "import synthnb as sn\n\npicker = sn.ProviderPicker()\npicker",
    """from synthnb.demo import documents_folder

chunks = sn.read(documents_folder(), chunk_tokens=200, overlap=0)
run = sn.generate(sn.QA(pairs=2), chunks, picker.provider, name="handbook")
run""",
    """df = await run
df = sn.apply_checks(await sn.rate(df, picker.provider))
df = sn.deduplicate(df, on="question")""",
    "desk = sn.review(df)\ndesk",
    "sn.profile(df, chunks=chunks, review=desk)",
    "sn.table(df)",
]


def load(name: str) -> Any:
    """Load a script of the browser tests."""
    spec = importlib.util.spec_from_file_location(name, TESTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def shot(nb: Any, cell: int, name: str) -> None:
    """Write a picture of what a cell shows."""
    area = nb.cell(cell).locator(".jp-OutputArea-output").last
    area.scroll_into_view_if_needed()
    area.screenshot(path=HERE / f"{name}.png", animations="disabled")
    print(name)


def decide(nb: Any) -> None:
    """Look through some rows as a person does."""
    nb.cell(3).locator(".snb-list").focus()
    for key in "aaraaraaeara":
        nb.page.wait_for_timeout(400)
        nb.page.keyboard.press("Escape" if key == "e" else key)
    nb.page.wait_for_timeout(600)


def main() -> None:
    """Run the notebook once and take every picture."""
    browser = load("browser_ready").find_browser()
    lab = load("conftest").Lab(Path(tempfile.mkdtemp()), browser)
    try:
        nb = lab.notebook(CELLS)
        nb.command("application:toggle-left-area")
        nb.resize(1300, 1500)
        nb.run(0)
        nb.cell(0).get_by_role("button", name="Check").click()
        nb.cell(0).get_by_role("button", name="Stop").wait_for(state="hidden")
        nb.cell(0).get_by_text("tokens").first.wait_for()
        shot(nb, 0, "picker")
        nb.run(1)
        half = re.compile(r"^(1[5-9]|2\d) of 42")
        nb.cell(1).get_by_text(half).first.wait_for(timeout=120_000)
        shot(nb, 1, "monitor")
        nb.run(2)
        shot(nb, 1, "monitor-done")
        for index in (3, 4, 5):
            nb.run(index)
        nb.page.wait_for_timeout(1500)
        decide(nb)
        shot(nb, 3, "review")
        shot(nb, 4, "profile")
        shot(nb, 5, "table")
        nb.theme("dark")
        nb.page.wait_for_timeout(500)
        shot(nb, 3, "review-dark")
        nb.resize(620, 1500)
        nb.page.wait_for_timeout(800)
        shot(nb, 3, "review-dark-narrow")
    finally:
        lab.close()


if __name__ == "__main__":
    sys.exit(main())
