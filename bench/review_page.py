"""The reviewer's desk in a real JupyterLab: review_page.py [--rows N] [--walk N].

Prints a table. Times are taken in the page, from the key's event to the frame that shows
the next card; each decision is on disk meanwhile. Uses the lab of
``tests/browser/conftest.py``.
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import tempfile
from pathlib import Path

BROWSER_TESTS = Path(__file__).parents[1] / "tests" / "browser"
SETUP = """
import numpy as np, pandas as pd
from synthnb.widgets.review import review
n = {n}
rng = np.random.default_rng(1)
words = "what the length of Danube rises in Germany flows about kilometres model".split()
def text(k): return " ".join(words[i] for i in rng.integers(0, len(words), k))
chunks = [text(250) for _ in range(500)]
df = pd.DataFrame({{
    "record_id": [f"r{{i}}" for i in range(n)],
    "source": [f"book-{{i * 40 // n}}.pdf" for i in range(n)],
    "text": [chunks[i % 500] for i in range(n)],
    "evidence": [chunks[i % 500][200:300] for i in range(n)],
    "question": [f"{{text(9)}} {{i}}?" for i in range(n)],
    "answer": [text(25) for i in range(n)],
    "status": rng.choice(["ok", "truncated"], n, p=[0.95, 0.05]),
    "rating": rng.integers(1, 11, n).astype(float),
    "rating_reason": "answers the question from the text",
}})
"""
DESK = "desk = review(df, folder='log')"
# `painted(act)`: do something, and resolve with the milliseconds until a new card is on
# the screen: the frame after the card of another record was put into the page.
PROBE = """
() => {
  const root = document.querySelector('.snb-review');
  window.painted = (act) => new Promise((done) => {
    const watch = new MutationObserver(() => {
      watch.disconnect();
      requestAnimationFrame(() => setTimeout(() => done(performance.now() - began), 0));
    });
    watch.observe(root, { attributes: true, attributeFilter: ['data-record'] });
    let began = performance.now();
    root.addEventListener('keydown', () => { began = performance.now() }, { capture: true, once: true });
    act();
  });
  window.key = (key) => root.querySelector('.snb-list').dispatchEvent(
    new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  window.frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
}
"""
PRESS = """
async ([key, times]) => {
  const taken = [];
  for (let n = 0; n < times; n += 1) {
    taken.push(await painted(() => window.key(key)));
    // As fast as a person could ever be: two more frames.
    await frame(); await frame();
  }
  return taken;
}
"""
OPENED = """
() => new Promise((done) => {
  const began = performance.now();
  const look = () => document.querySelector('.snb-review[data-record]') && document.querySelector('.snb-row-title')
    ? requestAnimationFrame(() => setTimeout(() => done(performance.now() - began), 0))
    : requestAnimationFrame(look);
  jupyterapp.commands.execute('notebook:run-cell');
  look();
})
"""
WALK = """
async (times) => { for (let n = 0; n < times; n += 1) await painted(() => window.key('j')); }
"""


def load(name):
    """Load a file of the browser tests, which are no package."""
    path = BROWSER_TESTS / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def heap(nb, session):
    """Return what JavaScript holds after a collection, in MB."""
    session.send("HeapProfiler.collectGarbage")
    return nb.page.evaluate("() => performance.memory.usedJSHeapSize") / 1e6


def first_paint(nb, tries):
    """Return the times from running a cell that shows the desk to its painted rows."""
    taken = []
    for _ in range(tries):
        nb.page.evaluate(
            "() => { jupyterapp.shell.currentWidget.content.activeCellIndex = 2 }"
        )
        taken.append(nb.page.evaluate(OPENED))
        if len(taken) < tries:
            nb.command("notebook:clear-cell-output")
            nb.until("document.querySelector('.snb-review') === null")
    return taken


def measure(nb, presses, walk, tries):
    """Return name → milliseconds, the heap on the way, and the elements of the list."""
    page = nb.page
    nb.run(0)
    began = page.evaluate("() => performance.now()")
    nb.run(1)
    made = page.evaluate("() => performance.now()") - began
    times = {"making the desk, in the kernel": [made]}
    times["first paint"] = first_paint(nb, tries)
    page.evaluate(PROBE)
    for key, name in (("a", "accept → next card"), ("r", "reject → next card")):
        times[name] = page.evaluate(PRESS, [key, presses])
    times["j → next card"] = page.evaluate(PRESS, ["j", presses])
    for key, name in (("End", "jump to the end"), ("Home", "back to the first row")):
        times[name] = page.evaluate(PRESS, [key, 1])
    times["undo → row"] = page.evaluate(PRESS, ["u", 20])
    session = page.context.new_cdp_session(page)
    heaps = [heap(nb, session)]
    for _ in range(5):
        page.evaluate(WALK, walk // 5)
        heaps.append(heap(nb, session))
    return times, heaps, page.locator(".snb-list-row").count()


def row(name, taken):
    """Return one line of the table: median, 99th percentile, worst."""
    ordered = sorted(taken)
    high = ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]
    return f"| {name:32} | {len(taken):5} | {statistics.median(taken):6.1f} | {high:6.1f} | {ordered[-1]:6.1f} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--presses", type=int, default=200)
    parser.add_argument("--walk", type=int, default=5_000)
    parser.add_argument("--tries", type=int, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = load("browser_ready").find_browser()
        lab = load("conftest").Lab(Path(folder), browser)
        try:
            nb = lab.notebook([SETUP.format(n=asked.rows), DESK, "desk"])
            times, heaps, rows = measure(nb, asked.presses, asked.walk, asked.tries)
            said = nb.python("print(desk.progress)").strip()
        finally:
            lab.close()
    print(f"{asked.rows:,} rows, milliseconds\n")
    print(
        f"| {'step':32} | times | median |    p99 |  worst |\n|---|---:|---:|---:|---:|"
    )
    for name, taken in times.items():
        print(row(name, taken))
    along = ", ".join(f"{one:.1f}" for one in heaps)
    print(f"\nheap along a walk over {asked.walk:,} rows: {along} MB")
    print(f"row elements: {rows}; saved: {said}")


if __name__ == "__main__":
    main()
