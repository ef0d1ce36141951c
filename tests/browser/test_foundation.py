"""What all views are built on: messages in order, the list, text that stays text."""

from __future__ import annotations

from pathlib import Path

VIEW = """
from pathlib import Path
import anywidget, threading, time
from synthnb.widgets import assets, channel
class Probe(channel.View):
    _css = assets._read("base.css")
    _esm = "\\n".join(assets._joined(n) for n in ("dom", "channel", "keys", "list")) + Path("probe.js").read_text()
    seen = []
    def on_add(self, message):
        self.seen.append(message["n"])
        return {"sum": sum(self.seen), "thread": threading.current_thread().name}
    def on_slow(self, message):
        time.sleep(message["seconds"])
    def on_fail(self, message):
        from synthnb.errors import ConfigError
        raise ConfigError("no such thing", hint="take another")
    def on_rows(self, message):
        return {"rows": [f"row {i}" for i in range(message["start"], message["end"])]}
probe = Probe()
probe
"""
PROBE = """
export default { render({ model, el }) {
  const link = channel(model);
  const list = new VirtualList({ rowHeight: 24, label: "rows",
    row: (e, i, record) => { e.textContent = record ?? "…"; },
    fetch: (start, end) => link.ask("rows", { start, end }).then((a) => a.rows) });
  const root = h("div", { class: "snb" }, h("p", { text: "<img src=x onerror=window.hit=1>\\u202e" }), list.element);
  guard(root);
  list.element.style.setProperty("height", "240px");
  el.appendChild(root);
  list.setTotal(2_000_000);
  Object.assign(window, { link, list, probeRoot: root });
  return () => { link.close(); list.close(); };
} };
"""


def test_views_ask_and_are_answered(notebook):
    nb = notebook(VIEW)
    Path(nb.path.parent / "probe.js").write_text(PROBE)
    nb.run(0)
    nb.until("window.link !== undefined")
    page = nb.page
    # In order, by one thread.
    sums = page.evaluate(
        "() => Promise.all([1, 2, 3].map(n => link.ask('add', { n })))"
    )
    assert [one["sum"] for one in sums] == [1, 3, 6]
    assert {one["thread"].split("_")[0] for one in sums} == {"synthnb-Probe"}
    said = page.evaluate(
        "() => link.ask('fail').catch(e => [e.name, e.message, e.hint])"
    )
    assert said[1:] == ["no such thing", "take another"]
    unknown = page.evaluate("() => link.ask('nothing').catch(e => e.message)")
    assert "no operation" in unknown
    # A kernel that does not answer is noticed, and noticed to be back.
    stalls = page.evaluate(
        """() => new Promise(done => { const said = []; link.onStall(s => { said.push(s);
        if (!s) done(said); }); link.ask('slow', { seconds: 4 }); })"""
    )
    assert stalls == [True, False]


def test_the_list_reaches_every_row_of_two_million(notebook):
    nb = notebook(VIEW)
    Path(nb.path.parent / "probe.js").write_text(PROBE)
    nb.run(0)
    rows = nb.page.locator(".snb-list-row")
    nb.until("document.querySelector('.snb-list-row')?.textContent === 'row 0'")
    assert rows.count() < 40
    assert rows.first.get_attribute("aria-setsize") == "2000000"
    for index in (1_999_999, 1_000_000, 7, 1_234_567):
        nb.page.evaluate("(i) => list.select(i)", index)
        nb.until(
            f"document.querySelector('.snb-list-row[aria-selected=true]')?.textContent === 'row {index}'"
        )
        seen = nb.page.evaluate(
            """() => { const r = document.querySelector('.snb-list-row[aria-selected=true]').getBoundingClientRect(),
            b = list.element.getBoundingClientRect(); return r.top >= b.top - 1 && r.bottom <= b.bottom + 1 }"""
        )
        assert seen, index
        assert rows.count() < 40


def test_text_stays_text_and_keys_stay_in_the_view(notebook):
    nb = notebook(VIEW, "1")
    Path(nb.path.parent / "probe.js").write_text(PROBE)
    nb.run(0)
    nb.until("window.probeRoot !== undefined")
    assert "<img" in nb.page.locator(".snb p").inner_text()
    assert "U+202E" in nb.page.locator(".snb p").inner_text()
    assert nb.page.evaluate("() => window.hit === undefined")
    before = nb.sources()
    nb.page.evaluate("() => probeRoot.focus()")
    for key in ("a", "b", "d", "d", "x", "z", "m", "y", "Shift+Enter", "Control+Enter"):
        nb.page.keyboard.press(key)
    assert nb.sources() == before
