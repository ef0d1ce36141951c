"""Does a run find the load that a server takes? Simulated, and against a real server.

load.py [--requests 5000] [--seeds 3] [--only simulation|server|model]: three forms of
server (refuses above a limit, queues above it, batches continuously), five configured
maxima, and every fixed limit beside them. Writes ``out/load.md`` and the curves,
``out/load-*.svg``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import synthnb as sn
from synthnb.engine.adaptive import AdaptiveLimit
from synthnb.testing.process import FaultProcess, fault_process

_HERE = Path(__file__).parent
sys.path.insert(0, str(_HERE.parent / "tests" / "engine"))
from simulation import CAPS, Aimd, Server, run  # noqa: E402

MAXIMA = (8, 16, 64, 256, 1024)
FORMS = ("refuse", "queue", "batch")
_LIMIT = 64
_LATENCY = 0.2
_EVERY = 0.05


class Point(NamedTuple):
    """How a run stood at a moment; ``answers`` counts from its beginning."""

    time: float
    limit: int
    in_flight: int
    answers: int


class Row(NamedTuple):
    """One line of the table."""

    where: str
    form: str
    maximum: int
    best: str
    """Seconds of the best fixed limit, and which one."""
    ratio: float
    worst: float
    aimd: float | None
    refused: float
    settled: str


# simulation ----------------------------------------------------------------------------


def simulated(forms: Sequence[str], requests: int, seeds: int) -> Iterator[Row]:
    """Run every form with every maximum on several seeds, mild and heavy-tailed."""
    for form in forms:
        fixed: dict[tuple[Any, ...], dict[int, float]] = {}
        for maximum in MAXIMA:
            ratios, aimd, refused, settled, best = [], [], [], [], []
            for seed in range(seeds):
                for limit, spread in ((10, 0.3), (64, 0.8), (200, 0.3)):
                    key = (limit, spread, seed)
                    found = AdaptiveLimit(maximum)
                    outcome = run(_server(form, *key), found, requests)
                    times = fixed.setdefault(key, {})
                    cap = _best(times, form, key, maximum, requests)
                    best.append(f"{times[cap]:.1f} ({cap})")
                    ratios.append(outcome.seconds / times[cap])
                    other = run(_server(form, *key), Aimd(maximum), requests)
                    aimd.append(other.seconds / times[cap])
                    refused.append(outcome.refused / requests)
                    settled.append(f"{found.settled}")
            yield Row(
                "simulation",
                form,
                maximum,
                ", ".join(best[:3]),
                statistics.mean(ratios),
                max(ratios),
                max(aimd),
                max(refused),
                ", ".join(settled[:3]),
            )


def _server(form: str, limit: int, spread: float, seed: int) -> Server:
    return Server(form, limit, latency=_LATENCY, spread=spread, seed=seed)


def _best(
    times: dict[int, float],
    form: str,
    key: tuple[int, float, int],
    maximum: int,
    requests: int,
) -> int:
    """Return the best fixed limit up to ``maximum``; all of them are tried."""
    # Far above a limit that refuses there are only refusals; it takes minutes to see.
    most = 2 * key[0] if form == "refuse" else max(CAPS)
    caps = {min(maximum, cap) for cap in (*CAPS, key[0]) if cap <= most}
    for cap in caps - times.keys():
        control = AdaptiveLimit(cap, adaptive=False)
        times[cap] = run(_server(form, *key), control, requests).seconds
    return min(caps, key=lambda cap: times[cap])


def simulated_curve(form: str, requests: int) -> list[Point]:
    """Return the curve of one run whose server falls from 96 to 24 and rises again."""

    def capacity(now: float) -> int:
        return 24 if 8 <= now < 20 else 96

    limit = AdaptiveLimit(1024)
    points: list[Point] = []
    clock: list[Callable[[], float]] = []
    take, answered = limit.use_clock, limit.answered

    def use_clock(given: Callable[[], float]) -> None:
        clock.append(given)
        take(given)

    def told() -> None:
        answered()
        now = clock[0]()
        if not points or now - points[-1].time >= _EVERY:
            points.append(Point(now, limit.limit, limit.in_flight, limit.answers))

    limit.use_clock, limit.answered = use_clock, told  # type: ignore[method-assign]
    run(Server(form, capacity, seed=2), limit, requests)
    return points


# a real server -------------------------------------------------------------------------


def capacity_of(form: str) -> dict[str, Any]:
    """Return the fault server's capacity of a form."""
    if form == "batch":
        steps = {"token_seconds": _LATENCY / 20, "growth": 1.0, "answer_tokens": 20}
        return {"kind": form, "limit": _LIMIT, **steps}
    return {"kind": form, "limit": _LIMIT}


async def watched(
    provider: sn.Provider, requests: int, limits: sn.Limits, recipe: sn.Prompt
) -> tuple[float, Any, list[Point]]:
    """Run; return the seconds, the run's progress and its curve."""
    points: list[Point] = []
    with tempfile.TemporaryDirectory() as folder:
        rows = ({"i": i} for i in range(requests))
        began = time.perf_counter()
        batch = sn.generate(
            recipe, rows, provider, folder=Path(folder) / "run", limits=limits
        )

        def look() -> None:
            it = batch.progress
            now = time.perf_counter() - began
            points.append(Point(now, it.limit or 0, it.in_flight, it.answers))

        watcher = asyncio.create_task(_repeat(look))
        await batch.finished()
        seconds = time.perf_counter() - began
        watcher.cancel()
        await asyncio.wait([watcher])
    return seconds, batch.progress, points


async def _repeat(look: Callable[[], None]) -> None:
    while True:
        look()
        await asyncio.sleep(_EVERY)


def served(form: str, requests: int, *, gauges: bool, out: Path) -> Iterator[Row]:
    """Run against the fault server, a process of its own."""
    arguments = ["--max-seconds", "1800", "--capacity", json.dumps(capacity_of(form))]
    if form != "batch":
        arguments += ["--latency", str(_LATENCY), "--p99", str(2.5 * _LATENCY)]
    if not gauges:
        arguments.append("--no-metrics")
    where = "server, gauges" if gauges else "server"
    with fault_process(*arguments) as server:
        times: dict[int, float] = {}
        for maximum in MAXIMA:
            cap = min(maximum, _LIMIT)
            # Of a small maximum fewer say the same in less time.
            some = min(requests, 100 * cap)
            if cap not in times:
                times[cap] = _serve(server, some, cap, adaptive=False)[0]
            seconds, refused, points = _serve(server, some, maximum, adaptive=True)
            ratio = seconds / times[cap]
            name = f"load-{form}{'-gauges' if gauges else ''}-{maximum}.svg"
            (out / name).write_text(draw(points, f"{where}: {form}, up to {maximum}"))
            yield Row(
                where,
                form,
                maximum,
                f"{times[cap]:.1f} ({cap})",
                ratio,
                ratio,
                None,
                refused / some,
                str(points[-1].limit),
            )


def _serve(
    server: FaultProcess, requests: int, maximum: int, *, adaptive: bool
) -> tuple[float, int, list[Point]]:
    before = server.stats().get("refused", 0)
    limits = sn.Limits(
        max_concurrency=maximum, adaptive=adaptive, retry=sn.Retry(max_attempts=20)
    )
    provider = sn.Provider(server.base_url, model="fault-model")
    recipe = sn.Prompt("Row {{ i }}", max_tokens=20)
    seconds, progress, points = asyncio.run(watched(provider, requests, limits, recipe))
    refused = server.stats().get("refused", 0) - before
    return seconds, refused or progress.retries, points


def embedded(requests: int, out: Path) -> Iterator[Row]:
    """Run against the built-in model: llama.cpp, which shows its gauges."""
    recipe = sn.Prompt("Say one word about the number {{ i }}.", max_tokens=8)

    async def all_of() -> list[tuple[int, float, list[Point]]]:
        provider = sn.Provider.local()
        found = []
        for maximum, adaptive in ((1, False), (2, False), (4, False), (8, False),
                                  (8, True), (64, True)):  # fmt: skip
            limits = sn.Limits(max_concurrency=maximum, adaptive=adaptive)
            seconds, _, points = await watched(provider, requests, limits, recipe)
            found.append((maximum if adaptive else -maximum, seconds, points))
        return found

    runs = asyncio.run(all_of())
    fixed = {-cap: seconds for cap, seconds, _ in runs if cap < 0}
    cap = min(fixed, key=lambda c: fixed[c])
    for maximum, seconds, points in runs:
        if maximum > 0:
            title = f"built-in model, up to {maximum}"
            (out / f"load-model-{maximum}.svg").write_text(draw(points, title))
            best, ratio = f"{fixed[cap]:.1f} ({cap})", seconds / fixed[cap]
            settled = str(points[-1].limit)
            yield Row(
                "llama.cpp", "model", maximum, best, ratio, ratio, None, 0.0, settled
            )


# the picture ---------------------------------------------------------------------------

_WIDTH, _HEIGHT, _LEFT, _TOP = 720, 300, 52, 36
_STYLE = """
.card{fill:#fff;stroke:#d0d7de}text{fill:#1f2328;font:12px system-ui,sans-serif}
.t{font-weight:600;font-size:14px}.grid{stroke:#d0d7de}path{fill:none;stroke-width:1.8}
.limit{stroke:#0969da}.flight{stroke:#1a7f37;stroke-opacity:.75}.speed{stroke:#bc4c00}
@media(prefers-color-scheme:dark){.card{fill:#0d1117;stroke:#3d444d}text{fill:#f0f6fc}
.grid{stroke:#3d444d}.limit{stroke:#4493f8}.flight{stroke:#3fb950}.speed{stroke:#f0883e}}
"""


def speeds(points: Sequence[Point], seconds: float = 0.5) -> list[tuple[float, float]]:
    """Return answers a second over time, each over the ``seconds`` before."""
    found, first = [], 0
    for point in points:
        while point.time - points[first].time > seconds:
            first += 1
        elapsed = point.time - points[first].time
        if elapsed > seconds / 2:
            rate = (point.answers - points[first].answers) / elapsed
            found.append((point.time, rate))
    return found


def draw(points: Sequence[Point], title: str) -> str:
    """Return an SVG of limit, in flight (left scale) and answers a second (right)."""
    end = max(point.time for point in points) or 1.0
    rates = speeds(points)
    most = max(max(p.limit, p.in_flight) for p in points) * 1.1
    fastest = max((rate for _, rate in rates), default=1.0) * 1.1 or 1.0
    lines = [
        ("limit", most, [(p.time, float(p.limit)) for p in points]),
        ("flight", most, [(p.time, float(p.in_flight)) for p in points]),
        ("speed", fastest, rates),
    ]
    box = f'viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{title}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {box}><style>{_STYLE}</style>',
        f'<rect class="card" width="{_WIDTH}" height="{_HEIGHT}" rx="6"/>',
        f'<text class="t" x="{_LEFT}" y="22">{title}</text>',
    ]
    parts += _axes(end, most, fastest)
    parts += [_line(name, values, end, top) for name, top, values in lines]
    for place, (name, text) in enumerate(
        (
            ("limit", "limit"),
            ("flight", "in flight"),
            ("speed", "answers a second (right)"),
        )
    ):
        x = _WIDTH - 330 + 90 * place
        parts.append(f'<path class="{name}" d="M{x} 18h18"/>')
        parts.append(f'<text x="{x + 22}" y="22">{text}</text>')
    return "\n".join([*parts, "</svg>\n"])


def _place(share_x: float, share_y: float) -> tuple[float, float]:
    x = _LEFT + share_x * (_WIDTH - 2 * _LEFT)
    y = _HEIGHT - 30 - share_y * (_HEIGHT - 30 - _TOP)
    return x, y


def _line(
    name: str, values: Sequence[tuple[float, float]], end: float, top: float
) -> str:
    step = max(1, len(values) // 600)
    places = [_place(t / end, value / top) for t, value in values[::step]]
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    return f'<path class="{name}" d="M{path}"/>' if places else ""


def _axes(end: float, most: float, fastest: float) -> list[str]:
    parts = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        left, y = _place(0, share)
        right, _ = _place(1, share)
        parts.append(f'<path class="grid" stroke-width="1" d="M{left} {y}H{right}"/>')
        where = f'y="{y + 4:.0f}"'
        parts.append(
            f'<text x="{left - 6}" {where} text-anchor="end">{share * most:.0f}</text>'
        )
        parts.append(f'<text x="{right + 6}" {where}>{share * fastest:.0f}</text>')
        x, _ = _place(share, 0)
        parts.append(
            f'<text x="{x:.0f}" y="{_HEIGHT - 12}" text-anchor="middle">'
            f"{share * end:.1f} s</text>"
        )
    return parts


# the table -----------------------------------------------------------------------------


def table(rows: Sequence[Row]) -> str:
    """Return the rows as Markdown."""
    heads = (
        "where | form | maximum | best fixed: s (limit) | time, x best: mean | worst | "
        "AIMD, worst | refused | settled at"
    )
    lines = [f"| {heads} |", "|---|---|---:|---|---:|---:|---:|---:|---|"]
    for row in rows:
        aimd = f"{row.aimd:.2f}" if row.aimd else "-"
        lines.append(
            f"| {row.where} | {row.form} | {row.maximum} | {row.best} | {row.ratio:.3f} "
            f"| {row.worst:.3f} | {aimd} | {row.refused:.2%} | {row.settled} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run what was asked for, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--requests", type=int, default=5000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", choices=["simulation", "server", "model"])
    parser.add_argument("--form", choices=FORMS, help="one form of server only")
    parser.add_argument("--out", type=Path, default=_HERE / "out")
    options = parser.parse_args()
    options.out.mkdir(exist_ok=True)
    rows: list[Row] = []

    def keep(found: Iterator[Row]) -> None:
        for row in found:
            rows.append(row)
            print(table([row]).splitlines()[-1], flush=True)

    forms = (options.form,) if options.form else FORMS
    if options.only in (None, "simulation"):
        keep(simulated(forms, options.requests, options.seeds))
        for form in forms:
            points = simulated_curve(form, 8000)
            title = f"simulation: {form}, 96, then 24, then 96 at once"
            (options.out / f"load-changes-{form}.svg").write_text(draw(points, title))
    if options.only in (None, "server"):
        for form in forms:
            keep(served(form, options.requests, gauges=False, out=options.out))
        if "batch" in forms:
            keep(served("batch", options.requests, gauges=True, out=options.out))
    if options.only in (None, "model"):
        keep(embedded(min(200, options.requests), options.out))
    name = "-".join(filter(None, ("load", options.only, options.form)))
    (options.out / f"{name}.md").write_text(table(rows))


if __name__ == "__main__":
    main()
