"""The canary stands above all: no six characters of the key in any text, on any path."""

from __future__ import annotations

import copy
import logging
import pickle
import subprocess
import sys
import traceback

import pytest
from raw_server import CANARY, Broken, ask, free_port, http, models, serving

from synthnb.config import Limits
from synthnb.providers import Provider

ECHOES = [
    http(status, body)
    for status in (301, 400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 503, 504)
    for body in (
        {
            "error": {
                "message": f"Incorrect API key provided: {CANARY}.",
                "code": CANARY,
            }
        },
        f"<html>{CANARY} {CANARY[:8]}***{CANARY[-6:]}</html>",
    )
]
OTHERS = [
    http(200, f"not json {CANARY}"),
    http(200, {"error": {"message": CANARY}}),
    http(200, {"detail": CANARY, "choices": []}),
    http(302, "", location=f"http://h/?key={CANARY}"),
    http(400, {"error": f"response_format {CANARY} unsupported"}),
    http(404, {"error": {"message": f"model '{CANARY}' not found"}}),
    Broken(b"HTTP/1.1 200 OK\r\n" + CANARY.encode(), "close"),
    Broken(CANARY.encode() * 3 + b"\r\n\r\n", "close"),
    Broken(b"", "silence"),
]
QUICK = Limits(first_byte_timeout=0.1, total_timeout=0.1)


def assert_clean(text: str) -> None:
    parts = [CANARY[i : i + 6] for i in range(len(CANARY) - 5)]
    found = [part for part in parts if part.lower() in text.lower()]
    assert not found, text


def whole(error: BaseException) -> str:
    """Return all texts of an error, its traceback with what stands behind it."""
    lines = traceback.format_exception(error)
    seen = [str(error), repr(error), *lines, repr(error.__dict__)]
    while (error := error.__cause__ or error.__context__) is not None:
        seen += [str(error), repr(error)]
    return "\n".join(seen)


@pytest.mark.parametrize("answer", [*ECHOES, *OTHERS])
async def test_no_error_of_a_call_holds_the_key(answer, caplog):
    caplog.set_level(logging.DEBUG)

    def reply(seen):
        return http(200, models("m")) if seen.method == "GET" else answer

    async with serving(reply) as raw:
        client = await Provider(raw.url, "m", CANARY).connect(QUICK)
        with pytest.raises(Exception) as caught:  # noqa: PT011 - every kind of error
            await client.complete(ask(schema={"type": "object"}))
        await client.aclose()
        assert raw.chats[0].headers["authorization"] == f"Bearer {CANARY}"
    assert_clean(whole(caught.value))
    assert_clean(caplog.text)
    assert_clean(repr(client) + repr(vars(client)))


@pytest.mark.parametrize("answer", [*ECHOES[:6], *OTHERS[:4]])
async def test_no_report_holds_the_key(answer, capsys):
    async with serving(answer) as raw:
        report = await Provider(raw.url, "m", CANARY).check()
    assert_clean(str(report) + repr(report))
    assert_clean("".join(capsys.readouterr()))


async def test_a_connect_error_holds_no_key():
    provider = Provider(f"http://127.0.0.1:{free_port()}", "m", CANARY)
    with pytest.raises(Exception) as caught:  # noqa: PT011
        await provider.connect()
    assert_clean(whole(caught.value))
    with pytest.raises(Exception) as caught:  # noqa: PT011
        provider.preflight()
    assert_clean(whole(caught.value))


@pytest.mark.parametrize(
    "arguments",
    [
        {"api_key": f"“{CANARY}”"},
        {"api_key": f"{CANARY}\n{CANARY}"},
        {"api_key": f"env:{CANARY}"},
        {"api_key": CANARY.encode()},
        {"api_key": [CANARY]},
        {"headers": {"x-api-key": f"{CANARY}\x00"}},
        {"headers": {"x-title": f"{CANARY}\n"}},
        {"base_url": f"http://user:{CANARY}@h/v1"},
        {"base_url": f"http://{CANARY}@h:99999/v1"},
    ],
)
def test_no_wrong_argument_is_repeated(arguments):
    with pytest.raises(Exception) as caught:  # noqa: PT011
        Provider(**({"base_url": "http://h"} | arguments))
    assert_clean(str(caught.value) + repr(caught.value))


def test_no_text_or_copy_of_a_provider_holds_the_key():
    provider = Provider("http://h", "m", CANARY, headers={"x-api-key": CANARY})
    texts = [repr(provider), str(provider), f"{provider}", repr(provider.origins)]
    texts += [repr(getattr(provider, name)) for name in provider.__slots__]
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        texts.append(repr(pickle.dumps(provider, protocol)))
    texts.append(repr(pickle.dumps(copy.deepcopy(provider))))
    assert_clean("\n".join(texts))


def test_a_tool_that_shows_local_variables_sees_no_key():
    """As IPython's verbose tracebacks do."""
    code = f"""
import asyncio, traceback
from synthnb.providers import Provider
from synthnb.records import Message, Request
provider = Provider("http://127.0.0.1:9", "m", "".join(reversed({CANARY[::-1]!r})))
async def main():
    from synthnb.providers.connecting import open_link, client_for
    from synthnb.config import Limits
    link = await open_link(provider, Limits())
    await client_for(provider, link, "m", (), "").complete(Request((Message("user", "x"),)))
try:
    asyncio.run(main())
except Exception as error:
    found = traceback.TracebackException.from_exception(error, capture_locals=True)
    print("".join(found.format()))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "nothing listens" in done.stdout
    assert_clean(done.stdout + done.stderr)
