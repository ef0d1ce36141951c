"""The demo with the real model: killed half-way, started again, and once more."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time

import pandas as pd
import pytest

DEMO = [sys.executable, "-m", "synthnb", "demo", "--json", "--out"]


def answers(path) -> int:
    if not path.exists():
        return 0
    db = sqlite3.connect(path, timeout=30)
    try:
        return db.execute("SELECT count(*) FROM result").fetchone()[0]
    except sqlite3.OperationalError:  # killed before the tables were made
        return 0
    finally:
        db.close()


def finished(out) -> dict:
    done = subprocess.run([*DEMO, out], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert told == json.loads((out / "summary.json").read_text())
    return told


@pytest.mark.model
@pytest.mark.timeout(1200)
def test_the_demo_survives_a_kill_and_buys_nothing_twice(tmp_path):
    out = tmp_path / "demo"
    ledger = out / "runs" / "qa" / "run.sqlite"
    first = subprocess.Popen([*DEMO, out], env=dict(os.environ))
    deadline = time.monotonic() + 300
    while answers(ledger) < 12 and time.monotonic() < deadline and first.poll() is None:
        time.sleep(0.2)
    first.send_signal(signal.SIGKILL)
    first.wait()
    saved = answers(ledger)
    assert 12 <= saved < 42

    told = finished(out)
    assert told["wanted"] == 42
    assert told["ok"] >= 38
    assert told["kept"] >= 20
    assert told["resumed"] == saved
    assert told["rated"] >= 20
    assert told["requests"] >= 42 - saved

    records = pd.read_parquet(out / "records.parquet")
    assert len(records) == 42
    assert records["record_id"].is_unique
    kept = [json.loads(x) for x in (out / "train.jsonl").read_text().splitlines()]
    assert len(kept) == told["kept"]
    assert all(
        [m["role"] for m in row["messages"]] == ["user", "assistant"] for row in kept
    )

    again = finished(out)
    assert again["requests"] == 0
    same = ("wanted", "ok", "kept", "by_status", "dropped", "rated")
    assert {name: again[name] for name in same} == {name: told[name] for name in same}


@pytest.mark.model
@pytest.mark.timeout(600)
def test_every_kept_pair_points_at_its_evidence(tmp_path):
    """The documents' text at the noted place is the evidence, word for word."""
    import synthnb as sn
    from synthnb.demo import documents_folder
    from synthnb.documents import read_documents

    folder = documents_folder()
    chunks = sn.read(folder / "glossary.md", root=folder, chunk_tokens=200, overlap=0)
    run = sn.generate(
        sn.QA(pairs=1), chunks, sn.Provider.local(), folder=tmp_path / "run"
    )
    df = run.wait()
    (document,) = read_documents(folder / "glossary.md", root=folder).documents
    good = df[df["status"] == "ok"]
    assert len(good) >= len(chunks) - 1
    for row in good.to_dict("records"):
        assert row["grounded"]
        span = document.text[row["evidence_start"] : row["evidence_end"]]
        assert span == row["evidence"]
