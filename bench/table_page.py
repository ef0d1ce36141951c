"""The table in a real JupyterLab: table_page.py [--rows N] [--tries N]. Prints a table.

Times are from the moment of the command or key press to the painted rows, in the browser;
the median of several tries. Uses the lab of ``tests/browser/conftest.py``.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import tempfile
from pathlib import Path

BROWSER_TESTS = Path(__file__).parents[1] / "tests" / "browser"
SETUP = """
import numpy as np, pandas as pd
from synthnb.widgets.table import table
from synthnb.widgets.profile import profile
n = {n}
rng = np.random.default_rng(1)
words = "what the length of Danube rises in Germany flows about kilometres model".split()
def text(k): return " ".join(words[i] for i in rng.integers(0, len(words), k))
df = pd.DataFrame({{
    "record_id": [f"r{{i}}" for i in range(n)],
    "row_id": [f"row{{i // 2}}" for i in range(n)],
    "source": [f"book-{{i * 40 // n}}.pdf" for i in range(n)],
    "chunk_id": [f"c{{i // 20}}" for i in range(n)],
    "question": [f"{{text(9)}} {{i}}?" for i in range(n)],
    "answer": [text(25) for i in range(n)],
    "status": rng.choice(["ok", "truncated"], n, p=[0.95, 0.05]),
    "rating": rng.integers(1, 11, n).astype(float),
    "prompt_tokens": 300, "completion_tokens": rng.integers(20, 200, n),
}})
"""
# A frame after the condition holds, the rows are on the screen.
PAINTED = """
(condition) => new Promise((done) => { const holds = new Function('return ' + condition);
  const look = () => holds() ? requestAnimationFrame(() => done(performance.now() - window.began))
    : requestAnimationFrame(look); look() })
"""
ROW = "document.querySelector('.snb-list-row[aria-selected=true] [role=gridcell][id]')"
FIRST = "document.querySelector('.snb-list-row [role=gridcell][id]')"
SORTED = "document.querySelector('[role=columnheader][aria-sort={}]')"
MARK = "() => { window.began = performance.now() }"


def load(name):
    """Load a file of the browser tests, which are no package."""
    path = BROWSER_TESTS / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Timer:
    """Times steps in the page; each is a key or a command, and what is then seen."""

    def __init__(self, nb):
        self.nb, self.times = nb, {}

    def step(self, name, act, condition):
        self.nb.page.evaluate(MARK)
        act()
        taken = self.nb.page.evaluate(PAINTED, condition)
        self.times.setdefault(name, []).append(taken)

    def press(self, name, key, condition):
        self.step(name, lambda: self.nb.page.keyboard.press(key), condition)

    def search(self, text):
        counted = (
            "document.querySelector('.snb-table .snb-num').textContent.includes(' of ')"
        )
        field = self.nb.page.locator(".snb-table .snb-input")
        name = "search (200 ms of it wait for more letters)"
        self.step(name, lambda: field.fill(text), f"{counted} && {FIRST}")


def measure(nb, n, tries):
    timer = Timer(nb)
    page = nb.page
    nb.run(0)
    for _ in range(tries):
        timer.step("first paint", lambda: nb.run(1, wait=False), FIRST)
        page.locator(".snb-table-grid").focus()
        at = f"{ROW}?.textContent.endsWith({{!r}})"
        timer.press("jump to the end", "End", at.format(f" {n - 1}?"))
        timer.press("back to the first", "Home", at.format(" 0?"))
        timer.press("next row", "ArrowDown", at.format(" 1?"))
        for name, order in (("sort up", "ascending"), ("sort down", "descending")):
            timer.press(f"{name} (text)", "s", f"{SORTED.format(order)} && {FIRST}")
        page.keyboard.press("s")
        page.evaluate(PAINTED, f"!{SORTED.format('descending')} && {FIRST}")
        rows = page.locator(".snb-list-row").count()
        timer.search(f" {n // 2}?")
        page.evaluate("() => jupyterapp.commands.execute('notebook:clear-cell-output')")
        page.evaluate(PAINTED, "document.querySelector('.snb-table') === null")
    for _ in range(tries):
        timer.step(
            "profile, cell to page",
            lambda: nb.run(2, wait=False),
            "document.querySelector('.snb-profile')",
        )
        page.evaluate("() => jupyterapp.commands.execute('notebook:clear-cell-output')")
        page.evaluate(PAINTED, "document.querySelector('.snb-profile') === null")
    nb.python("import ipywidgets; ipywidgets.Widget.close_all()")
    nb.run(1)
    saved = len(json.dumps(nb.save()))
    return timer.times, rows, saved


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--tries", type=int, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = load("browser_ready").find_browser()
        lab = load("conftest").Lab(Path(folder), browser)
        try:
            nb = lab.notebook([SETUP.format(n=asked.rows), "table(df)", "profile(df)"])
            times, rows, saved = measure(nb, asked.rows, asked.tries)
            external = lab.external
        finally:
            lab.close()
    print(f"{asked.rows:,} rows, median of {asked.tries}, milliseconds\n")
    for name, taken in times.items():
        print(f"| {name:45} | {statistics.median(taken):7.0f} |")
    print(
        f"\n{rows} row elements at most; notebook file with the table {saved:,} bytes; "
    )
    print(f"requests that left the machine: {len(external)}")


if __name__ == "__main__":
    main()
