"""``make bench``: our own benchmarks, ours against raw aiohttp and others in one run.

Every measurement is a process of its own against one fast stub server; the rows of a
table take turns, and the medians are compared, so noise meets all alike. Quote the
ratios, not the times.

Writes results.json, results.md and a picture. A wrong or lost answer ends it with 1.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import picture
import report
from cases import CASES, Case
from rounds import FailedError, Player, WrongAnswersError
from server import Server, started

HERE = Path(__file__).parent
PICTURE = HERE.parent / "docs" / "images" / "benchmarks.svg"
_MAX_SECONDS = 3 * 3600


def parsed(arguments: list[str] | None = None) -> argparse.Namespace:
    names = ",".join(case.name for case in CASES)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", metavar="A64,B", help=f"some of {names}")
    parser.add_argument("--skip", metavar="F,resume", default="", help="all but these")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="tiny n, one round")
    size.add_argument("--full", action="store_true", help="F with 1,000,000 rows")
    parser.add_argument("--url", help="a server with the stub's control paths, …/v1")
    parser.add_argument("--n", type=int, help="instead of each case's own")
    parser.add_argument("--rounds", type=int, help="instead of each case's own")
    parser.add_argument("--out", type=Path, default=HERE / "out")
    parser.add_argument("--also", default="", help="a query added to every /__cfg")
    options = parser.parse_args(arguments)
    chosen = options.only.split(",") if options.only else [c.name for c in CASES]
    skipped = [name for name in options.skip.split(",") if name]
    if unknown := {*chosen, *skipped} - {case.name for case in CASES}:
        parser.error(f"unknown: {', '.join(sorted(unknown))}; there are {names}")
    options.cases = [c for c in CASES if c.name in chosen and c.name not in skipped]
    return options


def size_of(case: Case, options: argparse.Namespace) -> tuple[int, int]:
    """Return n and the number of rounds."""
    n = case.quick if options.quick else case.n
    if options.full and case.full:
        n = case.full
    rounds = 1 if options.quick else case.rounds
    return options.n or n, options.rounds or rounds


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def play(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Play the chosen cases and return everything that is known of them."""
    began = time.perf_counter()
    results: dict[str, Any] = {
        "date": time.strftime("%Y-%m-%d %H:%M"),
        "machine": report.machine(),
        "versions": report.versions(),
        "cases": {},
    }
    with ExitStack() as stack:
        server = None
        if any(case.work is not None for case in options.cases):
            server = (
                Server(options.url, options.url)
                if options.url
                else stack.enter_context(started(_MAX_SECONDS))
            )
        player = Player(server, folder, options.also)
        for case in options.cases:
            n, rounds = size_of(case, options)
            before = os.getloadavg()[0]
            found = player.play(case, n, rounds, say)
            results["cases"][case.name] = {
                "n": n,
                "rounds": rounds,
                "load": [before, os.getloadavg()[0]],
                "rows": report.summary(case, found),
                "all_rounds": found,
            }
    results["server"] = server.described if server else "none"
    results["seconds"] = time.perf_counter() - began
    return results


def picture_path(options: argparse.Namespace, out: Path) -> Path:
    """Return where the picture goes: into the docs only after a whole, full-sized run."""
    is_whole = len(options.cases) == len(CASES) and not (options.quick or options.n)
    return PICTURE if is_whole else out / "benchmarks.svg"


def main(arguments: list[str] | None = None) -> None:
    options = parsed(arguments)
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    # Beside the results: /tmp is memory on some machines, and the disk counts here.
    folder = Path(tempfile.mkdtemp(prefix="work-", dir=out))
    try:
        results = play(options, folder)
    except (WrongAnswersError, FailedError) as error:
        sys.exit(str(error))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    text = report.document(results, CASES)
    (out / "results.json").write_text(json.dumps(results, indent=1), encoding="utf-8")
    (out / "results.md").write_text(text, encoding="utf-8")
    target = picture_path(options, out)
    target.write_text(picture.drawn(results), encoding="utf-8")
    print(text)
    say(f"written: {out / 'results.md'}, {out / 'results.json'}, {target}")


if __name__ == "__main__":
    main()
