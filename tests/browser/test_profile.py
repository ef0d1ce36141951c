"""A profile in JupyterLab: readable in light and dark, live beside a review."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

SETUP = """
import pandas as pd
from synthnb.widgets.profile import profile
n = 60
df = pd.DataFrame({
    "record_id": [f"r{i}" for i in range(n)],
    "status": ["ok" if i % 9 else "truncated" for i in range(n)],
    "source": [f"part-{i // 30}.pdf" for i in range(n)],
    "chunk_id": [f"c{i // 3}" for i in range(n)],
    "start": [i // 3 * 100 for i in range(n)],
    "question": [f"What is number {i}?" for i in range(n)],
    "answer": ["word " * (i % 7 + 1) for i in range(n)],
    "rating": [float(i % 10 + 1) for i in range(n)],
})
chunks = df[["chunk_id", "source", "start"]].drop_duplicates()
chunks = pd.concat([chunks, pd.DataFrame({"chunk_id": ["none"], "source": ["part-1.pdf"], "start": [9999]})])
"""
CONTRAST = """
() => {
  const lum = (c) => { const [r, g, b] = c.map((v) => { v /= 255;
    return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4 });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b };
  const parse = (s) => { const n = s.match(/[\\d.]+/g).map(Number); return [n.slice(0, 3), n[3] ?? 1] };
  const over = ([c, a], under) => c.map((v, i) => v * a + under[i] * (1 - a));
  const ground = (e) => { const chain = []; for (let at = e; at; at = at.parentElement) chain.unshift(at);
    return chain.reduce((under, at) => over(parse(getComputedStyle(at).backgroundColor), under), [255, 255, 255]) };
  let worst = [99, ''];
  for (const e of document.querySelectorAll('.snb-profile *')) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || e.closest('svg') && e.tagName !== 'text' || !e.getClientRects().length) continue;
    const style = getComputedStyle(e), below = ground(e.closest('svg')?.parentElement ?? e);
    const [c, a] = parse(e.tagName === 'text' ? style.fill : style.color);
    const fore = over([c, a * Number(style.opacity)], below);
    const [x, y] = [lum(fore), lum(below)].sort((p, q) => q - p);
    const ratio = (x + 0.05) / (y + 0.05);
    if (ratio < worst[0]) worst = [ratio, e.textContent];
  }
  return worst;
}
"""


def test_the_page_reads_well_in_light_and_dark(notebook):
    nb = notebook(SETUP, "profile(df, chunks=chunks)")
    nb.run(0)
    nb.run(1)
    page = nb.page.locator(".snb-profile")
    page.wait_for()
    assert (
        page.get_by_role(
            "img", name=re.compile("Status, rows: ok 53, truncated 7")
        ).count()
        == 1
    )
    assert page.get_by_role("img", name=re.compile("Rating: 60 values")).count() == 1
    strip = page.get_by_role("img", name=re.compile("part-1.pdf: 10 of 11 chunks"))
    assert strip.count() == 1
    page.locator("summary").first.click()
    assert "chunks without" in page.locator("table").first.inner_text()
    for theme in ("light", "dark"):
        nb.theme(theme)
        ratio, text = nb.page.evaluate(CONTRAST)
        assert ratio >= 4.5, (theme, ratio, text)


@pytest.mark.parametrize("width", [360, 1600])
def test_the_layout_holds(notebook, width):
    nb = notebook(SETUP, "profile(df, chunks=chunks)")
    nb.run(0)
    nb.run(1)
    nb.page.evaluate("() => jupyterapp.shell.collapseLeft()")
    nb.resize(width)
    nb.until(
        f"""(() => {{ const p = document.querySelector('.snb-profile');
        return p && p.getBoundingClientRect().right <= {width} && p.scrollWidth <= p.clientWidth + 1 }})()"""
    )


def test_a_cell_shows_its_rows_in_the_review(notebook):
    nb = notebook(
        SETUP,
        "from synthnb.widgets.review import review\ndesk = review(df, folder='log'); desk",
        "profile(df, chunks=chunks, review=desk)",
    )
    for i in range(3):
        nb.run(i)
    cells = nb.page.locator(".snb-profile-live .snb-cell")
    cells.first.wait_for()
    said = nb.page.locator(".snb-profile-said")
    cells.nth(2).click()
    said.get_by_text("the review shows chunk 3 of 10: 3 kept of 3 rows").wait_for()
    assert cells.nth(2).get_attribute("aria-pressed") == "true"
    shown = "print([desk._model.rows(0, 9)['rows'][i]['id'] for i in range(desk._model.state()['matching'])])"
    assert nb.python(shown) == "['r6', 'r7', 'r8']\n"
    # By keyboard: one Tab stop a document, arrows within it, Enter presses.
    nb.page.keyboard.press("ArrowLeft")
    nb.page.keyboard.press("Enter")
    said.get_by_text("the review shows chunk 2 of 10").wait_for()
    assert nb.python(shown) == "['r3', 'r4', 'r5']\n"
    assert cells.nth(2).get_attribute("aria-pressed") == "false"
    nb.page.keyboard.press("Enter")
    said.get_by_text("shows all sources again").wait_for()
    assert nb.python("print(desk._model.state()['matching'])") == "60\n"
    stops = nb.page.locator(".snb-profile-live .snb-cell[tabindex='0']")
    assert stops.count() == 2


def test_a_review_that_fails_says_so(notebook):
    nb = notebook(
        SETUP,
        """
from synthnb.errors import ConfigError
class Broken:
    def filter(self, **wanted): raise ConfigError("the desk is closed", hint="Open it again.")
profile(df, review=Broken())""",
    )
    nb.run(0)
    nb.run(1)
    nb.page.locator(".snb-cell").first.click()
    said = nb.page.locator(".snb-profile-said.snb-err")
    said.get_by_text("the desk is closed. Open it again.").wait_for()
    assert nb.page.locator(".snb-cell[aria-pressed=true]").count() == 0


def test_hostile_texts_are_only_shown(notebook):
    path = Path(__file__).with_name("hostile.py")
    nb = notebook(
        f"""
import importlib.util, pandas as pd
spec = importlib.util.spec_from_file_location("hostile", {str(path)!r})
hostile = importlib.util.module_from_spec(spec); spec.loader.exec_module(hostile)
texts = list(hostile.STRINGS)
from synthnb.widgets.profile import profile
names = ["status", "decision", "model", "source", "chunk_id", "question", "finish_reason", *texts]
df = pd.DataFrame([[t] * len(names) for t in texts], dtype=object)
df.columns = pd.Index(names, dtype=object)
class Quiet:
    def filter(self, **wanted): pass
""",
        "profile(df, chunks=df)",
        "profile(df, chunks=df, review=Quiet())",
        "print(profile(df, chunks=df))",
    )
    for i in range(4):
        nb.run(i)
    nb.page.locator(".snb-profile-live .snb-cell").first.click()
    nb.page.locator(".snb-profile-said").get_by_text("the review shows").wait_for()
    nb.page.locator(".snb-profile").first.locator("summary").first.click()
    assert nb.page.evaluate("() => window.hit === undefined")
    assert (
        nb.page.locator(".snb-profile img, .snb-profile script, .snb-profile a").count()
        == 0
    )
    for block in nb.page.locator(".snb-profile").all():
        wide = block.evaluate("e => [e.scrollWidth, e.clientWidth]")
        assert wide[0] <= wide[1] + 1
    assert len(json.dumps(nb.outputs(1))) < 300_000


def test_a_saved_profile_needs_no_kernel_and_no_network(notebook, tmp_path):
    nb = notebook(
        SETUP + "\nclass Quiet:\n    def filter(self, **wanted): pass",
        "profile(df, chunks=chunks)",
        "profile(df, chunks=chunks, review=Quiet())",
    )
    for i in range(3):
        nb.run(i)
    nb.page.locator(".snb-cell").first.wait_for()
    nb.save()
    saved = json.loads(nb.path.read_text(encoding="utf-8"))
    del saved["metadata"]["widgets"]  # JupyterLab saves it only if told to
    nb.path.write_text(json.dumps(saved), encoding="utf-8")
    html = tmp_path / "saved.html"
    subprocess.run(
        [sys.executable, "-m", "nbconvert", "--to", "html", "--output", str(html), str(nb.path)],
        check=True, capture_output=True,
    )  # fmt: skip
    text = html.read_text(encoding="utf-8")
    body = text[text.index("<body") :]
    # Also where a review was beside it, the live page has its static one.
    assert body.count("20 of 21 chunks gave rows that are kept; 1 gave none.") >= 2
    assert "<th" in body[body.index("snb-profile") :]
    assert "part-1.pdf" in body
