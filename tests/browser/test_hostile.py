"""Hostile text through every place where text is shown: it stays text.

Nothing runs (no script of it sets ``window.hit``, no dialog), nothing is asked for, and
nothing reaches over the edge of its cell.
"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest


def _strings() -> list[str]:
    path = Path(__file__).with_name("hostile.py")
    spec = importlib.util.spec_from_file_location("hostile", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return list(module.STRINGS)


STRINGS = _strings()
LOAD = """
import json, pandas as pd, synthnb as sn
bad = json.loads(open("bad.json", encoding="utf-8").read())
def at(i): return bad[i % len(bad)]
rows = [
    {"record_id": f"r{i}", "source": at(i + 1), "page": 1, "chunk_id": at(i + 2)[:200],
     "start": 0, "end": 10, "question": text, "answer": at(i + 3), "evidence": at(i + 4)[:50],
     "evidence_start": 0, "evidence_end": len(at(i + 4)[:50]), "status": "ok",
     "detail": at(i + 5), "finish_reason": at(i + 6)[:100], "model": at(i + 7)[:100],
     "rating": float(i % 10), "rating_reason": at(i + 8), "text": at(i + 4) + " tail",
     at(i)[:40].replace("\\ud800", "?").replace("\\udfff", "?"): at(i + 9)[:300]}
    for i, text in enumerate(bad)
]
# As objects: a string column of pandas cannot hold a lone surrogate.
df = pd.DataFrame(rows, dtype=object)
df["rating"] = df["rating"].astype(float)
df["duplicate_of"] = ["r1" if i == 3 else None for i in range(len(df))]
"""
INSIDE = """(cell) => {
  const frame = cell.getBoundingClientRect();
  const beyond = [];
  for (const area of cell.querySelectorAll('.jp-OutputArea-output')) {
    if (area.scrollWidth > area.clientWidth + 1 && getComputedStyle(area).overflowX === 'visible')
      beyond.push([area.className, area.scrollWidth, area.clientWidth]);
    const box = area.getBoundingClientRect();
    if (box.right > frame.right + 1) beyond.push([area.className, box.right, frame.right]);
  }
  return beyond;
}"""
ACTIVE = """(cell) => [...cell.querySelectorAll(
  'script, iframe, object, embed, img, link, meta, base, video, audio, form, a[href], image, use'
)].filter(e => !e.closest('.jp-InputArea, .jp-OutputPrompt')).map(e => e.outerHTML.slice(0, 200))"""


def check(nb, index: int):
    """Assert that a cell's output is only text, and stays inside."""
    assert nb.cell(index).evaluate(ACTIVE) == []
    check_quiet(nb, index)


def check_quiet(nb, index: int):
    """Assert that nothing ran and nothing sticks out; JupyterLab may add its own links."""
    assert nb.page.evaluate("() => window.hit === undefined")
    assert nb.cell(index).evaluate(INSIDE) == []
    assert nb.page.evaluate("() => getComputedStyle(document.body).display") != "none"


@pytest.fixture
def hostile(notebook):
    """A notebook whose kernel holds ``bad`` (the strings) and ``df`` (all over it)."""

    def open_with(*cells: str):
        nb = notebook(LOAD, *cells)
        (nb.path.parent / "bad.json").write_text(json.dumps(STRINGS), encoding="utf-8")
        nb.run(0)
        assert nb.outputs(0) == []
        return nb

    return open_with


def test_the_list_is_long_enough():
    assert len(STRINGS) >= 40
    assert len(set(STRINGS)) == len(STRINGS)


def test_review(hostile):
    nb = hostile("view = sn.review(df); view")
    nb.run(1)
    nb.until("document.querySelectorAll('.snb-list-row').length > 5")
    nb.page.locator(".snb-list").first.focus()
    check(nb, 1)
    total = len(STRINGS)
    for index in range(total):
        nb.until(
            f"document.querySelector('.snb').textContent.includes('row {index + 1} of')"
        )
        check(nb, 1)
        nb.page.keyboard.press("j")
    nb.page.keyboard.press("e")  # the same texts as values of fields
    check(nb, 1)


def test_tags_and_notes(hostile):
    nb = hostile(
        "view = sn.review(df)\n"
        "for i, text in enumerate(bad[:56]):\n"
        "    view.decide(f'r{i}', 'annotate', tags=[text[:300]], note=text[:5000])\n"
        "view"
    )
    nb.run(1)
    nb.until("document.querySelectorAll('.snb-list-row').length > 5")
    nb.page.locator(".snb-list").first.focus()
    for index in range(56):
        nb.until(
            f"document.querySelector('.snb').textContent.includes('row {index + 1} of')"
        )
        nb.page.keyboard.press("j")
    check(nb, 1)


def test_table(hostile):
    nb = hostile("sn.table(df, columns=list(df.columns))")
    nb.run(1)
    nb.until("document.querySelectorAll('.snb-list-row').length > 5")
    check(nb, 1)
    nb.page.locator(".snb-list").first.focus()
    nb.page.keyboard.press("Enter")
    check(nb, 1)
    nb.page.keyboard.press("Escape")
    nb.page.keyboard.press("End")
    check(nb, 1)


def test_profile(hostile):
    nb = hostile("sn.profile(df)", "view = sn.review(df); sn.profile(df, review=view)")
    nb.run(1)
    nb.run(2)
    nb.until("document.querySelectorAll('svg').length > 3")
    for index in (1, 2):
        nb.cell(index).evaluate(
            "c => c.querySelectorAll('details').forEach(d => { d.open = true })"
        )
        check(nb, index)


def test_monitor(hostile):
    nb = hostile(
        """
import asyncio
from synthnb.errors import ServerError
from synthnb.providers.scripted import ScriptedClient
def answer(request):
    i = int(request.messages[-1].content.split()[-1])
    if i % 3 == 0:
        raise ServerError(at(i), hint=at(i + 1))
    return at(i)
client = ScriptedClient(answer, model=at(4), delay=0.05, concurrency=2)
limits = sn.Limits(retry=sn.Retry(max_attempts=1))
run = sn.generate(sn.Prompt("say {{ i }}", system=None), [{"i": i} for i in range(len(bad))],
                  client, name="hostile", limits=limits)
run
""",
        "frame = await run; run.errors()",
        "frame",
        "sn.testing; run",
    )
    nb.run(1)
    nb.until("document.querySelector('.snb') !== null")
    check(nb, 1)
    nb.run(2)
    nb.run(3)
    nb.run(4)
    for index in (1, 4):
        nb.cell(index).evaluate(
            "c => c.querySelectorAll('details').forEach(d => { d.open = true })"
        )
        check(nb, index)
    assert nb.page.evaluate("() => window.hit === undefined")


def test_picker(hostile):
    nb = hostile(
        """
from synthnb.testing import FaultServer
names = [text[:2000] for text in bad if text.isprintable() or "<" in text]
serving = FaultServer.in_thread(models=names)
server = serving.__enter__()
print(len(names))
picker = sn.ProviderPicker(url=server.base_url); picker
""",
        "picker2 = sn.ProviderPicker(url=at(3)); picker2",
        "serving.__exit__(None, None, None)",
    )
    nb.run(1)
    nb.until("document.querySelector('.snb') !== null")
    count = nb.outputs(1)[0]["text"].strip()
    form = nb.cell(1).locator(".snb-picker")
    form.get_by_label("URL", exact=True).press("Enter")
    form.get_by_text(f"{count} models").first.wait_for()
    box = form.get_by_role("combobox", name="Model", exact=True)
    box.focus()
    box.press("ArrowDown")
    form.get_by_role("option").first.wait_for()
    check(nb, 1)
    box.press("Enter")
    check(nb, 1)
    nb.cell(1).get_by_role("button", name="Check").click()
    nb.run(2)
    check(nb, 2)
    check(nb, 1)
    nb.run(3)


def test_the_saved_notebook_and_its_html(hostile, lab):
    """The static forms: in nbconvert's HTML everything that is trusted there is markup."""
    nb = hostile("sn.review(df)", "sn.table(df)", "sn.profile(df)", "sn.export(df[['question', 'answer']], 'out.jsonl', format='jsonl')")  # fmt: skip
    for index in (1, 2, 3, 4):
        nb.run(index)
    nb.save()
    nb.python(
        "import subprocess, sys; subprocess.run([sys.executable, '-m', 'nbconvert', '--to', 'html',"
        " 'test.ipynb'], check=True, capture_output=True)"
    )
    text = nb.path.with_suffix(".html").read_text(encoding="utf-8")
    page = lab.context.new_page()
    asked: list[str] = []
    page.route("**/*", lambda route: (asked.append(route.request.url), route.abort()))
    page.set_content(text, wait_until="load")
    assert page.evaluate("() => window.hit === undefined")
    assert page.get_by_text("rows", exact=False).count() > 0
    page.close()
    # nbconvert's own template asks for its scripts from elsewhere; our outputs must not.
    assert not [url for url in asked if "beacon" in url or "/x" in url]


def test_one_error_text_names_a_hostile_thing(hostile):
    nb = hostile(
        "sn.review(df, fields=['no ' + bad[1]])", "sn.decide(df, bad[2], 'accept')"
    )
    for index in (1, 2):
        nb.run(index)
        assert nb.outputs(index)[-1]["output_type"] == "error"
        check_quiet(nb, index)  # file names in a traceback become links there
