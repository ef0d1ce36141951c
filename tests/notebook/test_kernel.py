"""What a person at a notebook relies on, in a real ipykernel."""

from __future__ import annotations

import os
import signal
import time

import pytest

pytestmark = [pytest.mark.notebook, pytest.mark.timeout(180)]

SETUP = """
import synthnb as sn
provider = sn.Provider({url!r}, model="fault-model")
recipe = sn.Prompt("Say {{{{ text }}}}")
limits = sn.Limits(max_concurrency=4)
def start(n=200, name="run"):
    rows = [{{"text": f"#R{{i}}#"}} for i in range(n)]
    return sn.generate(recipe, rows, provider, name=name, limits=limits)
"""


@pytest.fixture
def ready(kernel, server):
    cell = kernel.run(SETUP.format(url=server.base_url))
    assert cell.status == "ok", cell.error
    return kernel


def test_the_cell_returns_at_once_and_other_cells_work(ready):
    shown = ready.run("run = start(); run")
    assert "Run 'run'" in shown.displays[0]["text/plain"]
    assert "200 wanted" in shown.displays[0]["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in shown.displays[0]
    first = int(ready.run("print(run.progress.done)").text)
    assert first < 200
    assert ready.run("df = await run; print(len(df), run.state)").text == "200 done\n"


def test_a_run_that_ended_is_shown_as_a_static_block(ready):
    ready.run("run = start(100); run")
    # With no front end nothing but the end is sent, and that while the cell awaits it:
    # where it is the last cell, the kernel may be gone a moment later.
    cell = ready.run("df = await run")
    (update,) = cell.updates
    assert "100 wanted, 100 ok, 0 failed" in update["text/html"]
    assert update["text/plain"].startswith("Run 'run': done in 0:0")
    assert "application/vnd.jupyter.widget-view+json" not in update
    (again,) = ready.run("run").displays
    assert again == update
    assert not ready.later(1.0).updates


def test_a_run_that_ended_by_an_error_says_why_where_it_is_shown(ready, server):
    cell = ready.run(
        "run = sn.generate(recipe, [{'text': 'a'}], sn.Provider(provider.base_url, "
        "model='fault-model'), name='bad', limits=sn.Limits(max_connect_failures=1, "
        "retry={'base_seconds': 0.01}))\nrun.pause(); run"
    )
    assert cell.status == "ok", cell.error
    # Connected: what is killed while it is asked for its models ends in another way.
    connected = ready.run(
        "import asyncio\nwhile run.state != 'paused': await asyncio.sleep(0.01)"
    )
    assert connected.status == "ok", connected.error
    os.kill(server.pid, signal.SIGKILL)
    cell = ready.run("run.resume(); await run")
    assert cell.error.startswith("ConnectError")
    html = cell.updates[-1]["text/html"]
    assert "ended by an error" in html
    assert "the same cell goes on from here" in html


def test_wait_works_in_a_running_loop_and_nests_only_then(ready):
    code = "import sys; print('nest_asyncio' in sys.modules)"
    ready.run("run = start(50)")
    assert ready.run(code).text == "False\n"
    assert ready.run("print(len(run.wait()))").text == "50\n"
    assert ready.run(code).text == "True\n"
    assert ready.run("print(len(await start(50, 'second')))").text == "50\n"


def test_an_interrupt_ends_the_awaiting_cell_and_the_run_stays_resumable(ready, server):
    ready.run("run = start(2000)")
    sent = ready.send("await run")
    time.sleep(0.5)
    ready.manager.interrupt_kernel()
    before = time.monotonic()
    cell = ready.collect(sent)
    assert cell.status == "error"
    assert "CancelledError" in cell.error or "KeyboardInterrupt" in cell.error
    assert time.monotonic() - before < 5
    state = ready.run(
        "await run.finished()\nimport asyncio\n"
        "print(run.state, run.progress.in_flight, run.progress.done)"
    ).text.split()
    assert state[:2] == ["stopped", "0"]
    bought = server.stats()["requests"]
    assert int(state[2]) == bought < 2000
    assert ready.run("print(len(await start(300)))").text == "300\n"
    assert server.stats()["requests"] == max(bought, 300)


def test_a_killed_kernel_loses_nothing_and_buys_nothing_again(ready, server):
    ready.run("run = start(400)")
    while int(ready.run("print(run.progress.saved)").text) < 100:
        time.sleep(0.05)
    ready.manager.signal_kernel(9)
    deadline = time.monotonic() + 10
    while ready.manager.is_alive() and time.monotonic() < deadline:
        time.sleep(0.05)
    bought = server.stats()["requests"]
    ready.client.stop_channels()
    ready.manager.cleanup_resources()
    ready.manager = type(ready.manager)(kernel_name="python3")
    ready.start()
    ready.run(SETUP.format(url=server.base_url))
    text = ready.run(
        "df = await start(400); print(len(df), df['status'].unique())"
    ).text
    assert text.startswith("400 ")
    again = server.stats()["requests"] - 400
    assert again <= 4 + 256
    assert bought < 400


def test_errors_surface_in_the_cell_that_caused_them(ready):
    cell = ready.run("sn.generate(recipe, [{'texts': 1}], provider)")
    assert cell.error.startswith("FrameError")
    assert "Did you mean 'texts'" in cell.error
    cell = ready.run("sn.generate(recipe, ['a'], sn.Provider('http://127.0.0.1:9'))")
    assert cell.error.startswith("ConnectError")
    assert "→" in cell.error


def test_a_second_kernel_is_refused_with_the_owner(ready, server, tmp_path):
    from synthnb.store import RunStore

    ready.run("run = start(2000); import os")
    pid = ready.run("print(os.getpid())").text.strip()
    with pytest.raises(Exception, match=f"in use by process {pid} on"):
        RunStore(tmp_path / "runs" / "run").open()
    ready.run("run.stop()")


def test_reading_many_files_shows_where_it_is(kernel, tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    for number in range(30):
        (folder / f"{number}.txt").write_text("A sentence about a river. " * 100)
    patient = "import synthnb.widgets.reading as r; r._SECONDS = 0"
    assert kernel.run(patient).status == "ok"
    cell = kernel.run("import synthnb as sn; c = sn.read('texts'); print(len(c) > 30)")
    assert cell.text == "True\n"
    assert cell.displays
    assert cell.updates[-1]["text/plain"] == "30 of 30 files read"


def test_rating_shows_its_progress(ready):
    code = (
        "import pandas as pd\n"
        "df = pd.DataFrame({'record_id': ['a'], 'question': ['q?'], 'answer': ['x']})\n"
        "rated = await sn.rate(df, provider, name='judge')\n"
        "print(rated['rating'].notna().all())"
    )
    cell = ready.run(code)
    assert cell.text == "True\n", cell.error
    assert "Run 'judge'" in cell.displays[0]["text/plain"]
