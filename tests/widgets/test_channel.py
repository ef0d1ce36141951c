"""Messages of front ends: in order, on one thread, answered whatever happens."""

from __future__ import annotations

import gc
import threading
import time
import weakref

import pytest

from synthnb.errors import ConfigError
from synthnb.widgets.channel import View


class Echo(View):
    """Answers; keeps what was sent instead of sending it."""

    def __init__(self):
        super().__init__()
        self.sent, self.seen, self.threads = [], [], set()
        self.arrived = threading.Condition()
        self.hold = threading.Event()

    def send(self, content, buffers=None):
        with self.arrived:
            self.sent.append(content)
            self.arrived.notify_all()

    def until(self, count):
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.sent) >= count, 10)
        return self.sent

    def on_say(self, message):
        self.seen.append(message["n"])
        self.threads.add(threading.get_ident())
        return {"n": message["n"]}

    def on_silent(self, message):
        return None

    def on_wait(self, message):
        return {"held": self.hold.wait(10)}

    def on_refuse(self, message):
        raise ConfigError("no", hint="take yes")

    def on_break(self, message):
        raise ZeroDivisionError("broken")


@pytest.fixture
def view():
    made = Echo()
    yield made
    made.close()


def test_messages_are_answered_in_order_on_a_thread_of_the_view(view):
    for n in range(50):
        view.receive({"op": "say", "ask": f"x-{n}", "n": n})
    assert view.until(50) == [{"n": n, "re": f"x-{n}"} for n in range(50)]
    assert len(view.threads) == 1
    assert threading.get_ident() not in view.threads


def test_messages_that_overtake_one_another_are_put_in_order(view):
    for n in (2, 3, 1, 6, 5, 4, 7):
        view.receive({"op": "say", "ask": f"page-{n}", "n": n})
    view.until(7)
    assert view.seen == [1, 2, 3, 4, 5, 6, 7]


def test_a_message_that_never_comes_is_not_waited_for_long(view):
    # A page that was open before this view was made goes on with its own numbers.
    for n in (58, 57):
        view.receive({"op": "say", "ask": f"page-{n}", "n": n})
    view.receive({"op": "say", "ask": "other-1", "n": 1})
    view.until(3)
    assert view.seen == [1, 57, 58]
    view.receive({"op": "say", "ask": "page-59", "n": 59})
    view.receive({"op": "say", "ask": "page-60", "n": 60})
    view.until(5)
    assert view.seen[3:] == [59, 60]


def test_a_message_without_an_id_gets_no_answer(view):
    view.receive({"op": "say", "n": 1})
    view.receive({"op": "silent", "ask": "a"})
    assert view.until(1) == [{"re": "a"}]
    assert view.seen == [1]


def test_a_refusal_names_the_next_step_and_the_view_goes_on(view, caplog):
    view.receive({"op": "refuse", "ask": "1"})
    view.receive({"op": "break", "ask": "2"})
    view.receive({"op": "unheard of", "ask": "3"})
    view.receive({"op": "say", "ask": "4", "n": 4})
    refused, broken, unknown, said = view.until(4)
    assert refused == {"error": "no", "hint": "take yes", "re": "1"}
    assert broken["error"] == "ZeroDivisionError: broken"
    assert "no operation" in unknown["error"]
    assert said["n"] == 4
    assert "break" in caplog.text


@pytest.mark.parametrize(
    "content", [None, 7, [], {}, {"op": 3}, {"op": None, "ask": "1"}]
)
def test_what_is_no_message_is_left_alone(view, content):
    view.receive(content)
    view.receive({"op": "say", "ask": "1", "n": 1})
    assert view.until(1) == [{"n": 1, "re": "1"}]


@pytest.mark.parametrize("op", ["_answer", "msg", "trait_change", "__init__"])
def test_only_operations_can_be_asked_for(view, op):
    view.receive({"op": op, "ask": "1"})
    assert "no operation" in view.until(1)[0]["error"]


def test_the_callback_never_waits(view):
    view.receive({"op": "wait", "ask": "1"})  # would hang here if it were done here
    view.hold.set()
    assert view.until(1) == [{"held": True, "re": "1"}]


def test_nothing_of_a_view_is_synced_but_what_anywidget_needs(view):
    ours = set(view.get_state()) - {"_esm", "_css", "_anywidget_id", "layout", "tabbable", "tooltip"}  # fmt: skip
    assert {
        name for name in ours if not name.startswith(("_model", "_view", "_dom"))
    } == set()


def test_a_closed_view_ends_its_thread(view):
    view.receive({"op": "say", "ask": "1", "n": 1})
    view.until(1)
    view.close()
    view.receive({"op": "say", "ask": "2", "n": 2})
    deadline = time.monotonic() + 10
    while any(t.name.startswith("synthnb-Echo") for t in threading.enumerate()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert len(view.sent) == 1


def test_a_closed_view_can_be_collected():
    view = Echo()
    gone = weakref.ref(view)
    view.close()
    del view
    gc.collect()
    assert gone() is None
