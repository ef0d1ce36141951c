"""Every notebook runs top to bottom in a real kernel, without a network."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


@pytest.fixture(scope="session")
def weights():
    """Fetch the embedded model's weights before the network is taken away."""
    from synthnb.runtimes.weights import ensure

    return ensure()


@pytest.mark.notebook
@pytest.mark.model
@pytest.mark.timeout(900)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_it_runs_and_makes_what_it_promises(path, tmp_path, monkeypatch, weights):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("SYNTHNB_HOME")
    shutil.copy(path, tmp_path)
    notebook = nbformat.read(tmp_path / path.name, as_version=4)
    client = NotebookClient(
        notebook, timeout=600, resources={"metadata": {"path": tmp_path}}
    )
    client.execute()
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            assert output.get("name") != "stderr", output["text"]
    kept = (tmp_path / "train.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(kept) >= 20
    assert (tmp_path / "runs" / "quickstart" / "run.sqlite").exists()
