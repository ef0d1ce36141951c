"""The canary: a key typed into the form is in no file, page, log or history afterwards.

Looked for is every run of six characters of the key's random part, in raw bytes.
"""

from __future__ import annotations

import json
import secrets
import string
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect

from synthnb.testing import fault_process

# What a person does who looks for a fault: every message that reaches the kernel is
# written down, in the outputs of cells and in the server's log.
LOUD = """
import logging
logging.basicConfig(level=logging.DEBUG)
logging.getLogger("Comm").setLevel("DEBUG")
get_ipython().kernel.log.setLevel("DEBUG")
"""
MAKE = """
import synthnb as sn
from synthnb.widgets.picker import ProviderPicker
picker = ProviderPicker()
picker
"""
RUN = """
rows = [{"text": f"row {i}"} for i in range(5)]
run = sn.generate(sn.Prompt("{{ text }}"), rows, picker.provider, name="canary")
df = await run
df
"""
SHOW = "picker.provider, picker, run, await picker.provider.check()"
REFUSED = """
await sn.generate(sn.Prompt("again {{ text }}"), rows, picker.provider, name="refused")
"""
CELLS = (LOUD, MAKE, RUN, SHOW, REFUSED)


def random_part() -> str:
    """Return letters that nothing else of this session holds."""
    return "".join(secrets.choice(string.ascii_letters) for _ in range(32))


def pieces(secret: str, size: int = 6) -> list[str]:
    return [secret[i : i + size] for i in range(len(secret) - size + 1)]


def holding(folder: Path, secret: str) -> list[str]:
    """Return the files below a folder that hold six characters in a row of a secret."""
    wanted = [piece.encode() for piece in pieces(secret)]
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return [
        path.relative_to(folder).as_posix()
        for path in files
        if any(piece in raw for raw in (path.read_bytes(),) for piece in wanted)
    ]


class Canary:
    """The whole place - state folders, notebooks, runs, logs - and the secret."""

    def __init__(self, nb):
        self.nb, self.secret = nb, random_part()
        self.key = f"sk-CANARY-{self.secret}"
        self.place = nb.lab.state

    def page_is_clean(self):
        page = self.nb.page.evaluate("() => document.documentElement.outerHTML")
        assert len(page) > 10_000
        assert not [p for p in pieces(self.secret) if p in page]

    def save(self):
        """Save twice, so that the checkpoint is of this state as well, and export."""
        self.nb.save()
        self.nb.save()
        self.nb.page.evaluate(
            "() => jupyterapp.shell.currentWidget.context.createCheckpoint()"
        )
        command = [sys.executable, "-m", "nbconvert", "--to", "html", str(self.nb.path)]
        subprocess.run(command, check=True, capture_output=True)

    def files_are_clean(self):
        self.save()
        names = {path.name for path in self.place.rglob("*") if path.is_file()}
        # The search went where the promise counts.
        assert {"test.ipynb", "test-checkpoint.ipynb", "test.html"} <= names
        assert {"history.sqlite", "server.log"} <= names
        assert holding(self.place, self.secret) == []


@pytest.fixture
def canary(notebook):
    return Canary(notebook(*CELLS))


@pytest.fixture
def wanting(canary):
    """A server that demands the key and repeats it in its refusals."""
    answer = {"error": {"message": f"no {canary.key} here, nor {canary.key[:-4]}…"}}
    fault = json.dumps({"what": 401, "contains": "again", "body": answer})
    with fault_process("--require-key", canary.key, "--fault", fault) as server:
        yield server


def test_the_search_finds_what_is_there(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    secret = random_part()
    (tmp_path / "a" / "b" / "c.bin").write_bytes(
        b"\x00" + secret[7:13].encode() + b"\xff"
    )
    (tmp_path / "d").write_text(secret[:5])
    assert holding(tmp_path, secret) == ["a/b/c.bin"]


def test_no_six_characters_of_a_typed_key_stay_anywhere(canary, wanting):
    nb = canary.nb
    nb.run(0)
    nb.run(1)
    root = nb.cell(1).locator(".snb-picker")
    root.get_by_label("Server URL").check()
    url = root.get_by_label("URL", exact=True)
    url.fill(f"localhost:{wanting.port}")
    url.press("Enter")
    key = root.locator("input[type=password]")
    expect(key).to_be_enabled()

    # Typed and not yet set: it is in the field, and in nothing that is written.
    key.press_sequentially(canary.key)
    expect(key).to_have_value(canary.key)
    canary.page_is_clean()
    canary.files_are_clean()
    expect(key).to_have_value(canary.key)

    key.press("Enter")
    expect(key).to_have_value("")
    expect(root).to_contain_text("1 model")
    root.get_by_role("button", name="Check").click()
    expect(root).to_contain_text("vLLM")
    nb.run(2)
    assert any(path.name == "run.sqlite" for path in canary.place.rglob("*"))
    # Messages are really written down, the one that brought the key among them.
    nb.save()
    written = nb.lab.log.read_text() + nb.path.read_text()
    assert "typed_for" in written
    nb.run(3)
    canary.page_is_clean()
    canary.files_are_clean()
    (state,) = [part["data"]["text/plain"] for part in nb.outputs(3) if "data" in part]
    assert "key set" in state

    # Refused, by a server that says the key back.
    nb.run(4)
    assert "[key]" in str(nb.outputs(4))
    canary.page_is_clean()
    canary.files_are_clean()

    nb.reload()
    expect(root).to_contain_text(f"set, for http://localhost:{wanting.port} only")
    canary.page_is_clean()
    canary.files_are_clean()

    # Not in what the kernel would hand to any page that asks, nor in its history.
    assert "True" in nb.python(
        "from ipywidgets import Widget\n"
        "from ipywidgets.widgets.widget import _instances\n"
        f"found = [w for w in _instances.values() if {canary.secret[:3]!r} + {canary.secret[3:6]!r} in str(w.get_state())]\n"
        "print(len(_instances) > 0 and found == [])"
    )
    # And it is still there to be used.
    assert "True" in nb.python(
        f"print(picker.provider._key.reveal()[10:13] == {canary.secret[:3]!r})"
    )
