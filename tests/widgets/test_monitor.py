"""The monitor's view without a kernel: what is sent, when, and what the clicks do."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref

import pytest
from IPython.core.interactiveshell import InteractiveShell

from synthnb.engine.progress import State
from synthnb.errors import AuthError
from synthnb.pipeline import generate
from synthnb.widgets import monitor as module
from synthnb.widgets.monitor import Monitor, MonitorView, show
from synthnb.widgets.monitor_model import MonitorModel


def rows(n):
    return [{"text": f"t{i}"} for i in range(n)]


class Page:
    """A front end that keeps what it is told."""

    def __init__(self, view: MonitorView):
        self.told, self.view = [], view
        view.push = lambda op, **content: self.told.append((op, content))
        answer = view.on_open({})
        self.number, self.run = answer["number"], dict(answer["all"])

    def hear(self) -> int:
        """Take the updates; return how many there were."""
        told, self.told = self.told, []
        self.view.push = lambda op, **content: self.told.append((op, content))
        for op, update in told:
            assert op == "state"
            assert update["number"] == self.number + 1
            self.number += 1
            self.run |= update["changes"]
        return len(told)


class Slow:
    """Answers that come when the test lets them."""

    def __init__(self):
        self.let_go = asyncio.Event()

    def __call__(self, text):
        return self._later()

    async def _later(self):
        await self.let_go.wait()
        return "word"


async def until(condition):
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.001)


@pytest.fixture
def displays(monkeypatch):
    """What is shown in cells, and how it is changed later."""
    shown = []

    class Handle:
        def display(self, bundle, raw):
            self.bundles = [bundle]
            shown.append(self)

        def update(self, bundle, raw):
            self.bundles.append(bundle)

    monkeypatch.setattr(module, "DisplayHandle", Handle)
    monkeypatch.setattr(module, "_in_kernel", lambda: True)
    return shown


async def test_a_page_that_listens_knows_all_that_a_new_one_is_told(echo, puppet):
    async def answer():
        await asyncio.sleep(0.001)
        return "word"

    run = generate(echo(), rows(300), puppet(lambda _: answer()), name="page")
    view = MonitorView(run, MonitorModel(run))
    page = Page(view)
    while not run.state.is_final:
        view.update()
        await asyncio.sleep(0.01)
    view.update()
    assert page.hear() > 3
    whole = view.on_sync({})
    assert page.number == whole["number"]
    assert page.run == whole["all"]
    assert page.run["block"][0] == "div"


async def test_nothing_is_sent_when_nothing_changed(echo, puppet):
    slow = Slow()
    run = generate(echo(), rows(3), puppet(slow), name="still")
    await until(lambda: run.progress.in_flight == 3)
    model = MonitorModel(run, clock=lambda: run.progress.started + 30)
    view = MonitorView(run, model)
    page = Page(view)
    view.update()
    page.hear()
    for _ in range(10):
        view.update()
    assert page.hear() == 0
    slow.let_go.set()
    await run
    view.update()
    assert page.hear() == 1


async def test_nothing_is_sent_before_a_page_is_open(echo, puppet):
    run = generate(echo(), rows(3), puppet(), name="nobody")
    view = MonitorView(run, MonitorModel(run))
    view.push = lambda *_, **__: pytest.fail("sent to nobody")
    view.update()
    await run
    view.update()


async def test_pause_resume_and_stop_reach_the_run_from_another_thread(echo, puppet):
    async def answer():
        await asyncio.sleep(0.001)
        return "word"

    run = generate(echo(), rows(5000), puppet(lambda _: answer()), name="clicks")
    view = MonitorView(run, MonitorModel(run))
    await until(lambda: run.progress.done > 5)
    await asyncio.to_thread(view.on_pause, {})
    await until(lambda: run.state is State.PAUSED)
    await asyncio.to_thread(view.on_resume, {})
    await until(lambda: run.state is State.RUNNING)
    await asyncio.to_thread(view.on_stop, {"now": False})
    await run
    assert run.state is State.STOPPED
    assert 5 < run.progress.done < 5000


async def test_only_a_page_that_knows_of_the_stop_can_drop_what_is_in_flight(
    echo, puppet
):
    slow = Slow()
    run = generate(echo(), rows(20), puppet(slow), name="twice")
    view = MonitorView(run, MonitorModel(run))
    await until(lambda: run.progress.in_flight == 8)
    view.on_stop({"now": False})
    view.on_stop({"now": False})  # a second page, or a double click
    await asyncio.sleep(0.02)
    assert run.state is State.STOPPING
    assert run.progress.in_flight == 8
    view.on_stop({"now": True})
    await run
    assert run.state is State.STOPPED
    assert run.progress.answers == 0


async def test_the_end_is_shown_before_the_awaiting_cell_goes_on(
    echo, puppet, displays
):
    run = generate(echo(), rows(20), puppet(), name="end")
    show(run)
    await run.finished()
    live, static = displays[0].bundles
    assert "application/vnd.jupyter.widget-view+json" in live
    assert "Run the cell again" in live["text/html"]
    assert "application/vnd.jupyter.widget-view+json" not in static
    assert "20 wanted, 20 ok, 0 failed" in static["text/html"]
    assert static["text/plain"].startswith("Run 'end': done in 0:0")


async def test_every_output_of_a_run_gets_the_end_and_a_late_one_is_static(
    echo, puppet, displays
):
    run = generate(echo(), rows(20), puppet(), name="two")
    show(run)
    show(run)
    await run
    show(run)
    first, second, late = displays
    assert first.bundles[1] == second.bundles[1] == late.bundles[0]
    assert len(late.bundles) == 1
    assert first.bundles[0].keys() - second.bundles[0].keys() == set()


async def test_an_error_is_shown_with_its_reason(echo, puppet, displays):
    run = generate(echo(), rows(3), puppet(lambda _: AuthError("refused", hint="do x")))
    show(run)
    with pytest.raises(AuthError):
        await run
    html = displays[0].bundles[-1]["text/html"]
    assert "ended by an error" in html
    assert "refused" in html
    assert "→ do x" in html


async def test_a_page_opened_after_the_end_is_told_of_it(echo, puppet, displays):
    run = generate(echo(), rows(20), puppet(), name="reopened")
    monitor = Monitor(run)
    monitor.show()
    await run
    answer = monitor.view.on_open({})
    assert answer["all"]["final"]
    assert answer["all"]["block"][0] == "div"
    for click in (monitor.view.on_pause, monitor.view.on_resume, monitor.view.on_stop):
        click({})  # a page that is late


async def test_an_ended_run_holds_no_thread_and_still_answers(echo, puppet, displays):
    def threads():
        return [t for t in threading.enumerate() if "onitor" in t.name]

    assert not threads()
    run = generate(echo(), rows(5), puppet(), name="threads")
    show(run)
    view = module._monitors[run].view
    sent = []
    view.send = sent.append
    view.receive({"op": "open", "ask": "a"})
    await until(lambda: sent)
    assert threads()
    await run
    await until(lambda: not threads())
    view.receive({"op": "open", "ask": "b"})
    await until(lambda: sent[-1].get("re") == "b")
    assert sent[-1]["all"]["final"]


async def test_a_finished_run_is_let_go(echo, puppet, displays):
    run = generate(echo(), rows(5), puppet(), name="gone")
    show(run)
    await run
    gone = weakref.ref(run)
    del run
    await until(lambda: gc.collect() >= 0 and gone() is None)


async def test_the_watcher_survives_an_interrupt_meant_for_a_cell(
    echo, puppet, displays
):
    slow = Slow()
    run = generate(echo(), rows(3), puppet(slow), name="hit")
    monitor = Monitor(run)
    first = monitor._task
    await asyncio.sleep(0)
    first.cancel()
    await until(lambda: monitor._task is not first)
    assert not monitor._task.done()
    slow.let_go.set()
    await run
    await until(monitor._task.done)


async def test_a_terminals_ipython_gets_text(echo, puppet, displays, monkeypatch):
    monkeypatch.setattr(module, "_in_kernel", lambda: False)
    run = generate(echo(), rows(5), puppet(), name="terminal")
    show(run)
    assert displays[0].bundles[0]["text/plain"].startswith("Run 'terminal': ")
    assert "application/vnd.jupyter.widget-view+json" not in displays[0].bundles[0]
    await run


def test_an_old_kernel_says_when_clicks_take_effect(monkeypatch):
    for version, late in (("6.31.0", True), ("7.0.1", False), ("10.2", False)):
        monkeypatch.setattr(module, "version", lambda _, version=version: version)
        assert module._clicks_come_late() is late


def test_a_shell_is_taught_how_to_show_a_run(monkeypatch):
    shell = InteractiveShell()
    monkeypatch.setattr(module, "get_ipython", lambda: shell)
    module.register_formatter()
    formatter = shell.display_formatter.ipython_display_formatter
    assert formatter.lookup_by_type(module.Run) is show
