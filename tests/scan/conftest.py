"""Keys for these tests are drawn when they run: no file of ours may hold one."""

from __future__ import annotations

import base64
import json
import random
import string

import pytest

LETTERS = string.ascii_letters
BASE62 = LETTERS + string.digits
URLSAFE = BASE62 + "-_"
HEX = "0123456789abcdef"


class Draw:
    """Draws keys of every kind, the same ones in every run."""

    def __init__(self, seed: int = 20260801):
        self.random = random.Random(seed)

    def text(self, length: int, alphabet: str = BASE62) -> str:
        return "".join(self.random.choice(alphabet) for _ in range(length))

    def digits(self, length: int) -> str:
        return self.text(length, string.digits)

    def jwt(self) -> str:
        parts = ({"alg": "HS256", "typ": "JWT"}, {"sub": self.text(12), "admin": True})
        texts = [
            base64.urlsafe_b64encode(json.dumps(p).encode()).decode() for p in parts
        ]
        return ".".join([*(t.rstrip("=") for t in texts), self.text(43, URLSAFE)])

    def pem(self) -> str:
        lines = "\n".join(self.text(64, BASE62 + "+/") for _ in range(6))
        mark = "PRIVATE" + " KEY-----"
        return f"-----BEGIN {mark}\n{lines}\n-----END {mark}"

    def by_prefix(self) -> dict[str, list[str]]:
        upper = string.ascii_uppercase + "234567"
        t, d = self.text, self.digits
        return {
            "OpenAI-like key": [
                f"sk-proj-{t(156, URLSAFE)}",
                f"sk-{t(20)}T3BlbkFJ{t(20)}",
                f"sk-{t(32, HEX)}",
                f"sk-or-v1-{t(64, HEX)}",
                f"sk-svcacct-{t(120, URLSAFE)}",
            ],
            "Anthropic key": [f"sk-ant-api03-{t(93, URLSAFE)}AA"],
            "Hugging Face token": [f"hf_{t(34, LETTERS)}", f"api_org_{t(34, LETTERS)}"],
            "GitHub token": [
                f"ghp_{t(36)}",
                f"ghs_{t(36)}",
                f"github_pat_{t(22)}_{t(59)}",
            ],
            "GitLab token": [f"glpat-{t(20)}"],
            "AWS access key id": [f"AKIA{t(16, upper)}", f"ASIA{t(16, upper)}"],
            "Google API key": [f"AIza{t(35, URLSAFE)}"],
            "Google access token": [f"ya29.{t(120, URLSAFE)}"],
            "Slack token": [f"xoxb-{d(12)}-{d(12)}-{t(24)}"],
            "Slack webhook": [f"hooks.slack.com/services/T{t(9)}/B{t(9)}/{t(24)}"],
            "Groq key": [f"gsk_{t(52)}"],
            "NVIDIA key": [f"nvapi-{t(64, URLSAFE)}"],
            "Replicate token": [f"r8_{t(37)}"],
            "Stripe key": [f"sk_live_{t(24)}"],
            "PyPI token": [f"pypi-AgEI{t(120, URLSAFE)}"],
            "npm token": [f"npm_{t(36)}"],
            "SendGrid key": [f"SG.{t(22, URLSAFE)}.{t(43, URLSAFE)}"],
            "Databricks token": [f"dapi{t(32, HEX)}"],
            "JSON web token": [self.jwt()],
        }


@pytest.fixture
def draw():
    return Draw()


def code(source="", outputs=(), **more):
    return {
        "cell_type": "code", "id": "cell-1", "metadata": {}, "execution_count": 1,
        "source": source, "outputs": list(outputs), **more,
    }  # fmt: skip


def stream(text):
    return {"output_type": "stream", "name": "stdout", "text": text}


def shown(**data):
    data = {mime.replace("__", "/"): value for mime, value in data.items()}
    return {"output_type": "display_data", "metadata": {}, "data": data}


class Book:
    """Writes notebooks, and scans them without the environment of this machine."""

    code = staticmethod(code)
    stream = staticmethod(stream)
    shown = staticmethod(shown)

    def __init__(self, folder):
        self.path = folder / "book.ipynb"

    def write(self, *cells, metadata=None, path=None, **more):
        book = {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata or {}}
        book["cells"] = list(cells)
        path = path or self.path
        path.write_text(json.dumps(book | more), encoding="utf-8")
        return path

    def scan(self, *cells, environ=None, **more):
        from synthnb.scan import scan_notebook

        return scan_notebook(self.write(*cells, **more), environ=environ or {})

    def scan_source(self, text):
        return self.scan(code(text))

    def scan_output(self, text):
        return self.scan(code(outputs=[stream(text)]))

    def scan_models(self, *models):
        state = {"version_major": 2, "version_minor": 0, "state": {}}
        state["state"] = {f"{i:032x}": model for i, model in enumerate(models)}
        kind = "application/vnd.jupyter.widget-state+json"
        return self.scan(code("1"), metadata={"widgets": {kind: state}})


@pytest.fixture
def book(tmp_path):
    return Book(tmp_path)
