from __future__ import annotations

import asyncio
import errno
import json
import socket
import ssl as ssl_module
import subprocess

import pytest
from raw_server import (
    SCHEMA,
    Broken,
    ask,
    chat,
    free_port,
    http,
    models,
    serving,
    talking,
)

from synthnb.config import Limits
from synthnb.errors import (
    AuthError,
    ConnectError,
    ContextError,
    RateLimitError,
    RequestRefusedError,
    RequestTimeoutError,
    ServerError,
)
from synthnb.providers import Provider
from synthnb.providers.redaction import Redactor
from synthnb.providers.transport import HttpTransport, connect_error

HEAD = b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
QUICK = Limits(connect_timeout=0.2, first_byte_timeout=0.2, total_timeout=0.4)


async def call(answer, request=None, *, limits=None, **options):
    """Answer the list of models, and each chat with ``answer``; return what came."""
    async with serving(_with_models(answer)) as raw:
        client = await Provider(raw.url, "m", **options).connect(limits)
        try:
            return await client.complete(request or ask())
        finally:
            await client.aclose()


def _with_models(answer):
    def reply(seen):
        if seen.method == "GET":
            return http(200, models("m"))
        return answer(seen) if callable(answer) else answer

    return reply


async def test_an_answer_comes_back_and_the_connection_is_used_again():
    async with serving(_with_models(http(200, chat("hello")))) as raw:
        client = await Provider(raw.url, "m").connect()
        for _ in range(5):
            assert (await client.complete(ask())).text == "hello"
        assert raw.open == 1
        assert len(raw.chats) == 5
        await client.aclose()


async def test_chunked_answers_and_those_that_end_with_the_connection_are_read():
    body = json.dumps(chat("hello")).encode()
    piece = CHUNKED + b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    assert (await call(piece)).text == "hello"
    assert (await call(Broken(b"HTTP/1.1 200 OK\r\n\r\n" + body))).text == "hello"


# ---- N: the network


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (Broken(b"", "close"), "connection broke"),
        (Broken(b"", "reset"), "connection broke"),
        (Broken(HEAD + b"abc", "close"), "connection broke"),
        (Broken(HEAD + b"abc", "reset"), "connection broke"),
        (Broken(CHUNKED + b"5\r\nabcde\r\n", "close"), "connection broke"),
        (Broken(b"HTTP/1.1 20", "close"), "connection broke"),
        (b"what is this\r\n\r\n", "connection broke"),
    ],
)
async def test_a_broken_connection_is_a_retryable_server_error(answer, word):
    with pytest.raises(ServerError, match=word) as caught:
        await call(answer)
    assert caught.value.retryable
    assert caught.value.__cause__ is None


async def test_half_an_answer_is_never_taken_for_a_whole_one():
    whole = json.dumps(chat("hello")).encode()
    head = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % (len(whole) + 1)
    with pytest.raises(ServerError):
        await call(Broken(head + whole))


@pytest.mark.parametrize(
    ("head", "word"),
    [
        (b"", "no complete answer within 0.2 s"),
        (HEAD + b"abc", "no complete answer within 0.4 s"),
    ],
)
async def test_silence_ends_with_the_time_out_and_closes_the_connection(head, word):
    async with serving(_with_models(Broken(head, "silence"))) as raw:
        client = await Provider(raw.url, "m").connect(QUICK)
        with pytest.raises(RequestTimeoutError, match=word) as caught:
            await client.complete(ask())
        assert caught.value.retryable
        await _until(lambda: raw.open == 0)
        await client.aclose()


async def test_a_trickle_ends_with_the_total_time_out():
    async def trickle(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(HEAD)
        for _ in range(100):
            writer.write(b"x")
            await asyncio.sleep(0.02)
        writer.close()

    async with talking(trickle) as port:
        transport = _transport(f"http://127.0.0.1:{port}/v1")
        with pytest.raises(RequestTimeoutError, match="no complete answer"):
            await transport.post("/chat/completions", b"{}")
        await transport.aclose()


def _transport(base_url, limits=QUICK, concurrency=4):
    return HttpTransport(
        base_url, {}, limits=limits, concurrency=concurrency, redactor=Redactor()
    )


async def test_a_port_that_refuses_and_a_name_that_is_unknown_are_told_apart():
    refused = _transport(f"http://127.0.0.1:{free_port()}/v1")
    with pytest.raises(ConnectError, match="nothing listens"):
        await refused.post("/x", b"")
    unknown = _transport("http://nope.invalid/v1")
    with pytest.raises(ConnectError, match=r"host 'nope\.invalid' is unknown"):
        await unknown.post("/x", b"")


async def test_a_connection_that_is_never_accepted_times_out():
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        waiting = []
        for _ in range(3):
            one = socket.socket()
            one.settimeout(0)
            one.connect_ex(full.getsockname())
            waiting.append(one)
        limits = Limits(connect_timeout=0.1, first_byte_timeout=5, total_timeout=5)
        transport = _transport(f"http://127.0.0.1:{full.getsockname()[1]}/v1", limits)
        with pytest.raises(
            ConnectError, match=r"no connection to 127.0.0.1 within 0.1 s"
        ):
            await transport.post("/x", b"")
        for one in waiting:
            one.close()


async def test_a_certificate_that_nobody_signed_is_refused(tmp_path):
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1"
    files = ["-keyout", str(tmp_path / "k.pem"), "-out", str(tmp_path / "c.pem")]
    subprocess.run([*command.split(), *files], check=True, capture_output=True)
    context = ssl_module.SSLContext(ssl_module.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "c.pem", tmp_path / "k.pem")
    async with serving(http(200, chat()), ssl=context) as raw:
        client = await Provider(f"https://127.0.0.1:{raw.port}/v1", "m").connect()
        with pytest.raises(ConnectError, match="no trusted TLS connection") as caught:
            await client.complete(ask())
        assert "SSL_CERT_FILE" in caught.value.hint
        assert raw.seen == []
        await client.aclose()


async def test_loopback_is_never_proxied_and_other_hosts_are(monkeypatch):
    async with serving(http(200, {"by": "proxy"})) as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        assert (await call(http(200, chat("direct")))).text == "direct"
        assert proxy.seen == []
        remote = _transport("http://models.invalid/v1")
        assert (await remote.post("/chat/completions", b"{}")).status == 200
        assert proxy.seen[0].path == "http://models.invalid/v1/chat/completions"


async def test_no_descriptor_left_is_a_connect_error_with_a_way_out():
    cause = OSError(errno.EMFILE, "Too many open files")
    found = connect_error("http://127.0.0.1:1/v1", cause, Redactor())
    assert "no more files" in found.message
    assert "max_concurrency" in found.hint


# ---- S: the server


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (http(401, {"error": "no"}), AuthError),
        (http(429, {"error": "slow"}, retry_after="7"), RateLimitError),
        (http(503, {"error": {"message": "Loading model"}}), RateLimitError),
        (http(500, "boom"), ServerError),
        (http(400, {"error": {"code": "context_length_exceeded"}}), ContextError),
        (http(400, {"error": "bad n"}), RequestRefusedError),
        (http(404, {"error": {"code": "model_not_found"}}), RequestRefusedError),
        (http(200, ""), ServerError),
        (http(200, "<html>"), ServerError),
        (http(204, ""), RequestRefusedError),
    ],
)
async def test_each_failure_is_typed_and_asked_for_once(answer, kind):
    async with serving(_with_models(answer)) as raw:
        client = await Provider(raw.url, "m").connect()
        with pytest.raises(kind) as caught:
            await client.complete(ask())
        assert len(raw.chats) == 1
        assert caught.value.retry_after == (
            7.0 if kind is RateLimitError and b"slow" in answer else None
        )
        await client.aclose()


async def test_a_redirect_is_an_error_and_the_key_is_not_sent_on():
    async with serving(http(200, chat())) as elsewhere:
        moved = http(307, "", location=f"{elsewhere.url}/v1/chat/completions")
        with pytest.raises(RequestRefusedError, match="redirects") as caught:
            await call(moved, api_key="sk-CANARY-9f3b7d21")
        assert caught.value.stops_run
        assert elsewhere.seen == []


@pytest.mark.parametrize("declared", [True, False])
async def test_a_huge_answer_is_cut_off_at_the_cap(declared):
    async def flood(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        length = b"content-length: 999999999\r\n" if declared else b""
        writer.write(b"HTTP/1.1 200 OK\r\n" + length + b"\r\n")
        try:
            while True:
                writer.write(b"x" * 10_000)
                await writer.drain()
        except ConnectionError:
            gone.set()

    gone = asyncio.Event()
    async with talking(flood) as port:
        limits = Limits(max_answer_bytes=50_000)
        transport = _transport(f"http://127.0.0.1:{port}", limits)
        with pytest.raises(ServerError, match="larger than 50,000 bytes") as caught:
            await transport.post("/x", b"")
        assert "max_tokens" in caught.value.hint
        await asyncio.wait_for(gone.wait(), 5)
        await transport.aclose()


async def test_an_answer_of_exactly_the_cap_passes():
    answer = chat("x" * 2_000)
    size = len(http(200, answer)) - len(http(200, "")) - 3
    assert (await call(http(200, answer), limits=Limits(max_answer_bytes=size))).text


async def test_a_wrong_model_names_those_that_are_listed():
    async with serving(
        _with_models(http(404, {"error": {"message": "model 'n' not found"}}))
    ) as raw:
        client = await Provider(raw.url, "n").connect()
        with pytest.raises(RequestRefusedError, match="no model 'n'") as caught:
            await client.complete(ask())
        assert "The server has: m" in caught.value.hint
        await client.aclose()


# ---- dialect, end to end


def _picky(seen):
    """Refuse as OpenAI's reasoning models and LM Studio do, one thing at a time."""
    sent = seen.json
    if "max_tokens" in sent:
        return _refuse("max_tokens", "Use 'max_completion_tokens' instead")
    if "temperature" in sent:
        return _refuse("temperature", "Only the default (1) value is supported")
    if sent.get("response_format", {}).get("type") == "json_schema":
        return http(
            400, {"error": "'response_format.type' must be 'json_object' or 'text'"}
        )
    if "response_format" in sent:
        return http(
            400, {"error": "'response_format.type' must be 'json_schema' or 'text'"}
        )
    if sent["messages"][0]["role"] == "system":
        return http(400, {"object": "error", "message": "System role not supported"})
    return http(200, chat('{"answer": "a"}'))


def _refuse(name, text):
    error = {
        "message": f"Unsupported: {text}",
        "param": name,
        "code": "unsupported_parameter",
    }
    return http(400, {"error": error})


async def test_a_picky_server_is_learned_once_and_remembered():
    request = ask(schema=SCHEMA, system="s", temperature=0.3, max_tokens=50)
    async with serving(_with_models(_picky)) as raw:
        client = await Provider(raw.url, "m").connect()
        found = await client.complete(request)
        assert found.text == '{"answer": "a"}'
        assert found.adapted == ("prompt_only", "system_folded", "no_temperature")
        assert len(raw.chats) == 6
        await client.complete(request)
        assert len(raw.chats) == 7
        assert "max_completion_tokens" in client.dialect
        await client.aclose()
        again = await Provider(raw.url, "m").connect()
        await again.complete(request)
        assert len(raw.chats) == 8
        await again.aclose()


async def test_many_requests_learn_at_the_same_time_without_a_loss():
    request = ask(schema=SCHEMA, system="s", temperature=0.3, max_tokens=50)
    async with serving(_with_models(_picky)) as raw:
        client = await Provider(raw.url, "m").connect()
        found = await asyncio.gather(*(client.complete(request) for _ in range(20)))
        assert {f.text for f in found} == {'{"answer": "a"}'}
        await client.aclose()


async def test_a_server_that_refuses_for_ever_is_asked_a_bounded_number_of_times():
    def never(seen):
        names = [
            n
            for n in ("max_tokens", "temperature", "response_format")
            if n in seen.json
        ]
        return _refuse(names[0] if names else "n", "never")

    request = ask(schema=SCHEMA, temperature=0.3, max_tokens=50)
    async with serving(_with_models(never)) as raw:
        client = await Provider(raw.url, "m").connect()
        with pytest.raises(RequestRefusedError):
            await client.complete(request)
        assert len(raw.chats) <= 6
        await client.aclose()


# ---- cancellation, concurrency, closing


async def test_a_cancelled_request_closes_its_connection():
    async with serving(_with_models(Broken(b"", "silence"))) as raw:
        client = await Provider(raw.url, "m").connect()
        tasks = [asyncio.create_task(client.complete(ask())) for _ in range(10)]
        await _until(lambda: len(raw.chats) == 10)
        for task in tasks:
            task.cancel()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(o, asyncio.CancelledError) for o in outcomes)
        await _until(lambda: raw.open == 0)
        await client.aclose()


async def test_as_many_requests_are_in_flight_as_are_asked():
    most = 0
    gate = asyncio.Event()

    async def talk(reader, writer):
        nonlocal most
        await reader.readuntil(b"\r\n\r\n")
        most += 1
        if most == 24:
            gate.set()
        await gate.wait()
        writer.write(http(200, chat(), connection="close"))
        writer.close()

    async with talking(talk) as port:
        transport = _transport(f"http://127.0.0.1:{port}/v1", Limits(), 24)
        found = await asyncio.gather(*(transport.post("/x", b"") for _ in range(24)))
        assert {a.status for a in found} == {200}
        await transport.aclose()


async def test_a_closed_client_says_so():
    async with serving(_with_models(http(200, chat()))) as raw:
        client = await Provider(raw.url, "m").connect()
        await client.aclose()
        with pytest.raises(ConnectError, match="was closed"):
            await client.complete(ask())
        assert "m at http://127.0.0.1" in repr(client)


async def _until(condition):
    async with asyncio.timeout(5):
        while not condition():
            await asyncio.sleep(0.005)
