"""What a run shows in JupyterLab, and that it goes on whatever happens to the page."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest

from synthnb.testing import fault_process

SETUP = """
import asyncio, time
import synthnb as sn
provider = sn.Provider({url!r}, model="fault-model")
limits = sn.Limits(max_concurrency=4)
def start(n=200, name="run", **more):
    rows = [{{"text": f"#R{{i}}#"}} for i in range(n)]
    recipe = sn.Prompt("Say {{{{ text }}}}")
    return sn.generate(recipe, rows, provider, name=name, limits=limits, **more)
"""
LIVE = ".snb-run-live"
STATE = ".snb-run-state"
SHOW_IT = "run = start(2000); run"
IDLE = "jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'idle'"


@pytest.fixture(scope="module")
def url():
    """A fault server, 100 ms an answer: with four at a time, 40 answers a second."""
    faults = ["--fault", '{"what": "length", "contains": "#R7#"}']
    with fault_process("--latency", "0.1", "--max-seconds", "900", *faults) as server:
        yield server.base_url


@pytest.fixture
def ready(notebook, url):
    """Open a notebook whose first cell has been run."""

    def opened(*cells):
        nb = notebook(SETUP.format(url=url), *cells)
        nb.run(0)
        return nb

    return opened


def done(nb, cell=1) -> int:
    """Return how many rows the page says are done."""
    text = nb.cell(cell).locator(".snb-run-progress").inner_text()
    return int(text.split(" of ")[0].replace(",", ""))


def until_more(nb, than, cell=1):
    end = time.monotonic() + 20
    while done(nb, cell) <= than and time.monotonic() < end:
        time.sleep(0.05)
    assert done(nb, cell) > than


def until_state(nb, word):
    nb.until(f"document.querySelector('{STATE}')?.textContent === '{word}'")


def press(nb, name):
    button = nb.page.get_by_role("button", name=name, exact=True)
    nb.until(
        f"[...document.querySelectorAll('{LIVE} button')].some(b => "
        f"b.textContent === '{name}' && b.getAttribute('aria-disabled') !== 'true')"
    )
    button.click()


def until_text(nb, cell, text):
    nb.until(
        f"document.querySelectorAll('.jp-Notebook .jp-Cell')[{cell}]"
        f".textContent.includes({json.dumps(text)})"
    )


def test_the_counters_move_and_the_kernel_is_free(ready):
    nb = ready(SHOW_IT, "print(6 * 7)")
    nb.run(1)
    until_more(nb, 0)
    first = done(nb)
    nb.run(2)
    assert nb.outputs(2)[0]["text"] == "42\n"
    until_more(nb, first)
    live = nb.cell(1).locator(LIVE)
    for part in ("run · prompt · fault-model", "tokens/s", "in flight of 4", "0 retries",
                 "last answer", "answers/s", "1 truncated", "latest answer"):  # fmt: skip
        until_text(nb, 1, part)
    assert live.locator(STATE).get_attribute("role") == "status"
    live.locator("summary").click()
    assert "Raise max_tokens in the recipe" in live.inner_text()
    nb.python("run.stop()")


def test_the_buttons_work_while_another_cell_runs(ready):
    nb = ready(SHOW_IT, "for _ in range(600):\n    await asyncio.sleep(0.1)")
    nb.run(1)
    until_more(nb, 0)
    nb.run(2, wait=False)
    nb.until(f"!({IDLE})")
    press(nb, "Pause")
    until_state(nb, "paused")
    until_text(nb, 1, "Nothing is sent.")
    held = done(nb)
    press(nb, "Resume")
    until_more(nb, held)
    press(nb, "Stop")
    nb.until("document.body.textContent.includes('the same cell goes on from here')")
    assert nb.page.evaluate(f"() => !({IDLE})"), "the other cell was to go on"
    assert "stopped after" in nb.outputs(1)[0]["data"]["text/plain"]
    nb.interrupt()


def test_the_buttons_work_while_a_cell_awaits_the_run(ready):
    nb = ready(SHOW_IT, "df = await run; print(len(df), run.state)")
    nb.run(1)
    nb.run(2, wait=False)
    until_more(nb, 0)
    press(nb, "Pause")
    until_state(nb, "paused")
    press(nb, "Resume")
    until_state(nb, "running")
    press(nb, "Stop")
    nb.page.evaluate("() => window.ran.then(() => true)")
    assert nb.outputs(2)[0]["text"].endswith("stopped\n")


def test_a_second_stop_drops_what_is_in_flight_and_says_so(notebook):
    hang = ["--fault", '{"what": "hang"}']
    with fault_process("--max-seconds", "200", *hang) as server:
        nb = notebook(SETUP.format(url=server.base_url), SHOW_IT)
        nb.run(0)
        nb.run(1)
        until_text(nb, 1, "4 in flight of 4")
        press(nb, "Stop")
        until_text(nb, 1, "Stop now drops them: they are paid for again later.")
        press(nb, "Stop now")
        until_text(nb, 1, "the same cell goes on from here")
        assert nb.python("print(run.state, run.progress.in_flight)") == "stopped 0\n"


def test_an_interrupt_ends_the_awaiting_cell_at_once_and_the_run_drains(ready):
    nb = ready(SHOW_IT, "df = await run", "df = await start(60); print(len(df))")
    nb.run(1)
    nb.run(2, wait=False)
    until_more(nb, 10)
    seconds = nb.page.evaluate(
        """() => { const began = performance.now();
        return Promise.all([window.ran, jupyterapp.shell.currentWidget.sessionContext
          .session.kernel.interrupt()]).then(() => (performance.now() - began) / 1000); }"""
    )
    assert nb.outputs(2)[0]["output_type"] == "error"
    assert seconds < 5, (
        seconds
    )  # 0.5 s on a quiet machine; 8 s without the engine's ticks
    until_text(nb, 1, "the same cell goes on from here")
    code = (
        "mine = [t for t in asyncio.all_tasks() if 'synthnb' in repr(t.get_coro())]\n"
        "print(run.state, run.progress.in_flight, len(mine))"
    )
    assert nb.python(code) == "stopped 0 0\n"
    nb.run(3)
    assert nb.outputs(3)[0]["text"] == "60\n"


def test_a_reloaded_page_catches_up_and_a_second_tab_sees_the_same(ready):
    nb = ready(SHOW_IT)
    nb.run(1)
    until_more(nb, 0)
    nb.save()
    nb.reload()
    until_more(nb, 0)
    before = done(nb)
    second = type(nb)(nb.lab, nb.path)
    until_more(second, before)
    press(second, "Pause")
    until_state(second, "paused")
    until_state(nb, "paused")
    press(nb, "Stop")
    for tab in (second, nb):
        until_text(tab, 1, "the same cell goes on from here")
    second.page.close()


def test_a_page_that_was_closed_shows_the_end_when_it_is_opened_again(ready):
    nb = ready("run = start(150); run")
    nb.run(1)
    until_more(nb, 0)
    nb.save()
    nb.page.close()
    again = type(nb)(nb.lab, nb.path)
    assert again.python("await run.finished(); print(run.state)") == "done\n"
    again.reload()
    # What was saved is the view, and the kernel tells the view of the end.
    assert set(again.outputs(1)[0]["data"]) > {
        "application/vnd.jupyter.widget-view+json"
    }
    until_text(again, 1, "150 wanted, 149 ok, 1 failed")
    assert again.cell(1).locator(LIVE).count() == 0
    again.close()


def test_a_dropped_connection_is_caught_up_with(ready):
    nb = ready(SHOW_IT)
    nb.run(1)
    until_more(nb, 0)
    nb.page.evaluate(
        """() => { const kernel = jupyterapp.shell.currentWidget.sessionContext.session.kernel;
        window.dropped = 0;
        kernel.connectionStatusChanged.connect((_, s) => { if (s !== 'connected') window.dropped += 1 });
        kernel._ws.close(); kernel._ws.onclose(new CloseEvent('close')); }"""
    )
    nb.until("window.dropped > 0")
    before = done(nb)
    until_more(nb, before + 20)
    press(nb, "Stop")
    until_text(nb, 1, "the same cell goes on from here")


def test_updates_that_were_lost_are_asked_for(ready):
    nb = ready("run = start(150); run")
    nb.run(1)
    until_more(nb, 0)
    # The kernel's next messages reach nobody, the last one among them.
    nb.python(
        "from synthnb.widgets.monitor import _monitors\n"
        "v = _monitors[run].view; push = v.push\n"
        "v.push = lambda *a, **k: None; _monitors[run]._handles.clear()"
    )
    assert nb.python("await run.finished(); print(run.state)") == "done\n"
    until_text(nb, 1, "150 wanted, 149 ok, 1 failed")


def test_run_all_waits_at_the_await(ready):
    nb = ready("run = start(60); run", "df = await run", "print(len(df), run.state)")
    nb.run_all()
    assert nb.outputs(3)[0]["text"] == "60 done\n"
    assert "60 wanted, 59 ok, 1 failed" in nb.outputs(1)[0]["data"]["text/html"]


def test_after_a_restart_the_same_cell_shows_what_is_there_and_goes_on(ready, url):
    nb = ready("run = start(150); run", "df = await run; print(run.progress.requests)")
    nb.run(1)
    until_more(nb, 40)
    nb.restart()
    until_text(nb, 1, "kernel gone")
    until_text(nb, 1, "Run the cell again: it goes on from what was saved.")
    nb.run(0)
    nb.run(1)
    until_text(nb, 1, "answers from the ledger")
    nb.run(2)
    assert int(nb.outputs(2)[0]["text"]) < 120
    assert "150 wanted, 149 ok, 1 failed" in nb.outputs(1)[0]["data"]["text/html"]


def test_a_kernel_that_computes_is_said_to_be_busy_and_nothing_is_wrong_after(ready):
    nb = ready(SHOW_IT, "time.sleep(12)")
    nb.run(1)
    until_more(nb, 0)
    nb.run(2, wait=False)
    until_text(nb, 1, "The kernel is busy with a cell; the run waits for it.")
    assert "stalled" not in nb.cell(1).inner_text()
    nb.page.evaluate("() => window.ran.then(() => true)")
    until_more(nb, done(nb))
    text = nb.cell(1).inner_text()
    assert "stalled" not in text
    assert "busy" not in text
    nb.python("run.stop()")


def test_a_run_that_ends_by_an_error_says_so_in_word_and_colour(notebook):
    auth = ["--require-key", "right"]
    with fault_process("--latency", "0.05", "--max-seconds", "200", *auth) as server:
        nb = notebook(SETUP.format(url=server.base_url), SHOW_IT, "await run")
        nb.run(0)
        nb.run(1)
        nb.run(2)
        assert nb.outputs(2)[0]["output_type"] == "error"
        until_text(nb, 1, "ended by an error")
        text = nb.cell(1).inner_text()
        assert "→" in text
        assert "the same cell goes on from here" in text


WATCH_HEIGHT = """() => {
  const area = document.querySelectorAll('.jp-Notebook .jp-Cell')[1].querySelector('.jp-Cell-outputWrapper');
  window.heights = new Set(); let after = 0;
  const look = () => {
    if (area.querySelector('.snb-run-live, .snb-run')) heights.add(Math.round(area.getBoundingClientRect().height));
    if (area.querySelector('.snb-run')) after += 1;
    if (after < 30) requestAnimationFrame(look); else window.watched = true;
  };
  look();
}"""


def test_nothing_jumps_while_it_lives_and_when_it_ends(ready):
    nb = ready("run = start(60); run")
    nb.run(1)
    nb.page.evaluate(WATCH_HEIGHT)
    nb.until("window.watched")
    heights = nb.page.evaluate("() => [...heights]")
    assert max(heights) - min(heights) <= 12, heights


def test_the_saved_notebook_is_small_and_says_it_without_a_widget(ready):
    nb = ready("run = start(60); run", "df = await run")
    nb.run(1)
    nb.run(2)
    until_text(nb, 1, "60 wanted")
    saved = nb.save()
    assert nb.path.stat().st_size < 100_000  # with the widget state, which is a setting
    (output,) = saved["cells"][1]["outputs"]
    assert set(output["data"]) == {"text/plain", "text/html"}
    words = re.sub("<[^>]*>", " ", "".join(output["data"]["text/html"]))
    assert "60 wanted, 59 ok, 1 failed" in words
    nb.reload()
    until_text(nb, 1, "60 wanted, 59 ok, 1 failed")


def test_rating_shows_its_own_run(ready):
    nb = ready(
        "import pandas as pd\n"
        "df = pd.DataFrame({'record_id': ['a'], 'question': ['q?'], 'answer': ['x']})\n"
        "rated = await sn.rate(df, provider, name='judge')"
    )
    nb.run(1)
    until_text(nb, 1, "judge · judge · fault-model")
    assert "done in" in nb.outputs(1)[0]["data"]["text/plain"]


HOSTILE = """
import asyncio, importlib.util
import synthnb as sn
from synthnb.errors import RequestRefusedError, ServerError
from synthnb.records import Completion
spec = importlib.util.spec_from_file_location("hostile", {path!r})
hostile = importlib.util.module_from_spec(spec); spec.loader.exec_module(hostile)
texts = list(hostile.STRINGS)
class Client:
    model, endpoint, default_concurrency = texts[0], texts[1], 1
    async def complete(self, request):
        await asyncio.sleep(0.1)
        number = int(request.messages[-1].content)
        if number % 3 == 0:
            raise RequestRefusedError(texts[number])
        return Completion(texts[number])
    async def aclose(self): pass
rows = [{{"text": str(i), "record_id": texts[i][:200]}} for i in range(len(texts))]
run = sn.generate(sn.Prompt("{{{{ text }}}}"), rows, Client(), name="hostile")
run
"""


def test_hostile_texts_are_only_shown(notebook):
    nb = notebook(HOSTILE.format(path=str(Path(__file__).with_name("hostile.py"))))
    nb.run(0)
    nb.until(
        f"document.querySelector('{LIVE} details')?.textContent.includes('refused')"
    )
    nb.cell(0).locator(f"{LIVE} summary").click()
    wide = 0
    while not nb.page.evaluate("() => document.querySelector('.snb-run') !== null"):
        wide = max(
            wide,
            nb.page.evaluate(
                f"() => {{ const e = document.querySelector('{LIVE}');"
                " return e ? e.scrollWidth - e.clientWidth : 0 }"
            ),
        )
    assert wide <= 1
    assert nb.page.evaluate("() => window.hit === undefined")
    for summary in nb.cell(0).locator(".snb-run summary").all():
        summary.click()
    text = nb.cell(0).locator(".snb-run").inner_text()
    assert "<script>window.hit=1</script>" in text
    assert nb.page.evaluate(
        "() => { const e = document.querySelector('.snb-run');"
        " return e.scrollWidth - e.clientWidth <= 1 }"
    )
    assert "<script" not in nb.outputs(0)[0]["data"]["text/html"]
    assert nb.page.evaluate("() => window.hit === undefined")
