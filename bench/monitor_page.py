"""What a long run does to the page that shows it: JupyterLab in Chromium.

monitor_page.py [--n 100000] [--c 64]: prints one line of JSON: long tasks of the page's
main thread (over 50 ms each, as the browser itself counts them), messages a second, how
long a click waits, and the size of the saved notebook with the widget state in it.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import tempfile
import time
from pathlib import Path

from synthnb.testing import fault_process

TESTS = Path(__file__).parents[1] / "tests" / "browser"
START = """
import synthnb as sn
provider = sn.Provider({url!r}, model="fault-model")
rows = [{{"text": f"#R{{i}}#"}} for i in range({n})]
limits = sn.Limits(max_concurrency={c})
run = sn.generate(sn.Prompt("Say {{{{ text }}}}"), rows, provider, name="long", limits=limits)
run
"""
OBSERVE = """() => {
  window.tasks = []; window.messages = 0; window.since = performance.now();
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) tasks.push(entry.duration);
  }).observe({ type: 'longtask' });
  const kernel = jupyterapp.shell.currentWidget.sessionContext.session.kernel;
  kernel.anyMessage.connect((_, m) => {
    if (m.direction === 'recv' && m.msg.header.msg_type === 'comm_msg') window.messages += 1;
  });
}"""
REPORT = """() => ({ tasks, messages, seconds: (performance.now() - since) / 1000,
  heap: performance.memory?.usedJSHeapSize ?? 0 })"""
# Two frames: what a person waits for after a key or a click.
FRAME = """() => new Promise((done) => { const at = performance.now();
  requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - at))); })"""


def load(name: str):
    """Load a part of the browser tests, their JupyterLab for one: they are no package."""
    spec = importlib.util.spec_from_file_location(
        f"browser_{name}", TESTS / f"{name}.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def measure(nb, n: int) -> dict:
    """Start the run, watch the page until it ends, save."""
    nb.page.evaluate(OBSERVE)
    began = time.monotonic()
    nb.run(0)
    frames, heap = [], 0
    while nb.cell(0).locator(".snb-run-live").count() or len(frames) < 5:
        frames.append(nb.page.evaluate(FRAME))
        heap = heap or nb.page.evaluate(REPORT)["heap"]
        if len(frames) % 20 == 0:
            done = nb.cell(0).locator(".snb-run-progress").all_inner_texts()
            print(f"{time.monotonic() - began:.0f} s: {done}", file=sys.stderr)
        time.sleep(1)
    said = nb.page.evaluate(REPORT)
    nb.save()
    frames.sort()
    return {
        "answers": n,
        "seconds": round(said["seconds"]),
        "answers_per_second": round(n / said["seconds"]),
        "messages_per_second": round(said["messages"] / said["seconds"], 2),
        "long_tasks": len(said["tasks"]),
        "longest_ms": round(max(said["tasks"], default=0)),
        "long_share": round(sum(said["tasks"]) / 1000 / said["seconds"], 4),
        "two_frames_p95_ms": round(frames[int(len(frames) * 0.95)]),
        "heap_grown_mb": round((said["heap"] - heap) / 1e6, 1),
        "notebook_kb": round(nb.path.stat().st_size / 1000, 1),
        "summary": nb.outputs(0)[0]["data"]["text/plain"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--c", type=int, default=64)
    options = parser.parse_args()
    path = load("browser_ready").find_browser()
    with fault_process() as server, tempfile.TemporaryDirectory() as folder:
        lab = load("conftest").Lab(Path(folder), path)
        try:
            code = START.format(url=server.base_url, n=options.n, c=options.c)
            result = measure(lab.notebook([code]), options.n)
        finally:
            lab.close()
    print(json.dumps(result, ensure_ascii=False))


if __name__ == "__main__":
    main()
