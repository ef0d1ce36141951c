"""How long the kernel's loop is held while a run works and its monitor is looked at.

A real ipykernel, the fault server in a process of its own, a page that has opened the
monitor. In the kernel a task sleeps 5 ms again and again and notes how much later than
wanted it was woken; that is what a click, a completion or another cell has to wait.

loop_lag.py [--n 1000] [--c 32] [--bare]: prints one line of JSON. ``--bare`` shows no
monitor, for comparison. The promise is p99 < 50 ms.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile

from jupyter_client.manager import KernelManager

from synthnb.testing import fault_process

CODE = """
import asyncio, json, time
from synthnb.widgets.monitor import _monitors
import synthnb as sn
lags = []
async def watch():
    loop = asyncio.get_running_loop()
    while True:
        wanted = loop.time() + 0.005
        await asyncio.sleep(0.005)
        lags.append(loop.time() - wanted)
provider = sn.Provider({url!r}, model="fault-model")
recipe, limits = sn.Prompt("Say {{{{ text }}}}"), sn.Limits(max_concurrency={c})
def start(n, name):
    rows = [{{"text": f"#R{{i}}# " + "word " * 200}} for i in range(n)]
    return sn.generate(recipe, rows, provider, name=name, limits=limits)
await start(20, "warm").finished()
"""
SHOW = """
run = start({n}, "lag")
run.pause()
{show}
"""
MEASURE = """
watching = asyncio.ensure_future(watch())
await asyncio.sleep(0.1)
lags.clear()
began = time.perf_counter()
run.resume()
await run.finished()
seconds = time.perf_counter() - began
watching.cancel()
monitor = _monitors.get(run)
lags.sort()
at = lambda share: round(1000 * lags[min(len(lags) - 1, int(share * len(lags)))], 1)
print(json.dumps({"p50_ms": at(0.5), "p95_ms": at(0.95), "p99_ms": at(0.99),
    "max_ms": at(1), "samples": len(lags), "per_second": round(run.progress.done / seconds),
    "updates": monitor.view._number if monitor and monitor.view._opened else 0}))
"""


class Kernel:
    """A kernel that is spoken to over its own protocol."""

    def __init__(self, folder: str):
        self.manager = KernelManager(kernel_name="python3")
        env = dict(os.environ, IPYTHONDIR=f"{folder}/ipython")
        self.manager.start_kernel(cwd=folder, env=env)
        self.client = self.manager.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)

    def run(self, code: str) -> tuple[str, list[dict]]:
        """Run a cell; return what it printed and showed."""
        text, shown = "", []

        def hear(message: dict) -> None:
            nonlocal text
            kind, content = message["msg_type"], message["content"]
            if kind == "stream":
                text += content["text"]
            elif kind == "display_data":
                shown.append(content["data"])
            elif kind == "error":
                raise SystemExit("\n".join(content["traceback"]))

        self.client.execute_interactive(code, output_hook=hear, timeout=600)
        return text, shown

    def open_view(self, model_id: str) -> None:
        """Do as a page does that begins to show the monitor."""
        content = {"op": "open", "ask": "bench-1"}
        data = {"method": "custom", "content": content}
        message = self.client.session.msg(
            "comm_msg", {"comm_id": model_id, "data": data}
        )
        self.client.shell_channel.send(message)

    def stop(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--c", type=int, default=32)
    parser.add_argument("--bare", action="store_true")
    options = parser.parse_args()
    with (
        fault_process("--latency", "0.05") as server,
        tempfile.TemporaryDirectory() as d,
    ):
        kernel = Kernel(d)
        try:
            kernel.run(CODE.format(url=server.base_url, c=options.c))
            show = "" if options.bare else "run"
            _, shown = kernel.run(SHOW.format(n=options.n, show=show))
            if shown:
                view = shown[0]["application/vnd.jupyter.widget-view+json"]
                kernel.open_view(view["model_id"])
            text, _ = kernel.run(MEASURE)
        finally:
            kernel.stop()
    result = json.loads(text.splitlines()[-1])
    result |= {
        "requests": options.n,
        "at_once": options.c,
        "monitor": not options.bare,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
