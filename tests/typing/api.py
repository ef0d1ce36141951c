"""The public face as a type checker sees it. Checked by `make check`, run by nobody."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, assert_type

import pandas as pd
from pydantic import BaseModel

import synthnb as sn


class Ticket(BaseModel):
    subject: str


def numbered() -> Iterator[Mapping[str, Any]]:
    yield {"topic": "printers"}


async def main() -> None:
    provider = sn.Provider("http://localhost:8000/v1", model="m", api_key="env:KEY")
    provider = sn.Provider.preset("openai", model="m", api_key=lambda: "key")
    provider = sn.Provider.local()
    report = await provider.check()
    assert_type(report.ok, bool)

    chunks = sn.read("handbook.pdf", Path("notes"), chunk_tokens=400, overlap=40)
    assert_type(chunks, pd.DataFrame)

    limits = sn.Limits(max_concurrency=32, retry=sn.Retry(max_attempts=3))
    run = sn.generate(sn.QA(pairs=3), chunks, provider, name="x", limits=limits)
    assert_type(run, sn.Run)
    assert_type(await run, pd.DataFrame)
    assert_type(run.wait(), pd.DataFrame)
    assert_type(run.frame(), pd.DataFrame)
    assert_type(run.status, dict[str, int])
    run.pause()
    run.resume()
    run.stop()

    prompt = sn.Prompt("About {{ topic }}.", output=Ticket, system="Be brief.")
    df = await sn.generate(prompt, numbered(), provider, samples=5)
    previews = await sn.preview(prompt, [{"topic": "printers"}], provider, n=1)
    assert_type(previews[0].items, tuple[Mapping[str, Any], ...])

    df = await sn.rate(df, provider, judge=sn.Judge(criteria={"right": "it is"}))
    df = sn.deduplicate(sn.apply_checks(df), on="question", threshold=0.85)
    df = sn.decide(df, "a", "accept", note="short")
    assert_type(sn.decisions(df), pd.DataFrame)
    assert_type(sn.undo(df), pd.DataFrame)
    desk = sn.review(sn.with_decisions(df), name="x")
    assert_type(desk.frame("accept"), pd.DataFrame)
    assert_type(sn.agreement(df).kappa, float | None)
    sn.profile(df, chunks=chunks, review=desk)
    sn.table(df, columns=["question"])
    assert_type(sn.ProviderPicker().provider, sn.Provider)
    kept = sn.keep(df, min_rating=6)
    assert_type(kept, pd.DataFrame)
    result = sn.export(kept, "train.jsonl", format="chatml")
    assert_type(result.rows, int)
    raise sn.errors.ConfigError("no", hint="do")
