"""One measurement in a process of its own: measure.py NAME --url URL --n N --c C.

NAME: ``aiohttp`` (64 workers on one iterator, the practical limit), ``client`` (our chat
client alone), ``run`` (all of it: template, request key, engine, retry, parsing, SQLite
ledger). Prints one JSON line: CPU and event-loop milliseconds a request, requests/s.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import tempfile
import time

FILL = ("The quick brown fox jumps over the lazy dog. " * 14)[:600]
SYSTEM = "You make synthetic data."


def prompt(i: int) -> str:
    return f"Write one question and its answer about the text #R{i}#. {FILL}"


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


class Clock:
    """CPU of the process, of this (the loop's) thread, and the wall."""

    def __enter__(self):
        self.start = cpu(), time.thread_time(), time.perf_counter()
        return self

    def __exit__(self, *error):
        now = cpu(), time.thread_time(), time.perf_counter()
        self.cpu, self.loop, self.wall = (
            b - a for a, b in zip(self.start, now, strict=True)
        )


async def aiohttp_(url: str, n: int, c: int):
    import aiohttp

    answers, numbers = [""] * n, iter(range(n))
    headers = {"Content-Type": "application/json", "Authorization": "Bearer stub"}

    async def work(session):
        for i in numbers:
            messages = [
                {"role": "system", "content": SYSTEM},
                {"role": "user", "content": prompt(i)},
            ]
            body = {
                "model": "stub",
                "messages": messages,
                "temperature": 0.7,
                "max_tokens": 256,
            }
            data = json.dumps(body).encode()
            async with session.post(
                f"{url}/chat/completions", data=data, headers=headers
            ) as r:
                answers[i] = json.loads(await r.read())["choices"][0]["message"][
                    "content"
                ]

    connector = aiohttp.TCPConnector(limit=c)
    async with aiohttp.ClientSession(connector=connector) as session:
        with Clock() as clock:
            await asyncio.gather(*(work(session) for _ in range(c)))
    return clock, answers


async def client_(url: str, n: int, c: int):
    import synthnb as sn
    from synthnb.records import Message, Request, Sampling

    answers, numbers = [""] * n, iter(range(n))
    provider = sn.Provider(url, model="stub", api_key="stub")
    client = await provider.connect(sn.Limits(max_concurrency=c))
    sampling = Sampling(temperature=0.7, max_tokens=256)

    async def work():
        for i in numbers:
            messages = Message("system", SYSTEM), Message("user", prompt(i))
            answers[i] = (await client.complete(Request(messages, sampling))).text

    with Clock() as clock:
        await asyncio.gather(*(work() for _ in range(c)))
    await client.aclose()
    return clock, answers


async def run_(url: str, n: int, c: int):
    import synthnb as sn

    provider = sn.Provider(url, model="stub", api_key="stub")
    recipe = sn.Prompt(
        "Write one question and its answer about the text #R{{ i }}#. {{ text }}",
        system=SYSTEM,
        temperature=0.7,
        max_tokens=256,
    )
    limits = sn.Limits(max_concurrency=c)
    rows = ({"i": i, "text": FILL} for i in range(n))
    with tempfile.TemporaryDirectory() as folder:
        # Imports and the first compilation of the template are paid once, not a request.
        warm = [{"i": i, "text": FILL} for i in range(c)]
        await sn.generate(
            recipe, warm, provider, folder=f"{folder}/warm", limits=limits
        ).finished()
        with Clock() as clock:
            run = sn.generate(
                recipe, rows, provider, folder=f"{folder}/run", limits=limits
            )
            await run.finished()
        answers = [record["answer"] for record in run.records()]
    return clock, answers


NAMES = {"aiohttp": aiohttp_, "client": client_, "run": run_}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=NAMES)
    parser.add_argument("--url", required=True)
    parser.add_argument("--n", type=int, default=5000)
    parser.add_argument("--c", type=int, default=64)
    options = parser.parse_args()
    os.environ.pop("HTTP_PROXY", None)
    clock, answers = asyncio.run(NAMES[options.name](options.url, options.n, options.c))
    good = sum(f"#R{i}#" in answer for i, answer in enumerate(answers))
    result = {
        "name": options.name,
        "cpu_ms": clock.cpu / options.n * 1e3,
        "loop_ms": clock.loop / options.n * 1e3,
        "per_second": options.n / clock.wall,
        "good": good,
        "n": options.n,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
