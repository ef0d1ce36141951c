"""The benchmarks run, count right answers only, and say what they compared."""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
import urllib.error
import urllib.request
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench"
N = 30


@pytest.fixture(autouse=True, scope="module")
def bench_path():
    """The benchmarks are scripts of one folder that import each other by name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCH))
        yield


@pytest.fixture(scope="module")
def started(bench_path):
    with importlib.import_module("server").started(120) as server:
        yield server


@pytest.fixture
def stub(started):
    started.configure(importlib.import_module("draws").Work())
    return started


def bench(*arguments, out):
    command = [sys.executable, BENCH / "run.py", "--out", out, *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=50, check=False
    )


def options(stub, tmp_path, **more):
    values = {"n": N, "c": 8, "timeout": 10.0, "fixed": False, "url": stub.url}
    values |= {"folder": str(tmp_path / "kept"), **more}
    return argparse.Namespace(**values)


async def measured(name, given):
    module, function = importlib.import_module("measure").MEASUREMENTS[name]
    return await getattr(importlib.import_module(module), function)(given)


# measurements -----------------------------------------------------------------------------

EACH = {
    "aiohttp": {"cpu_ms", "loop_ms", "per_second"},
    "openai": {"cpu_ms", "loop_ms", "per_second"},
    "client": {"cpu_ms", "loop_ms", "per_second"},
    "run": {"cpu_ms", "loop_ms", "per_second", "max_in_flight"},
    "resumable": {"resumed"},
    "iterator": {"rss_growth_mb", "first_per_second", "last_per_second"},
    "lag": {"lag_p50_ms", "lag_p99_ms", "lag_max_ms", "events"},
    "committed": {"per_second"},
    "executemany": {"per_second"},
    "commit": {"commit_p50_ms", "commit_p99_ms"},
    "deduplicate": {"planted", "found"},
    "datasketch": {"planted", "found"},
}


def test_every_measurement_is_tried_here():
    tried = {*EACH, "fill_ledger", "resume"}
    assert set(importlib.import_module("measure").MEASUREMENTS) == tried


@pytest.mark.parametrize("name", EACH)
async def test_a_measurement_gives_its_figures(name, stub, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    figures = await measured(name, options(stub, tmp_path))
    assert figures["good"] == N
    assert EACH[name] <= set(figures)
    assert all(figures[key] >= 0 for key in EACH[name] - {"rss_growth_mb"})


async def test_a_resume_takes_every_answer_from_the_ledger(stub, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    await measured("fill_ledger", options(stub, tmp_path))
    figures = await measured("resume", options(stub, tmp_path))
    assert (figures["good"], figures["requests"]) == (N, 0)
    assert stub.stats()["req"] == stub.stats()["noid"]  # the warm-up's alone


async def test_answers_of_other_requests_do_not_count(stub, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    draws = importlib.import_module("draws")
    work = draws.Work(ewrong=0.5)
    wrong = sum(work.fault(i, 0) == "ewrong" for i in range(N))
    for name in ("aiohttp", "client", "run"):
        stub.configure(work)
        figures = await measured(name, options(stub, tmp_path))
        assert figures["good"] == N - wrong, name
    assert 0 < wrong < N


# run.py -----------------------------------------------------------------------------------


def test_the_tables_have_ratios_and_versions(tmp_path):
    done = bench("--only", "B,E", "--n", "200", "--rounds", "1", out=tmp_path)
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "results.json").read_text())
    raw, ours, fixed = results["cases"]["B"]["rows"]
    assert raw["x_of_bound"] == 1
    assert ours["x_of_bound"] == pytest.approx(ours["of_bound"] / raw["of_bound"])
    assert 0 < fixed["of_bound"] <= 1
    (killed,) = results["cases"]["E"]["rows"]
    assert 100 <= killed["delivered"] <= 200
    assert killed["lost"] == 0
    assert killed["resent"] <= killed["delivered"]
    text = (tmp_path / "results.md").read_text()
    for part in ("synthnb 0", "aiohttp 3", "SQLite 3", "cores ", "load average"):
        assert part in text, part
    assert "| raw aiohttp |" in text
    assert "B 1/1 raw aiohttp" in done.stderr
    assert "A64" not in results["cases"]
    picture = ET.parse(tmp_path / "benchmarks.svg").getroot()
    assert "synthnb, all of it" in "".join(picture.itertext())
    assert not list(tmp_path.glob("work-*"))


def test_wrong_answers_end_it(tmp_path):
    done = bench("--only", "B", "--n", "40", "--also", "ewrong=0.2", out=tmp_path)
    assert done.returncode == 1
    assert "B, raw aiohttp: " in done.stderr
    assert "of 40 requests are right" in done.stderr
    assert not list(tmp_path.iterdir())


def test_an_unknown_benchmark_is_named(tmp_path):
    done = bench("--only", "A64,Z", out=tmp_path)
    assert done.returncode == 2
    assert "unknown: Z; there are A64,B,C" in done.stderr


def test_only_a_whole_run_changes_the_picture_of_the_docs(tmp_path):
    run = importlib.import_module("run")
    assert run.picture_path(run.parsed([]), tmp_path) == run.PICTURE
    for part in (["--quick"], ["--n", "10"], ["--only", "B"], ["--skip", "F"]):
        chosen = run.parsed(part)
        assert run.picture_path(chosen, tmp_path).parent == tmp_path, part


# the stub ---------------------------------------------------------------------------------


def test_it_draws_what_the_peers_stub_draws():
    draws = importlib.import_module("draws")
    # From the peers' harness, whose stub.c has the same hash.
    assert draws.uniform(1, 7, 100) == pytest.approx(0.8767307261428525, abs=1e-15)
    assert draws.uniform(3, 12, 2) == pytest.approx(0.7905447920233084, abs=1e-15)
    tail = draws.Work(dist="ln", lat=200, sigma=1.43, cap=4000)
    assert tail.seconds(7) == pytest.approx(0.4645832951907685)
    assert draws.Work.of(tail.query) == tail


def test_the_bound_is_that_of_list_scheduling():
    bound = importlib.import_module("draws").list_bound
    assert bound([1, 1, 1, 1], 2) == 2
    assert bound([3, 1, 1, 1, 4], 2) == 7
    assert bound([], 3) == 0


def post(stub, number):
    data = json.dumps({"messages": [{"role": "user", "content": f"#R{number}#"}]})
    url = f"{stub.url}/chat/completions"
    request = urllib.request.Request(url, data.encode())
    with stub._opener.open(request, timeout=5) as answer:
        return json.load(answer)["choices"][0]["message"]["content"]


def test_the_stub_counts_what_is_sent_again(stub):
    stub.configure(importlib.import_module("draws").Work(lat=1, bytes=12))
    assert post(stub, 4) == "answer #R4# xxxxxx xxxxx"
    post(stub, 5)
    stub.phase()
    post(stub, 5)
    post(stub, 6)
    post(stub, 10**8)
    stats = stub.stats()
    assert (stats["req"], stats["r200"], stats["ok_uniq"]) == (5, 5, 3)
    assert (stats["resent"], stats["new_in_phase"], stats["noid"]) == (1, 1, 1)


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("e429", urllib.error.HTTPError),
        ("e500", urllib.error.HTTPError),
        ("ereset", ConnectionResetError),
    ],
)
def test_the_stub_fails_as_it_was_told(stub, fault, error):
    stub.configure(importlib.import_module("draws").Work(**{fault: 1.0}))
    with pytest.raises(error):
        post(stub, 1)
    assert stub.stats()["r200"] == 0
    assert stub.stats()["in_flight"] == 0


def test_the_stub_ends_with_its_parent():
    server = importlib.import_module("server")
    command = [sys.executable, server._STUB, "--max-seconds", "30"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as stub:
        json.loads(stub.stdout.readline())
        stub.stdin.close()  # as the system does when we are killed
        assert stub.wait(10) == 0


# peers and picture ------------------------------------------------------------------------


def line(name, work="A64", cpu=1.0, **more):
    res = {"wall": 2.0, "cpu": cpu, "ok": 100, "lost": 0, "wrong": 0}
    return json.dumps(
        {"name": name, "work": work, "n": 100, "c": 10, "res": res, **more}
    )


def test_the_peers_are_compared_with_raw_aiohttp(tmp_path):
    peers = importlib.import_module("peers_table")
    path = tmp_path / "results.jsonl"
    lines = [line("raw_aiohttp"), line("curator", cpu=9), line("curator", cpu=5),
             line("curator", cpu=7), line("synthnb", cpu=1.5),
             line("oai3_aio", killed="limit") .replace('"res": {', '"res": null, "x": {'),
             line("raw_aiohttp", "B", cfg="lat=100"), line("S64", "S64")]  # fmt: skip
    path.write_text("\n".join(lines))
    runs = peers.read(path)
    text = peers.document(runs)
    assert "| curator | 100 | 70.00 | 7.00 | 50 | 0 |" in text
    assert "| openai, aiohttp transport | no result (limit) | - | - | - | - |" in text
    assert "| raw aiohttp | 100 | 2.00 | 0.50 | 1.00 | 0 |" in text
    ratios = {"raw aiohttp": 1.0, "curator": 7.0, "synthnb": 1.5}
    assert peers.ratios(runs) == {"A64": ratios, "B": {"raw aiohttp": 0.5}}


def test_the_picture_cuts_long_bars_and_escapes(tmp_path):
    picture = importlib.import_module("picture")
    row = {"x_cpu_ms": 1.0, "x_loop_ms": 1.0}
    rows = [
        {"label": "raw <b>", **row},
        {"label": "synthnb", **row},
        {"label": "x", **row},
    ]
    results = {"cases": {"A64": {"rows": rows}}, "date": "today"}
    results["machine"] = {"cores": "2"}
    drawn = picture.drawn(results, {"A64": {"raw": 1.0, "slow": 158.0}})
    root = ET.fromstring(drawn)
    assert "raw <b>" in "".join(root.itertext())
    assert "158.00×" in drawn
    widths = [
        float(r.get("width")) for r in root.iter("{http://www.w3.org/2000/svg}rect")
    ]
    # Raw and the cut bar of the peers' run; the three of our own run for the loop.
    assert widths[1:] == [19.0, 380.0, 380.0, 380.0, 380.0]
    assert len(root.findall(".//{http://www.w3.org/2000/svg}polygon")) == 1
    assert "prefers-color-scheme:dark" in drawn
