"""https with a certificate that nobody signed."""

from __future__ import annotations

import json
import ssl
import urllib.error
import urllib.request

import pytest

from synthnb.testing import FaultServer, fault_process
from synthnb.testing.certificates import has_openssl, make_certificate

pytestmark = pytest.mark.skipif(
    not has_openssl(), reason="certificates are made by the `openssl` program"
)


def ask(url, cafile=None):
    context = ssl.create_default_context(cafile=cafile)
    with urllib.request.urlopen(url, timeout=5, context=context) as answer:
        return answer.status


def test_a_self_signed_certificate_is_refused_unless_it_is_trusted():
    with FaultServer.in_thread(tls="self-signed") as server:
        assert server.base_url.startswith("https://127.0.0.1:")
        with pytest.raises(urllib.error.URLError, match="self-signed"):
            ask(f"{server.url}/health")
        assert ask(f"{server.url}/health", server.ca_file) == 200
    assert server.stats.paths == {"GET /health": 1}


def test_a_certificate_for_somebody_else_is_refused_even_if_trusted():
    with (
        FaultServer.in_thread(tls="wrong-host") as server,
        pytest.raises(urllib.error.URLError, match=r"127\.0\.0\.1"),
    ):
        ask(f"{server.url}/health", server.ca_file)


def test_a_certificate_of_ones_own(tmp_path):
    files = make_certificate(tmp_path)
    with FaultServer.in_thread(tls_files=files, latency=0.001) as server:
        context = ssl.create_default_context(cafile=files[0])
        request = urllib.request.Request(
            f"{server.base_url}/chat/completions", b'{"messages": []}'
        )
        with urllib.request.urlopen(request, timeout=5, context=context) as answer:
            assert json.load(answer)["object"] == "chat.completion"


def test_a_process_with_tls():
    with fault_process("--tls", "self-signed") as server:
        assert ask(f"{server.base_url}/models", server.ca_file) == 200
        assert server.stats()["paths"]["GET /v1/models"] == 1


def test_a_certificate_that_does_not_exist(tmp_path):
    with pytest.raises(ValueError, match="wrong-host"):
        FaultServer(tls="expired")


def test_without_the_program_it_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RuntimeError, match="openssl"):
        FaultServer(tls="self-signed")
