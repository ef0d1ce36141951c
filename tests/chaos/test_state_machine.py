"""Scheduler and ledger against a plain model: whatever a person and a server do.

The server is a client whose answers wait until the machine gives them, so each step is
one of: start a call, give an answer or a failure, pause, resume, stop, kill. The model is
two dicts. After each step the engine must send exactly as much as it may, and must never
buy what the ledger has.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from invariant import check_invariant

from synthnb.config import Limits, Retry
from synthnb.errors import RequestRefusedError, ServerError
from synthnb.pipeline import generate
from synthnb.records import Completion, Usage

pytestmark = pytest.mark.chaos
TEXTS = [f"t{n}" for n in range(8)]
MOST_ATTEMPTS = 2
PATIENCE = 10.0
"""Seconds after which an engine that does not send what it may is at fault."""


class Key(NamedTuple):
    """What is asked: a row's text, the sample, and the prompt's version."""

    text: str
    sample: int
    prompt: str


class Waiting(NamedTuple):
    key: Key
    answer: asyncio.Future[str]


class Client:
    """A ``ChatClient`` whose calls wait for the machine."""

    model, endpoint, default_concurrency = "m", "machine:", 4

    def __init__(self, answered):
        self.answered = answered
        self.waiting: list[Waiting] = []
        self.bought_twice: list[Key] = []

    async def complete(self, request):
        prompt, _, text = request.messages[-1].content.rpartition(" ")
        one = Waiting(
            Key(text, request.sampling.seed, prompt),
            asyncio.get_running_loop().create_future(),
        )
        if one.key in self.answered:
            self.bought_twice.append(one.key)
        self.waiting.append(one)
        try:
            text = await one.answer
        finally:
            self.waiting.remove(one)
        return Completion(text, usage=Usage(1, 1), model="m")

    async def aclose(self):
        pass


class Engine(RuleBasedStateMachine):
    recipe = None

    def __init__(self):
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.home = Path(tempfile.mkdtemp())
        self.folder, self.kills = self.home / "run0", 0
        self.answered: dict[Key, str] = {}
        """The model of the ledger: what was answered, and with which status."""
        self.failures: Counter[Key] = Counter()
        self.asked: set[str] = set()
        self.client = Client(self.answered)
        self.run = None

    def teardown(self):
        if self.run is not None:
            self.turn(self.end())
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
        self.loop.close()
        shutil.rmtree(self.home)

    def turn(self, work):
        return self.loop.run_until_complete(asyncio.wait_for(work, PATIENCE))

    # the model -----------------------------------------------------------------------------

    def slots(self):
        return [
            Key(text, sample, self.prompt)
            for text in self.texts
            for sample in range(self.samples)
        ]

    def is_open(self, key):
        return key not in self.answered and self.failures[key] < MOST_ATTEMPTS

    def is_over(self):
        if not any(map(self.is_open, self.slots())):
            return True
        return self.stopped and not self.in_flight

    def expected(self):
        """How many calls must be waiting when the engine has come to rest."""
        open_ = sum(map(self.is_open, self.slots()))
        if self.paused or self.stopped:
            return self.in_flight
        return min(self.concurrency, open_)

    async def rest(self):
        until = time.monotonic() + PATIENCE / 2
        while time.monotonic() < until:
            if self.is_over() and self.run._end.future.done():
                break
            if not self.is_over() and len(self.client.waiting) == self.expected():
                break
            await asyncio.sleep(0.001)
        else:
            said = f"{self.run!r}: {len(self.client.waiting)} calls wait"
            pytest.fail(f"{said}, {self.expected()} should")
        self.in_flight = len(self.client.waiting)
        if self.is_over():
            await self.close()

    async def close(self):
        """Compare what a person sees at the end with the model."""
        await asyncio.wait([asyncio.wrap_future(self.run._end.future)])
        await asyncio.sleep(0)
        shown = {
            Key(r["__input__"]["text"], r["sample_index"], self.prompt): r["status"]
            for r in self.run.records()
        }
        for key in self.slots():
            # A stopped call shows what it came to: an answer of an earlier call to a row
            # behind the stop waits in the ledger.
            if self.stopped and key not in shown:
                assert key not in self.decided
            elif key in self.answered:
                assert shown[key] == self.answered[key]
            elif self.failures[key] >= MOST_ATTEMPTS:
                assert shown[key] == "server"
        by_status = Counter(str(status) for status in shown.values())
        assert Counter(self.run.status) == by_status
        found = check_invariant(
            self.folder, self.asked, acknowledged=self.run.progress.saved
        )
        assert found.results == len(self.answered)
        self.run = None

    async def end(self):
        self.run.stop()
        self.run.stop()
        with contextlib.suppress(asyncio.CancelledError):
            await self.run.finished()
        self.run = None

    # what may happen -----------------------------------------------------------------------

    @precondition(lambda self: self.run is None)
    @rule(
        texts=st.lists(st.sampled_from(TEXTS), unique=True, min_size=1),
        samples=st.integers(1, 2),
        prompt=st.sampled_from(["old", "new"]),
        concurrency=st.integers(1, 4),
    )
    def start(self, texts, samples, prompt, concurrency):
        self.texts, self.samples, self.prompt = texts, samples, prompt
        self.concurrency = concurrency
        self.paused = self.stopped = False
        self.in_flight = 0
        self.failures.clear()
        self.decided = set()
        self.asked.update(texts)

        async def begin():
            self.run = generate(
                self.recipe(prompt=f"{prompt} ", seed=0),
                [{"text": text} for text in texts],
                self.client,
                folder=self.folder,
                samples=samples,
                limits=Limits(
                    max_concurrency=concurrency,
                    adaptive=False,
                    retry=Retry(max_attempts=MOST_ATTEMPTS, base_seconds=0.001),
                ),
            )
            await self.rest()

        self.turn(begin())

    @precondition(lambda self: self.run is not None and self.client.waiting)
    @rule(
        which=st.integers(0, 3),
        what=st.sampled_from(["ok", "ok", "ok", "empty", "fails", "refuses"]),
    )
    def answer(self, which, what):
        async def give():
            one = self.client.waiting[which % len(self.client.waiting)]
            self.decided.add(one.key)
            if what == "fails":
                self.failures[one.key] += 1
                one.answer.set_exception(ServerError("broken", http_status=500))
            elif what == "refuses":
                self.answered[one.key] = str(RequestRefusedError.status)
                one.answer.set_exception(RequestRefusedError("no", http_status=400))
            else:
                self.answered[one.key] = "ok" if what == "ok" else "no_json"
                one.answer.set_result("word" if what == "ok" else "")
            self.in_flight -= 1
            while one in self.client.waiting:
                await asyncio.sleep(0)
            await self.rest()

        self.turn(give())

    @precondition(lambda self: self.run is not None and not self.stopped)
    @rule()
    def pause(self):
        async def act():
            self.run.pause()
            self.paused = True
            await self.rest()

        self.turn(act())

    @precondition(lambda self: self.run is not None and self.paused)
    @rule()
    def resume(self):
        async def act():
            self.run.resume()
            self.paused = False
            await self.rest()

        self.turn(act())

    @precondition(lambda self: self.run is not None and not self.stopped)
    @rule()
    def stop(self):
        async def act():
            self.run.stop()
            self.stopped = True
            await self.rest()

        self.turn(act())

    @precondition(lambda self: self.run is not None)
    @rule()
    def stop_at_once(self):
        async def act():
            self.run.stop()
            self.run.stop()
            self.stopped = True
            self.in_flight = 0
            await self.rest()

        self.turn(act())

    @precondition(lambda self: self.run is not None)
    @rule()
    def kill(self):
        """Go on with what a killed process would have left on the disk."""

        async def act():
            await asyncio.to_thread(self.run._store.flush)
            self.kills += 1
            left = self.home / f"run{self.kills}"
            shutil.copytree(self.folder, left)
            await self.end()
            self.folder = left

        self.turn(act())

    @invariant()
    def nothing_is_bought_twice(self):
        assert not self.client.bought_twice

    @invariant()
    def no_more_is_in_flight_than_may_be(self):
        if self.run is not None:
            assert len(self.client.waiting) <= self.concurrency


def test_the_engine_does_what_the_model_does(echo):
    run_state_machine_as_test(
        type("Engine", (Engine,), {"recipe": echo}),
        settings=settings(
            max_examples=int(os.environ.get("SYNTHNB_EXAMPLES", "60")),
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
