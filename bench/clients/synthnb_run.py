"""synthnb beside its peers: put into the peers' clients/ folder and run by bench.py.

Uses their cl.py (begin, end). Lines for CL:
"synthnb": ("synthnb", "synthnb_run", "", 1e9), "synthnb_fixed": (…, "fixed", 1e9).
Resume works: with the same --out a second start buys only what the first did not get.
"""

import asyncio

from cl import FILL, A, begin, end

import synthnb as sn


async def main() -> None:
    provider = sn.Provider(A.url, model="stub", api_key="env:OPENAI_API_KEY")
    recipe = sn.Prompt(
        "Write one question and its answer about the text #R{{ i }}#. {{ text }}",
        system="You make synthetic data.",
        temperature=0.7,
        max_tokens=256,
    )
    limits = sn.Limits(
        max_concurrency=A.c,
        adaptive=A.opt != "fixed",
        total_timeout=A.timeout,
        first_byte_timeout=A.timeout,
        retry=sn.Retry(max_attempts=A.retries + 1),
    )
    rows = ({"i": i, "text": FILL} for i in range(A.n))
    # The other clients are imported and made before the clock starts; so is ours.
    generate = sn.generate
    await (await provider.connect(limits)).aclose()
    begin()
    run = generate(recipe, rows, provider, folder=f"{A.out or '.'}/run", limits=limits)
    await run.finished()
    answers = [None] * A.n
    for record in run.records():
        answers[record["__input__"]["i"]] = record.get("answer")
    end(answers, {"requests": run.progress.requests, "retries": run.progress.retries})


asyncio.run(main())
