"""A loop that is turned from inside one of its own callbacks, in a process of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = """
import asyncio
from synthnb.engine.nesting import wait_nested

said = []

async def short(fail):
    await asyncio.sleep(0.01)
    if fail:
        raise KeyboardInterrupt

def cell():
    try:
        wait_nested(loop, short({fail}))
    except KeyboardInterrupt:
        said.append("interrupted")
    said.append("cell")

def other(n):
    said.append(n)

loop = asyncio.new_event_loop()
loop.call_soon(cell)
for n in range(5):
    loop.call_soon(other, n)
loop.call_later(0.1, loop.stop)
loop.run_forever()
print(said)
"""


@pytest.mark.parametrize("fail", [False, True])
def test_callbacks_that_the_nested_loop_ran_do_not_kill_the_outer_one(fail):
    done = subprocess.run(
        [sys.executable, "-c", CODE.format(fail=fail)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    last = ["interrupted", "cell"] if fail else ["cell"]
    assert done.stdout.strip() == str([0, 1, 2, 3, 4, *last])
