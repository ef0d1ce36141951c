"""What the monitor knows of a run, without a kernel: fake clocks, puppet clients."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from synthnb.config import Limits, Retry
from synthnb.engine.events import Answered, Held, StateChanged
from synthnb.engine.progress import Progress, State
from synthnb.errors import AuthError, RateLimitError, ServerError
from synthnb.pipeline import generate
from synthnb.recipes.base import Parsed
from synthnb.records import Status
from synthnb.widgets.monitor_model import MonitorModel, _folder


class Scene:
    """A run that does what the test says, and a clock that the test turns."""

    def __init__(self, wanted=100, fields=("question", "answer")):
        self.now = 1000.0
        self.progress = Progress(wanted=wanted, started=self.now, limit=8)
        self.state, self.error = State.RUNNING, None
        self.name, self.model, self.is_local = "handbook", "tiny", False
        self.recipe = SimpleNamespace(step="qa", fields=fields)
        self.folder = Path.cwd() / "runs" / "handbook"
        self.listeners = []
        self.model_of_view = MonitorModel(self, clock=lambda: self.now)

    def subscribe(self, listener):
        self.listeners.append(listener)
        return lambda: self.listeners.remove(listener)

    def emit(self, event):
        for listener in tuple(self.listeners):
            listener(event)

    def wait(self, seconds, step=0.25):
        """Let time pass with the view's looks at it."""
        end = self.now + seconds
        while self.now < end:
            self.now = min(end, self.now + step)
            self.model_of_view.observe()

    def answer(self, item=None, tokens=10, status="ok", detail=""):
        self.progress.answers += 1
        self.progress.last_answer = self.now
        self.progress.completion_tokens += tokens
        self.progress.requests += 1
        self.progress.count({status: 1}, f"row-{self.progress.answers}", detail)
        items = (item or {"question": "q", "answer": "a"},) if status == "ok" else ()
        parsed = Parsed(Status(status), items, detail=detail)
        self.emit(Answered(f"row-{self.progress.answers}", parsed))

    def to(self, state):
        self.state = state
        self.emit(StateChanged(state))

    def seen(self):
        self.model_of_view.observe()
        return self.model_of_view.snapshot()


@pytest.fixture
def scene():
    return Scene()


def test_a_snapshot_is_small_json(scene):
    scene.progress.in_flight = 6
    for _ in range(40):
        scene.wait(1)
        scene.answer({"question": "x" * 10_000, "answer": "y\n" * 10_000})
        scene.answer(status="schema", detail="z" * 10_000)
    seen = scene.seen()
    assert len(json.dumps(seen)) < 4000
    assert seen["peek"][0] == ["question", "x" * 199 + "…"]
    assert "\n" not in seen["peek"][1][1]
    assert (seen["name"], seen["recipe"], seen["model"]) == ("handbook", "qa", "tiny")
    assert (seen["in_flight"], seen["limit"]) == (6, 8)
    assert seen["folder"] == "runs/handbook"


def test_statuses_say_in_word_and_kind_what_they_are_worth(scene):
    for status in ("timeout", "ok", "no_json", "rate_limited", "truncated", "ok"):
        scene.answer(status=status)
    assert [(s["name"], s["count"], s["kind"]) for s in scene.seen()["statuses"]] == [
        ("ok", 2, "ok"),
        ("truncated", 1, "attention"),
        ("no JSON", 1, "attention"),
        ("rate limited", 1, "error"),
        ("timeout", 1, "error"),
    ]


def test_failures_are_grouped_with_one_example_and_the_next_step(scene):
    scene.answer(status="context", detail="too long")
    scene.answer(status="server", detail="closed")
    scene.answer(status="server", detail="closed too")
    first, second = scene.seen()["troubles"]
    assert (first["name"], first["count"]) == ("server", 2)
    assert (first["detail"], first["row_id"]) == ("closed", "row-2")
    assert "server's log" in first["next_step"]
    assert second["name"] == "context"


class TestPace:
    def test_nothing_is_estimated_before_anything_is_known(self, scene):
        scene.wait(5)
        scene.answer()
        assert scene.seen()["eta"] is None

    def test_the_time_left_follows_the_latest_pace(self, scene):
        scene.progress.wanted = 2000
        for _ in range(200):
            scene.wait(0.5)
            scene.answer()
        assert scene.seen()["eta"] == pytest.approx(900, rel=0.05)
        for _ in range(700):
            scene.wait(0.1)
            scene.answer()
        assert scene.seen()["eta"] == pytest.approx(110, rel=0.1)

    def test_an_iterator_of_unknown_length_has_no_end(self):
        scene = Scene(wanted=None)
        for _ in range(20):
            scene.wait(1)
            scene.answer()
        seen = scene.seen()
        assert (seen["eta"], seen["wanted"], seen["done"]) == (None, None, 20)

    def test_rows_of_the_ledger_are_no_pace(self, scene):
        scene.progress.wanted = 10_000
        scene.wait(0.25)
        scene.progress.resumed += 5000
        scene.progress.by_status["ok"] += 5000
        for _ in range(30):
            scene.wait(1)
            scene.answer()
        assert scene.seen()["eta"] == pytest.approx(4970, rel=0.05)
        assert scene.seen()["resumed"] == 5000

    def test_tokens_a_second_are_those_of_the_last_seconds(self, scene):
        for _ in range(100):
            scene.wait(1)
            scene.answer(tokens=10)
        assert scene.seen()["speed"] == pytest.approx(10, rel=0.1)
        for _ in range(30):
            scene.wait(1)
            scene.answer(tokens=60)
        assert scene.seen()["speed"] == pytest.approx(60, rel=0.1)

    def test_a_pause_is_neither_slow_nor_stalled(self, scene):
        for _ in range(20):
            scene.wait(1)
            scene.answer()
        scene.to(State.PAUSED)
        scene.wait(600)
        assert scene.seen()["eta"] is None
        assert not scene.seen()["stalled"]
        scene.progress.in_flight = 4
        scene.to(State.RUNNING)
        scene.wait(1)
        assert not scene.seen()["stalled"]
        for _ in range(20):
            scene.wait(1)
            scene.answer()
        assert scene.seen()["eta"] == pytest.approx(60, rel=0.1)


class TestStall:
    def test_it_is_stalled_after_twenty_seconds_with_requests_out(self, scene):
        for _ in range(20):
            scene.wait(1)
            scene.answer()
        scene.progress.in_flight = 1
        scene.wait(19)
        assert not scene.seen()["stalled"]
        scene.wait(2)
        seen = scene.seen()
        assert seen["stalled"]
        assert seen["last"] == 21
        assert seen["eta"] is None
        scene.progress.in_flight = 0
        assert not scene.seen()["stalled"]

    def test_a_slow_model_is_not_stalled(self, scene):
        scene.progress.in_flight = 4
        for _ in range(10):
            scene.wait(30)
            for _ in range(4):  # four slots answer in one burst
                scene.answer()
        scene.wait(140)
        assert not scene.seen()["stalled"]
        scene.wait(20)
        assert scene.seen()["stalled"]

    def test_the_first_answer_may_take_longer(self, scene):
        scene.progress.in_flight = 4
        scene.wait(50)
        assert not scene.seen()["stalled"]
        scene.wait(20)
        assert scene.seen()["stalled"]
        assert scene.seen()["last"] is None

    def test_a_loop_that_stands_still_says_nothing_wrong(self, scene):
        scene.progress.in_flight = 4
        for _ in range(5):
            scene.wait(1)
            scene.answer()
        scene.now += 40  # a cell computes; nobody looks
        seen = scene.model_of_view.snapshot()
        assert seen["asleep"]
        assert not seen["stalled"]
        scene.wait(1)
        seen = scene.seen()
        assert not seen["asleep"]
        assert not seen["stalled"]
        scene.wait(25)
        assert scene.seen()["stalled"]


def test_why_the_pool_waits_is_said_as_long_as_it_does(scene):
    scene.emit(Held(12.0, RateLimitError("slow down")))
    assert scene.seen()["waiting"] == {"seconds": 10, "why": "slow down"}
    scene.wait(5)
    assert scene.seen()["waiting"]["seconds"] == 7
    scene.wait(8)
    assert scene.seen()["waiting"] is None


def test_a_note_of_the_engine_is_shown(scene):
    scene.progress.note = "waiting: no space left on the device"
    assert scene.seen()["note"] == "waiting: no space left on the device"


def test_an_error_comes_with_its_next_step(scene):
    scene.error = AuthError("key refused", hint="Give a valid key.")
    scene.progress.note, scene.progress.ended = "key refused", scene.now
    scene.to(State.ERROR)
    seen = scene.seen()
    assert seen["error"] == {"message": "key refused", "hint": "Give a valid key."}
    assert (seen["final"], seen["note"]) == (True, "")
    scene.error = KeyError("x")
    error = scene.seen()["error"]
    assert error["message"] == "KeyError: 'x'"
    assert "same cell" in error["hint"]


def test_a_folder_elsewhere_does_not_tell_the_whole_path():
    assert _folder(Path.home() / "a" / "runs" / "x") == "~/a/runs/x"
    assert _folder(Path("/mnt/secret/place/x")) == "x"


def test_closing_ends_the_listening(scene):
    scene.model_of_view.close()
    assert scene.listeners == []


def test_a_run_shown_late_has_no_made_up_beginning(scene):
    scene.wait(100)
    for _ in range(50):
        scene.answer()
    late = MonitorModel(scene, clock=lambda: scene.now)
    assert sum(late.snapshot()["series"]["rate"]) == 0
    scene.now += 2
    scene.answer()
    late.observe()
    assert late.snapshot()["series"]["rate"] == [0.5, 0.5]
    assert late.snapshot()["done"] == 51


# with a real run -------------------------------------------------------------------------


def rows(n):
    return [{"text": f"t{i}"} for i in range(n)]


async def test_a_real_run_is_counted_as_its_frame_says(echo, puppet):
    def answer(text):
        if text.endswith("3"):
            return ServerError("it broke")
        return "" if text.endswith("5") else "word"

    limits = Limits(retry=Retry(max_attempts=2, base_seconds=0.001))
    run = generate(echo(), rows(40), puppet(answer), name="real", limits=limits)
    model = MonitorModel(run)
    frame = await run
    seen = model.snapshot()
    assert seen["final"]
    assert seen["state"] == "done"
    assert seen["done"] == seen["wanted"] == len(frame) == 40
    assert seen["model"] == "puppet"
    assert seen["limit"] == 8
    assert seen["peek"] == [["answer", "word"]]
    by_frame = frame["status"].value_counts().to_dict()
    assert {s["name"].replace("no JSON", "no_json"): s["count"]
            for s in seen["statuses"]} == by_frame  # fmt: skip
    report = run.errors()
    assert {(t["count"], t["detail"], t["next_step"]) for t in seen["troubles"]} == {
        (t.count, t.detail, t.next_step) for t in report
    }
    assert seen["retries"] == 4
    assert seen["tokens"] == 36 * 12


async def test_the_end_is_heard_with_its_reason(echo, puppet):
    run = generate(echo(), rows(3), puppet(lambda _: AuthError("no")), name="auth")
    heard = []

    def listen(event):
        if isinstance(event, StateChanged) and event.state.is_final:
            heard.append(MonitorModel(run).snapshot()["error"])

    run.subscribe(listen)
    with pytest.raises(AuthError):
        await run
    assert heard[0]["message"] == "no"


async def test_a_snapshot_may_be_taken_on_any_thread_while_it_runs(echo, puppet):
    def answer(text):
        return "" if text.endswith("7") else "word"

    run = generate(echo(), rows(3000), puppet(answer), name="threads")
    model = MonitorModel(run)

    def look():
        while not run.state.is_final:
            model.observe()
            json.dumps(model.snapshot())
        return model.snapshot()

    looks = [asyncio.to_thread(look) for _ in range(3)]
    for seen in await asyncio.gather(*looks):
        assert seen["done"] == 3000
    await run
