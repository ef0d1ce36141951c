"""``synthnb demo``: from documents to kept training rows with the built-in model."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from synthnb.cli.console import Console, Watcher, printable
from synthnb.curation import apply_checks, deduplicate, keep
from synthnb.demo import documents_folder
from synthnb.engine.progress import State, clock
from synthnb.engine.run import Run
from synthnb.errors import ConfigError, RunError
from synthnb.export import export
from synthnb.local import Provider
from synthnb.pipeline import generate, rate, read
from synthnb.recipes import QA

if TYPE_CHECKING:
    import pandas as pd

    from synthnb.runtimes.models import Progress

CHUNK_TOKENS = 200
PAIRS = 2
_SHOWN = 8


async def demo(out: Path, console: Console) -> dict[str, Any]:
    """Make, judge, check and export training rows; return what ``summary.json`` says.

    Called again with the same folder it attaches to both runs and sends nothing.

    Raises:
        SynthnbError: the model, the folder or the disk fail; what was made is saved.
    """
    began = time.monotonic()
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"cannot make the folder {out}: {error.strerror or error}"
        raise ConfigError(msg, hint="Name another folder with --out.") from error
    console.say(
        "1 of 5  Reading the handbook: a PDF, a DOCX, an HTML and a Markdown file"
    )
    folder = documents_folder()
    chunks = read(folder, root=folder, chunk_tokens=CHUNK_TOKENS, overlap=0)
    sources = chunks["source"].nunique()
    console.say(f"        {len(chunks)} chunks from {sources} documents")

    provider = Provider.local(progress=_fetching(console))
    console.say("2 of 5  Writing questions and answers with the built-in model")
    console.say(f"        {provider.describe()}")
    recipe = QA(pairs=PAIRS)
    run = generate(recipe, chunks, provider, folder=out / "runs" / "qa")
    records = await _finish(run, console)

    console.say(
        "3 of 5  Rating each row with the same model (135M parameters: mostly noise)"
    )
    watcher = Watcher(console)
    records = await rate(records, provider, folder=out / "runs" / "judge", show=watcher)
    judged = await watcher.ended()

    console.say("4 of 5  Checking by rule, looking for duplicates")
    records = deduplicate(apply_checks(records), on="question")
    kept = keep(records)
    for reason, count in kept.attrs["dropped"].items():
        console.say(f"        {count:4} dropped: {reason}")

    console.say("5 of 5  Exporting")
    train = export(kept, out / "train.jsonl", format="chatml")
    export(records, out / "records.parquet")
    summary = _summary(records, kept, [run, judged], time.monotonic() - began)
    text = json.dumps(summary, ensure_ascii=False, indent=2)
    (out / "summary.json").write_text(text + "\n", encoding="utf-8")
    _report(console, out, kept, summary, train.rows)
    return summary


def _fetching(console: Console) -> Progress:
    def show(what: str, done: int, total: int) -> None:
        console.progress(f"{what}  {done // 10**6} of {total // 10**6} MB")

    return show


async def _finish(run: Run, console: Console) -> pd.DataFrame:
    await console.watch(run)
    frame = await run
    if run.state is State.STOPPED:
        msg = f"stopped after {run.progress.done:,} rows; all of them are saved"
        raise RunError(msg, hint="The same command goes on from there.")
    return frame


def _summary(
    records: pd.DataFrame, kept: pd.DataFrame, runs: list[Run], seconds: float
) -> dict[str, Any]:
    made = runs[0].progress
    generating = sum(run.progress.seconds for run in runs if run.progress.requests)
    tokens = sum(run.progress.completion_tokens for run in runs)
    return {
        "wanted": made.wanted,
        "ok": made.ok,
        "kept": len(kept),
        "by_status": {str(k): v for k, v in made.by_status.items()},
        "dropped": dict(kept.attrs["dropped"]),
        "duplicates": int(records["duplicate_of"].notna().sum()),
        "rated": int(records["rating"].notna().sum()),
        "requests": sum(run.progress.requests for run in runs),
        "resumed": sum(run.progress.resumed for run in runs),
        "prompt_tokens": sum(run.progress.prompt_tokens for run in runs),
        "completion_tokens": tokens,
        "tokens_per_second": round(tokens / generating, 1) if generating else None,
        "seconds": round(seconds, 1),
    }


def _report(
    console: Console, out: Path, kept: pd.DataFrame, summary: dict[str, Any], rows: int
) -> None:
    console.say()
    # A few from every part of the documents, not the first few of one.
    sample = kept.iloc[:: max(1, -(-len(kept) // _SHOWN))]
    for row in sample.to_dict("records"):
        console.say(f"  Q  {printable(row['question'])}")
        console.say(f"  A  {printable(row['answer'])}   ({printable(row['source'])})")
    if more := len(kept) - len(sample):
        console.say(f"  … and {more} more")
    statuses = ", ".join(f"{n} {status}" for status, n in summary["by_status"].items())
    speed = summary["tokens_per_second"]
    console.say()
    console.say(f"{summary['wanted']} rows wanted: {statuses}")
    console.say(f"{rows} kept, {summary['duplicates']} duplicates")
    console.say(
        f"{summary['requests']} requests, {summary['resumed']} answers from the ledger, "
        f"{summary['completion_tokens']:,} tokens written"
        + (f" at {speed} tokens/s" if speed else "")
        + f", {clock(summary['seconds'])} in all"
    )
    console.say(f"Training rows  {out / 'train.jsonl'}")
    console.say(f"All records    {out / 'records.parquet'}")
    console.say()
    console.say(
        "A model of 135M parameters shows how it works, not how good it gets. Next:\n"
        "  synthnb generate YOUR.pdf --url http://localhost:8000/v1 --out records.parquet\n"
        "  synthnb lab    (JupyterLab; begin with notebooks/01_quickstart.ipynb)"
    )
