"""Measurements that send requests: the same work by raw aiohttp, openai and synthnb."""

from __future__ import annotations

import asyncio
import json
import os
import random
import tempfile
from argparse import Namespace
from pathlib import Path

from clocks import FILL, SYSTEM, TEMPLATE, WARM, Clock, body, good, prompt

_ATTEMPTS = 6


async def aiohttp_(options: Namespace) -> dict:
    """Workers on one iterator, ``json``, a plain retry: the practical limit."""
    import aiohttp

    answers: list[str | None] = [None] * options.n
    numbers = iter(range(options.n))
    headers = {"Content-Type": "application/json", "Authorization": "Bearer stub"}
    url = f"{options.url}/chat/completions"

    async def one(session, i):
        data = json.dumps(body(i)).encode()
        for attempt in range(_ATTEMPTS):
            delay = min(0.5 * 2**attempt, 8) * random.uniform(0.75, 1)
            try:
                async with session.post(url, data=data, headers=headers) as r:
                    content = await r.read()
                    if r.status == 200:
                        return json.loads(content)["choices"][0]["message"]["content"]
                    delay = float(r.headers.get("retry-after", delay))
            except (aiohttp.ClientError, TimeoutError):
                pass
            await asyncio.sleep(delay)
        return None

    async def work(session):
        for i in numbers:
            answers[i] = await one(session, i)

    connector = aiohttp.TCPConnector(limit=options.c)
    timeout = aiohttp.ClientTimeout(total=options.timeout)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
        with Clock() as clock:
            await asyncio.gather(*(work(session) for _ in range(options.c)))
    return clock.figures(options.n) | {"good": good(enumerate(answers))}


async def openai_(options: Namespace) -> dict:
    """``AsyncOpenAI`` as its README shows it, with workers."""
    from openai import APIError, AsyncOpenAI

    answers: list[str | None] = [None] * options.n
    numbers = iter(range(options.n))
    client = AsyncOpenAI(
        base_url=options.url,
        api_key="stub",
        max_retries=_ATTEMPTS - 1,
        timeout=options.timeout,
    )

    async def work():
        for i in numbers:
            try:
                completion = await client.chat.completions.create(**body(i))
                answers[i] = completion.choices[0].message.content
            except APIError:
                answers[i] = None

    with Clock() as clock:
        await asyncio.gather(*(work() for _ in range(options.c)))
    await client.close()
    return clock.figures(options.n) | {"good": good(enumerate(answers))}


async def client_(options: Namespace) -> dict:
    """Our chat client alone."""
    import synthnb as sn
    from synthnb.records import Message, Request, Sampling

    answers, numbers = [""] * options.n, iter(range(options.n))
    provider = sn.Provider(options.url, model="stub", api_key="stub")
    client = await provider.connect(sn.Limits(max_concurrency=options.c))
    sampling = Sampling(temperature=0.7, max_tokens=256)

    async def work():
        for i in numbers:
            messages = Message("system", SYSTEM), Message("user", prompt(i))
            answers[i] = (await client.complete(Request(messages, sampling))).text

    with Clock() as clock:
        await asyncio.gather(*(work() for _ in range(options.c)))
    await client.aclose()
    return clock.figures(options.n) | {"good": good(enumerate(answers))}


def start(options: Namespace, rows, folder: Path):
    """Start a run over rows with ``i`` and ``text``, as a person would."""
    import synthnb as sn

    return sn.generate(
        sn.Prompt(TEMPLATE, system=SYSTEM, temperature=0.7, max_tokens=256),
        rows,
        sn.Provider(options.url, model="stub", api_key="stub"),
        folder=folder,
        limits=sn.Limits(
            max_concurrency=options.c,
            adaptive=not options.fixed,
            first_byte_timeout=options.timeout,
            total_timeout=options.timeout,
            retry=sn.Retry(max_attempts=_ATTEMPTS),
        ),
    )


def inputs(n: int, first: int = 0):
    return ({"i": i, "text": FILL} for i in range(first, first + n))


def answered(run):
    """Yield (number, answer) of each ok row of a run."""
    return ((r["__input__"]["i"], r.get("answer")) for r in run.records())


async def warm_up(options: Namespace, folder: str) -> None:
    """Pay once what is paid once a process: imports, compiling the template."""
    await start(options, inputs(options.c, WARM), Path(folder) / "warm").finished()


async def run_(options: Namespace) -> dict:
    """All of synthnb: template, request key, engine, retry, parsing, SQLite ledger."""
    with tempfile.TemporaryDirectory(dir=os.curdir) as folder:
        await warm_up(options, folder)
        with Clock() as clock:
            run = start(options, inputs(options.n), Path(folder) / "run")
            await run.finished()
        figures = clock.figures(options.n) | {"good": good(answered(run))}
        figures["retries"] = run.progress.retries
        figures["max_in_flight"] = run.progress.max_in_flight
        return figures


async def resumable(options: Namespace) -> dict:
    """A run in the folder that is named, to be killed and started again."""
    with Clock() as clock:
        run = start(options, inputs(options.n), Path(options.folder))
        await run.finished()
    figures = clock.figures(options.n) | {"good": good(answered(run))}
    figures["resumed"] = run.progress.resumed
    return figures
