"""Rows N8 and N9 of the table of faults: certificates, and proxies in the environment.

Each is a whole run against real sockets, with the invariant proven at its end.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import socket
import ssl
import subprocess
from pathlib import Path

import pytest
from runs_on_the_wire import QUICK, at, forget_proxies, proven, rows, unused_port

from synthnb.errors import ConnectError
from synthnb.pipeline import generate
from synthnb.testing import FaultServer

pytestmark = pytest.mark.chaos


@pytest.fixture(autouse=True)
def no_proxy_of_this_machine(monkeypatch):
    forget_proxies(monkeypatch)


# N8 ---------------------------------------------------------------------------------------


@pytest.fixture
def certificate(tmp_path):
    """Make a certificate for 127.0.0.1 that nobody has signed but itself."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("there is no openssl program")
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(
        [
            openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt",
            "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
            "-keyout", key, "-out", cert,
        ],
        check=True, capture_output=True,
    )  # fmt: skip
    return key, cert


@pytest.fixture
async def encrypted(certificate):
    """A fault server behind TLS; yields (base URL, certificate, the server's counts)."""
    key, cert = certificate
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(cert, key)
    tasks = set()

    async def join(reader, writer):
        tasks.add(asyncio.current_task())
        above, below = await asyncio.open_connection("127.0.0.1", plain.port)

        async def copy(source, target):
            while data := await source.read(65536):
                target.write(data)
                await target.drain()
            target.close()

        await asyncio.gather(
            copy(reader, below), copy(above, writer), return_exceptions=True
        )
        writer.transport.abort()

    async with FaultServer() as plain:
        server = await asyncio.start_server(join, "127.0.0.1", 0, ssl=context)
        port = server.sockets[0].getsockname()[1]
        yield f"https://127.0.0.1:{port}/v1", cert, plain.stats
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.parametrize("key", [None, "sk-CANARY-1f5e9c"])
async def test_n8_a_certificate_of_unknown_origin_is_refused(echo, encrypted, key):
    base_url, _, stats = encrypted
    limits = QUICK.model_copy(update={"max_connect_failures": 2})
    target = at(base_url, api_key=key)
    run = generate(echo(), rows(20), target, name="n8", limits=limits)
    with pytest.raises(ConnectError, match=r"no trusted TLS connection") as caught:
        await run
    assert "SSL_CERT_FILE" in str(caught.value)
    assert "CANARY" not in str(caught.value)
    # Neither a row's text nor a key has left this machine.
    assert stats.requests == stats.connections == stats.authorized == 0
    assert proven(run, 20).results == 0


async def test_n8_a_certificate_that_is_named_is_trusted(echo, encrypted, monkeypatch):
    base_url, cert, stats = encrypted
    monkeypatch.setenv("SSL_CERT_FILE", str(cert))
    run = generate(echo(), rows(20), at(base_url), name="n8", limits=QUICK)
    await run
    assert run.status == {"ok": 20}
    assert stats.requests == 20
    assert len(proven(run, 20).answers) == 20


# N9 ---------------------------------------------------------------------------------------


@pytest.fixture
def dead_proxy(monkeypatch):
    """Name a proxy in the environment that is not there."""
    port = unused_port()
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{port}")
        monkeypatch.setenv(name.lower(), f"http://127.0.0.1:{port}")
    return port


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_n9_this_machine_is_never_reached_through_a_proxy(echo, dead_proxy, host):
    async with FaultServer() as server:
        try:
            with socket.create_connection((host, server.port), 5):
                pass
        except OSError:
            pytest.skip(f"{host} does not lead to this server on this machine")
        target = at(f"http://{host}:{server.port}/v1")
        run = generate(echo(), rows(20), target, name="n9", limits=QUICK)
        await run
        assert run.status == {"ok": 20}
        assert len(proven(run, 20).answers) == 20


async def test_n9_a_dead_proxy_is_named_in_the_message(echo, dead_proxy):
    limits = QUICK.model_copy(update={"max_connect_failures": 1})
    target = at("http://model.example:8000/v1")
    run = generate(echo(), rows(3), target, name="n9", limits=limits)
    with pytest.raises(ConnectError) as caught:
        await run
    assert f"127.0.0.1:{dead_proxy}" in str(caught.value)
    assert "NO_PROXY" in str(caught.value)


async def test_n9_another_host_is_reached_through_the_proxy_only(
    echo, dead_proxy, monkeypatch
):
    """The proxy is not there: that is said, and nothing goes past it."""
    limits = QUICK.model_copy(update={"max_connect_failures": 2})
    looked_up = []
    look_up = socket.getaddrinfo

    def counted(host, *rest, **options):
        looked_up.append(host)
        return look_up(host, *rest, **options)

    monkeypatch.setattr(socket, "getaddrinfo", counted)
    target = at("http://model.example:8000/v1")
    run = generate(echo(), rows(20), target, name="n9", limits=limits)
    with pytest.raises(ConnectError):
        await run
    assert "model.example" not in looked_up
    assert proven(run, 20).results == 0


def name_of_this_machine():
    """Return a name that leads to 127.0.0.1 and does not look so; skip without one."""
    for line in Path("/etc/hosts").read_text().splitlines():
        address, *names = line.partition("#")[0].split() or [""]
        for name in names:
            if address == "127.0.0.1" and "localhost" not in name:
                return name
    pytest.skip("no other name leads to this machine")


async def test_n9_a_name_is_judged_by_itself_not_by_where_it_leads(
    echo, dead_proxy, monkeypatch
):
    """As curl does: looking it up first would tell the network's resolver of it.

    Whoever names this machine otherwise than localhost says so in NO_PROXY.
    """
    name = name_of_this_machine()
    limits = QUICK.model_copy(update={"max_connect_failures": 1})
    async with FaultServer() as server:
        target = at(f"http://{name}:{server.port}/v1")
        run = generate(echo(), rows(5), target, name="n9", limits=limits)
        with pytest.raises(ConnectError):
            await run
        assert server.stats.requests == 0
        for variable in ("NO_PROXY", "no_proxy"):
            monkeypatch.setenv(variable, f"elsewhere.example,{name}")
        run = generate(echo(), rows(5), target, name="n9", limits=limits)
        await run
        assert run.status == {"ok": 5}
        assert server.stats.requests == 5


async def test_n9_a_proxy_that_works_carries_other_hosts(echo, monkeypatch):
    """The fault server stands in for a forward proxy: it is asked for the whole URL."""
    asked_for = []

    async def forward(reader, writer):
        head = await reader.readuntil(b"\r\n\r\n")
        asked_for.append(head.split(b"\r\n", 1)[0])
        # With a body left unread the close would be a reset, which may lose the answer.
        length = re.search(rb"content-length: (\d+)", head)
        await reader.readexactly(int(length[1]) if length else 0)
        head = b"HTTP/1.1 502 Bad\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
        writer.write(head)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(forward, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{port}")
    target = at("http://model.example:8000/v1")
    run = generate(echo(), rows(3), target, name="n9", limits=QUICK)
    await run
    server.close()
    whole = b"http://model.example:8000/"
    assert all(line.split()[1].startswith(whole) for line in asked_for)
    chats = [line for line in asked_for if line.startswith(b"POST ")]
    assert set(chats) == {b"POST " + whole + b"v1/chat/completions HTTP/1.1"}
    assert run.status == {"server": 3}
    assert proven(run, 3).calls == len(chats) == 3 * QUICK.retry.max_attempts
