"""A notebook with a run, executed without any front end, and what it looks like saved."""

from __future__ import annotations

import json
import time

import nbformat
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter

from synthnb.testing import fault_process

pytestmark = [pytest.mark.notebook, pytest.mark.timeout(180)]

START = """
import synthnb as sn
provider = sn.Provider({url!r}, model="fault-model")
rows = [{{"text": f"#R{{i}}#"}} for i in range(60)]
run = sn.generate(sn.Prompt("Say {{{{ text }}}}"), rows, provider, name="saved")
run
"""


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """Run the cells; the last one awaits the run, and then the kernel is gone."""
    folder = tmp_path_factory.mktemp("saved")
    faults = ["--fault", '{"what": "length", "rate": 0.1}']
    with fault_process("--latency", "0.02", "--max-seconds", "120", *faults) as server:
        cells = [START.format(url=server.base_url), "df = await run"]
        notebook = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(cell) for cell in cells]
        )
        client = NotebookClient(notebook, resources={"metadata": {"path": folder}})
        began = time.monotonic()
        client.execute()
        seconds = time.monotonic() - began
    return notebook, seconds


def test_it_works_without_a_front_end_and_leaves_the_static_block(executed):
    notebook, seconds = executed
    (output,) = notebook.cells[0].outputs
    assert "application/vnd.jupyter.widget-view+json" not in output.data
    assert "60 wanted, " in output.data["text/html"]
    assert "✓ done" in output.data["text/html"]
    assert output.data["text/plain"].startswith("Run 'saved': done in 0:")
    assert seconds < 60


def test_the_file_stays_small_even_with_widget_state(executed):
    notebook, _ = executed
    assert len(json.dumps(notebook.cells)) < 10_000
    assert len(nbformat.writes(notebook)) < 100_000


def test_nbconvert_shows_the_summary_line(executed):
    notebook, _ = executed
    html, _ = HTMLExporter().from_notebook_node(notebook)
    assert "60 wanted, " in html
    assert "Raise max_tokens in the recipe" in html
    assert "<figcaption" in html
