"""The reviewer's desk to the eye: layout, contrast, focus, hostile texts, many rows."""

from __future__ import annotations

import importlib.util
import json
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


LAYOUT = """e => {
  const out = [];
  const desk = e.querySelector('.snb-review-desk').getBoundingClientRect();
  for (const part of e.querySelectorAll('.snb-review-head, .snb-filters, .snb-list, .snb-card, .snb-notes, .snb-bar, .snb-foot, button, select, input, textarea')) {
    const r = part.getBoundingClientRect();
    if (!r.width || part.closest('.snb-tags')) continue;
    if (r.left < desk.left - 1 || r.right > desk.right + 1) out.push(part.className || part.tagName);
  }
  if (e.scrollWidth > e.clientWidth + 1) out.push('desk');
  return out;
}"""

# WCAG 2: the contrast of every text against the colours behind it, half-transparent ones
# mixed.
CONTRAST = """e => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  canvas.canvas.width = canvas.canvas.height = 1;
  const solid = (colours) => { canvas.clearRect(0, 0, 1, 1);
    for (const c of colours) { canvas.fillStyle = c; canvas.fillRect(0, 0, 1, 1); }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3); };
  const light = (rgb) => { const [r, g, b] = rgb.map(v => { v /= 255;
    return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const faint = [];
  const walk = document.createTreeWalker(e, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode.parentElement;
    if (!walk.currentNode.textContent.trim() || !node.getClientRects().length) continue;
    if (node.closest('.snb-sr, option')) continue;
    const behind = [];
    for (let up = node; up; up = up.parentElement) behind.unshift(getComputedStyle(up).backgroundColor);
    const back = ['white', ...behind];
    const [a, b] = [light(solid([...back, getComputedStyle(node).color])), light(solid(back))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) faint.push([walk.currentNode.textContent.slice(0, 40), ratio.toFixed(2)]);
  }
  return faint;
}"""


def test_the_layout_holds_and_can_be_read_in_light_and_dark(open_desk):
    desk = open_desk()
    nb = desk.nb
    desk.decide("a")
    desk.decide("r")
    desk.painted()
    desk.press("e")
    desk.part(".snb-edit textarea").nth(1).fill("Another answer")
    desk.press("Control+Enter")
    desk.part(".snb-diff").wait_for()
    desk.part(".snb-pop summary").click()
    accept = desk.part(".snb-bar button").first
    nb.command("application:toggle-left-area")
    for theme in ("light", "dark"):
        nb.theme(theme)
        for width, height in ((1300, 1000), (900, 1000), (560, 1300), (460, 1300)):
            nb.resize(width, height)
            desk.painted()
            assert desk.root.evaluate(LAYOUT) == [], (width, theme)
            assert desk.root.evaluate(CONTRAST) == [], (width, theme)
    folded = desk.part(".snb-list").bounding_box()
    assert folded["height"] <= 152
    assert folded["y"] < desk.part(".snb-card").bounding_box()["y"]
    # The buttons stay where they are, from row to row and while a text is edited.
    desk.press("Escape")
    place = accept.bounding_box()
    desk.focus()
    for key in ("j", "j", "j", "End", "Home"):
        desk.press(key)
        desk.painted()
        box = accept.bounding_box()
        assert (box["x"], box["y"]) == (place["x"], place["y"])


def test_the_evidence_is_marked_and_brought_into_sight_in_its_own_box(open_desk):
    long = "desk = review(frame(40).assign(text='Nothing yet. ' * 300 + TEXT), folder='log')\ndesk"
    desk = open_desk(opening=long)
    top = desk.page.evaluate("() => document.querySelector('.jp-WindowedPanel-outer').scrollTop")  # fmt: skip
    mark = desk.part("mark")
    assert mark.inner_text() == "flows about 2,850 kilometres southeast"
    box = desk.part(".snb-card-source").bounding_box()
    there = mark.bounding_box()
    assert box["y"] <= there["y"] <= box["y"] + box["height"] - there["height"]
    assert top == desk.page.evaluate("() => document.querySelector('.jp-WindowedPanel-outer').scrollTop")  # fmt: skip


def test_every_control_is_reached_by_tab(open_desk):
    desk = open_desk()
    desk.root.focus()
    seen = set()
    for _ in range(60):
        desk.press("Tab")
        if not desk.focused():
            break
        seen.add(
            desk.page.evaluate(
                "() => { const e = document.activeElement; return e.getAttribute('aria-label') || e.textContent }"
            )
        )
    for name in ("decision", "search", "records", "record", "threshold of the rating",
                 "add a tag", "1 star", "note", "show the keys", "details"):  # fmt: skip
        assert name in seen, seen
    assert {"Accepta", "Edite", "Rejectr", "Undou", "Nextj"} <= seen


HOSTILE = """
import json
strings = json.loads(open('hostile.json').read())
n = len(strings)
turned = lambda k: pd.Series(strings[k:] + strings[:k], dtype=object)
plain = lambda text: text.encode("utf-8", "replace").decode()
desk = review(pd.DataFrame({"record_id": [plain(text) for text in strings],
  "question": turned(1), "answer": turned(2),
  "rating": [None if i % 5 == 4 else float(i % 10 + 1) for i in range(n)],
  "rating_reason": turned(3), "status": turned(4), "detail": turned(5),
  "duplicate_of": turned(0).map(plain).shift(1), "source": turned(7),
  "text": pd.Series([f"{a} {b}" for a, b in zip(turned(8), turned(9))], dtype=object),
  "evidence": turned(8),
  "model": turned(10), strings[0]: turned(11)}), folder='log', by=plain(strings[2]),
  fields=["question", "answer", strings[0]])
desk
"""


def test_hostile_texts_are_texts_everywhere(notebook):
    spec = importlib.util.spec_from_file_location(
        "hostile", Path(__file__).with_name("hostile.py")
    )
    hostile = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hostile)
    nb = notebook(SETUP, HOSTILE)
    (nb.path.parent / "hostile.json").write_text(json.dumps(hostile.STRINGS))
    nb.run(0)
    nb.run(1)
    desk = Desk(nb)
    height = desk.root.bounding_box()["height"]
    desk.part(".snb-judge-bulk > button").click()
    desk.press("Escape")
    desk.focus()
    for index in range(len(hostile.STRINGS)):
        desk.page.wait_for_function(
            "([e, i]) => e.querySelector('.snb-card-head')?.textContent.startsWith(`row ${i} of`)",
            arg=[desk.root.element_handle(), index + 1],
        )
        assert desk.root.evaluate(LAYOUT) == [], index
        desk.painted()
        if index % 6 == 0:
            desk.press("t")
            desk.page.keyboard.insert_text(hostile.STRINGS[index][:60])
            desk.press("Enter", "Escape", "m")
            desk.page.keyboard.insert_text(hostile.STRINGS[index][:200])
            desk.press("Escape", "e", "Escape")
            desk.painted()
        desk.press("j")
    desk.press("Home", "a", "?", "Escape")
    assert desk.root.bounding_box()["height"] == height
    assert desk.page.evaluate("() => window.hit === undefined")
    assert (
        desk.root.evaluate(
            "e => e.querySelectorAll('script, img, iframe, a, object, style, link, video, audio, form').length"
        )
        == 0
    )


def test_a_hundred_thousand_rows(open_desk):
    desk = open_desk(opening=OPEN.replace("frame(40)", "frame(100_000)"))
    rows = desk.part(".snb-list-row")
    desk.press("End")
    desk.at("r99999")
    desk.painted()
    assert rows.count() < 60
    assert desk.row(99_999).get_attribute("aria-selected") == "true"
    desk.press("a")
    desk.counts(1, 0)
    desk.at("r0")  # round the end
    listed = desk.part(".snb-list")
    for share in (0.25, 0.5, 0.75, 1):
        listed.evaluate("(e, s) => { e.scrollTop = s * e.scrollHeight }", share)
        desk.page.wait_for_function(
            """([e, n]) => [...e.querySelectorAll('.snb-list-row')].some(
              r => Math.abs(r.ariaPosInSet - n) < 60 && r.ariaLabel.includes('Question'))""",
            arg=[desk.root.element_handle(), int(share * 100_000)],
        )
        assert rows.count() < 60
