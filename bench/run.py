"""``make bench``: CPU and event-loop cost a request, ours against raw aiohttp.

Every measurement is a process of its own against one server; the names take turns, and
the medians are compared, so noise meets all alike. Quote the ratios, not the times.

run.py [--url URL] [--n N] [--rounds R]: without a URL the project's own fault server is
started (about 2,000 requests/s, so requests/s says little; CPU a request does not depend
on it). bench/README.md says how to use the faster stub of the peers.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import subprocess
import sys
from contextlib import nullcontext
from importlib.metadata import version
from pathlib import Path

from synthnb.testing import fault_process

HERE = Path(__file__).parent
NAMES = ("aiohttp", "client", "run")


def measure(name: str, url: str, n: int, c: int) -> dict:
    command = [sys.executable, HERE / "measure.py", name]
    command += ["--url", url, "--n", str(n), "--c", str(c)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    result = json.loads(done.stdout.splitlines()[-1])
    if result["good"] != n:
        sys.exit(f"{name}: {result['good']} of {n} answers are right")
    return result


def table(results: dict[str, list[dict]]) -> str:
    lines = ["| name | CPU ms a request | x | loop ms a request | x | requests/s |"]
    lines.append("|---|---|---|---|---|---|")
    middle = {
        name: {
            k: statistics.median(r[k] for r in rounds)
            for k in ("cpu_ms", "loop_ms", "per_second")
        }
        for name, rounds in results.items()
    }
    base = middle["aiohttp"]
    for name, m in middle.items():
        lines.append(
            f"| {name} | {m['cpu_ms']:.3f} | {m['cpu_ms'] / base['cpu_ms']:.2f} "
            f"| {m['loop_ms']:.3f} | {m['loop_ms'] / base['loop_ms']:.2f} "
            f"| {m['per_second']:.0f} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url")
    parser.add_argument("--n", type=int, default=5000)
    parser.add_argument("--c", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    server = nullcontext() if options.url else fault_process()
    results: dict[str, list[dict]] = {name: [] for name in NAMES}
    with server as started:
        url = options.url or started.base_url
        for number in range(options.rounds):
            for name in NAMES:
                print(
                    f"round {number + 1} of {options.rounds}: {name}", file=sys.stderr
                )
                results[name].append(measure(name, url, options.n, options.c))
    versions = ", ".join(f"{p} {version(p)}" for p in ("synthnb", "aiohttp", "pyqwest"))
    text = (
        f"{options.n} requests, {options.c} at a time, medians of {options.rounds} rounds; "
        f"Python {platform.python_version()}, {versions}\n\n{table(results)}\n"
    )
    out = HERE / "out"
    out.mkdir(exist_ok=True)
    (out / "cost.md").write_text(text, encoding="utf-8")
    (out / "cost.json").write_text(json.dumps(results, indent=1), encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
