"""Other models by URL or path: https, a hash, no half files."""

from __future__ import annotations

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from synthnb.errors import ConfigError, ModelServerError
from synthnb.runtimes import weights
from synthnb.runtimes.models import models_dir
from synthnb.runtimes.pull import pull

GGUF = b"GGUF" + b"x" * 5000
SHA256 = hashlib.sha256(GGUF).hexdigest()


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        place = self.path.split("?")[0]
        if place == "/moved.gguf":
            self.send_response(302)
            self.send_header("Location", "http://example.invalid/other.gguf")
            self.end_headers()
            return
        bodies = {
            "/My-Model.gguf": GGUF,
            "/page.gguf": b"<html>",
            "/cut.gguf": GGUF[:999],
        }
        body = bodies.get(place)
        self.send_response(404 if body is None else 200)
        self.send_header(
            "Content-Length", str(len(GGUF if place == "/cut.gguf" else body or b""))
        )
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *_):
        pass


@pytest.fixture
def url():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.01}
    )
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def kept():
    names = sorted(path.name for path in models_dir().glob("*"))
    return [name for name in names if name != ".lock"]


def test_a_url_with_its_hash(url):
    told = []
    found = pull(
        f"{url}/My-Model.gguf?download=true",
        sha256=SHA256.upper(),
        progress=lambda *step: told.append(step),
    )
    assert found.path == models_dir() / "my-model.gguf"
    assert found.path.read_bytes() == GGUF
    assert told[-1] == ("pulling my-model.gguf", len(GGUF), len(GGUF))
    assert weights.locate("my-model") == found


def test_a_url_without_a_hash_is_refused(url):
    with pytest.raises(ConfigError, match="needs its sha256"):
        pull(f"{url}/My-Model.gguf")


def test_another_file_than_meant_is_not_kept(url):
    with pytest.raises(ModelServerError, match="expected 000"):
        pull(f"{url}/My-Model.gguf", sha256="0" * 64)
    assert kept() == []


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        ("nothing.gguf", ModelServerError, "404"),
        ("page.gguf", ConfigError, "no GGUF file"),
        ("cut.gguf", ModelServerError, "cut.gguf"),
        ("moved.gguf", ConfigError, "example.invalid"),
        ("page", ConfigError, "does not end in the name of a .gguf file"),
        ("%2e%2e%2f.gguf", ConfigError, "does not end in the name"),
    ],
)
def test_what_goes_wrong_is_told_and_nothing_is_kept(url, name, error, words):
    with pytest.raises(error, match=words):
        pull(f"{url}/{name}", sha256=SHA256)
    assert kept() == []


@pytest.mark.parametrize("url", ["http://example.com/a.gguf", "ftp://127.0.0.1/a.gguf"])
def test_only_https_beyond_this_machine(url):
    with pytest.raises(ConfigError, match="over https"):
        pull(url, sha256=SHA256)


def test_nobody_listens():
    with pytest.raises(ModelServerError, match="could not pull"):
        pull("http://127.0.0.1:1/a.gguf", sha256=SHA256)


@pytest.mark.parametrize("text", ["", "abc", "g" * 64])
def test_a_hash_that_is_none(text):
    with pytest.raises(ConfigError, match="is no sha256"):
        pull("https://example.com/a.gguf", sha256=text)


def test_a_file_of_this_machine_is_copied(gguf):
    found = pull(str(gguf))
    assert found.path == models_dir() / "tiny-model.gguf"
    assert found.path.read_bytes() == gguf.read_bytes()
    with pytest.raises(ModelServerError, match="expected"):
        pull(gguf, sha256=SHA256)
    assert found.path.exists()


def test_a_known_model_by_name(monkeypatch, tiny, gguf):
    monkeypatch.setattr("synthnb.runtimes.pull.KNOWN_MODELS", {"tiny": tiny})
    monkeypatch.setattr(weights, "KNOWN_MODELS", {"tiny": tiny})
    models_dir().mkdir(parents=True)
    (models_dir() / "tiny.gguf").write_bytes(gguf.read_bytes())
    assert pull("tiny").path == models_dir() / "tiny.gguf"
