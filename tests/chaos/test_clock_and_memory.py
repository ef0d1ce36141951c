"""A clock that jumps, and rows without number."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time

import pytest

from synthnb.pipeline import generate

DAY = 86_400.0


@pytest.mark.parametrize("jump", [-DAY, DAY])
async def test_k6_a_clock_that_jumps_by_a_day_harms_nothing(
    echo, puppet, monkeypatch, jump
):
    real, answered = time.time, []

    def answer(text):
        answered.append(text)
        if len(answered) == 20:
            monkeypatch.setattr(time, "time", lambda: real() + jump)
        return text

    rows = [{"text": f"t{i}"} for i in range(60)]
    run = generate(echo(), rows, puppet(answer), name="jump")
    df = await run
    assert set(df["status"]) == {"ok"}
    assert len(answered) == 60
    assert 0 <= run.progress.seconds < 60
    db = sqlite3.connect(run.folder / "run.sqlite")
    seconds = [s for (s,) in db.execute("SELECT seconds FROM attempt")]
    db.close()
    assert len(seconds) == 60
    assert all(0 <= s < 60 for s in seconds)


CODE = """
import asyncio, json, sys
import psutil
import synthnb as sn
from synthnb.records import Completion, Usage

class Instant:
    model, endpoint, default_concurrency = "instant", "instant:", 32
    async def complete(self, request):
        await asyncio.sleep(0)
        return Completion("word " * 40, usage=Usage(9, 9), model="instant")
    async def aclose(self):
        pass

seen = []

def rows(n):
    for i in range(n):
        if i in (n // 5, n - 1):
            seen.append(psutil.Process().memory_info().rss)
        yield {"n": i, "text": f"row {i} " * 20}

async def main():
    recipe = sn.Prompt("About {{ text }}", temperature=0.7)
    run = sn.generate(recipe, rows(50_000), Instant(), folder=sys.argv[1], cache=False)
    await run.finished()
    print(json.dumps([run.progress.ok, (seen[1] - seen[0]) / 1e6]))

asyncio.run(main())
"""


@pytest.mark.chaos
def test_k7_memory_does_not_grow_with_the_rows(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", CODE, tmp_path / "run"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    ok, grown = json.loads(done.stdout)
    assert ok == 50_000
    # 40,000 rows and answers of 400 bytes would be 16 MB and more, kept once.
    assert grown < 12
