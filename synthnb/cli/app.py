"""The commands. Each parses its options and calls the same verb as a notebook does."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from synthnb.cli import model as model_command
from synthnb.cli import options as o
from synthnb.cli.console import STOPPED, Console, Watcher, finish, finish_async
from synthnb.engine.progress import State
from synthnb.errors import ConfigError

if TYPE_CHECKING:
    from synthnb.engine.run import Run

app = typer.Typer(
    name="synthnb",
    help="Synthetic training data with any OpenAI-compatible model.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(model_command.app, name="model")
_TABLES = (".parquet", ".jsonl", ".csv")


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for everything it makes.")] = Path(
        "demo-out"
    ),
    *,
    json: o.Json = False,
) -> None:
    """From documents to kept training rows with the built-in model, no key, no GPU."""
    from synthnb.cli.demo import demo as run_demo

    console = Console(as_json=json)
    summary = finish_async(console, lambda: run_demo(out, console))
    console.result(summary)


@app.command()
def check(
    url: Annotated[str | None, typer.Argument(help="The server's URL.")] = None,
    *,
    preset: o.Preset = None,
    local: o.Local = False,
    model: o.Model = None,
    key_env: o.KeyEnv = None,
    json: o.Json = False,
) -> None:
    """Try a model server step by step; exit status 0 only when all went well."""
    console = Console(as_json=json)

    async def work() -> Any:
        return await o.provider_of(url, preset, model, key_env, local=local).check()

    report = finish_async(console, work)
    console.say(str(report))
    console.result(report.to_json())
    if not report.ok:
        raise typer.Exit(1)


@app.command()
def read(
    paths: Annotated[list[str], typer.Argument(help="Files, folders and globs.")],
    *,
    out: o.Out = Path("chunks.parquet"),
    chunk_tokens: Annotated[int, typer.Option(min=16)] = 400,
    overlap: Annotated[int, typer.Option(min=0)] = 40,
    json: o.Json = False,
) -> None:
    """Read documents and write their chunks as a table."""
    from synthnb.export import export
    from synthnb.pipeline import read as read_chunks

    console = Console(as_json=json)

    def show(done: int, total: int, source: str) -> None:
        console.progress(f"{done} of {total} files  {source}")

    def work() -> Any:
        chunks = read_chunks(
            *paths, chunk_tokens=chunk_tokens, overlap=overlap, progress=show
        )
        export(chunks, out)
        return chunks

    chunks = finish(console, work)
    documents = int(chunks["source"].nunique())
    console.say(f"{len(chunks)} chunks from {documents} documents → {out}")
    console.result(
        {
            "chunks": len(chunks),
            "documents": documents,
            "problems": chunks.attrs["problems"],
            "notes": chunks.attrs["notes"],
            "out": str(out),
        }
    )


@app.command()
def generate(
    inputs: Annotated[
        list[str], typer.Argument(help="Documents, or one table of rows (see read).")
    ],
    *,
    out: o.Out = Path("records.parquet"),
    template: Annotated[
        str | None,
        typer.Option(help="A prompt with {{ column }} names; default: QA pairs."),
    ] = None,
    pairs: Annotated[int, typer.Option(min=1, help="QA pairs per chunk.")] = 3,
    samples: Annotated[int, typer.Option(min=1)] = 1,
    chunk_tokens: Annotated[int, typer.Option(min=16)] = 400,
    overlap: Annotated[int, typer.Option(min=0)] = 40,
    name: Annotated[str | None, typer.Option(help="The run's name.")] = None,
    url: o.Url = None,
    preset: o.Preset = None,
    local: o.Local = False,
    model: o.Model = None,
    key_env: o.KeyEnv = None,
    concurrency: o.Concurrency = None,
    json: o.Json = False,
) -> None:
    """Generate rows; the same command again goes on where it stopped."""
    from synthnb import pipeline
    from synthnb.export import export
    from synthnb.recipes import QA, Prompt

    console = Console(as_json=json)

    async def work() -> Run:
        provider = o.provider_of(url, preset, model, key_env, local=local)
        rows = _rows(inputs, chunk_tokens, overlap)
        recipe = Prompt(template) if template else QA(pairs=pairs)
        run = pipeline.generate(
            recipe,
            rows,
            provider,
            name=name,
            samples=samples,
            limits=o.limits_of(concurrency),
        )
        await console.watch(run)
        export(await run, out)
        return run

    _end(console, finish_async(console, work), out)


@app.command()
def rate(
    records: Annotated[Path, typer.Argument(help="Records, as generate writes them.")],
    *,
    out: o.Out = Path("rated.parquet"),
    name: Annotated[str | None, typer.Option(help="The rating run's name.")] = None,
    url: o.Url = None,
    preset: o.Preset = None,
    local: o.Local = False,
    model: o.Model = None,
    key_env: o.KeyEnv = None,
    concurrency: o.Concurrency = None,
    json: o.Json = False,
) -> None:
    """Let a model rate each ok record."""
    from synthnb import pipeline
    from synthnb.export import export

    console = Console(as_json=json)

    async def work() -> Run:
        provider = o.provider_of(url, preset, model, key_env, local=local)
        limits = o.limits_of(concurrency)
        watcher = Watcher(console)
        rated = await pipeline.rate(
            o.load_table(records),
            provider,
            name=name,
            limits=limits,
            show=watcher,
        )
        export(rated, out)
        return await watcher.ended()

    _end(console, finish_async(console, work), out)


@app.command()
def export(
    records: Annotated[Path, typer.Argument(help="Records, as generate writes them.")],
    out: Annotated[Path, typer.Argument(help="File to write.")],
    *,
    format_: Annotated[
        str | None, typer.Option("--format", help="chatml, alpaca, sharegpt, jsonl, …")
    ] = None,
    checks: Annotated[bool, typer.Option(help="Keep only rows that pass.")] = True,
    duplicates: Annotated[bool, typer.Option(help="Keep near-duplicates.")] = False,
    min_rating: Annotated[float | None, typer.Option()] = None,
    json: o.Json = False,
) -> None:
    """Keep the good rows and write them in a training format."""
    from synthnb import curation
    from synthnb.export import export as write

    console = Console(as_json=json)

    def work() -> dict[str, Any]:
        df = o.load_table(records)
        if checks:
            df = curation.apply_checks(df)
        if not duplicates:
            df = curation.deduplicate(df)
        kept = curation.keep(
            df, checks=checks, duplicates=duplicates, min_rating=min_rating
        )
        result = write(kept, out, format=format_)
        dropped = dict(kept.attrs["dropped"])
        return {"kept": result.rows, "dropped": dropped, "out": str(out)}

    result = finish(console, work)
    for reason, count in result["dropped"].items():
        console.say(f"{count:6} dropped: {reason}")
    console.say(f"{result['kept']:6} kept → {out}")
    console.result(result)


@app.command()
def lab() -> None:
    """Open JupyterLab here."""
    import importlib.util
    import os

    def work() -> None:
        if importlib.util.find_spec("jupyterlab") is None:
            msg = "JupyterLab is not installed"
            raise ConfigError(msg, hint='Run: pip install "synthnb[lab]"')
        os.execv(sys.executable, [sys.executable, "-m", "jupyterlab"])  # noqa: S606 - our own interpreter, fixed arguments

    finish(Console(as_json=False), work)


def _rows(inputs: list[str], chunk_tokens: int, overlap: int) -> Any:
    from synthnb.pipeline import read as read_chunks

    if len(inputs) == 1 and Path(inputs[0]).suffix.lower() in _TABLES:
        return o.load_table(Path(inputs[0]))
    return read_chunks(*inputs, chunk_tokens=chunk_tokens, overlap=overlap)


def _end(console: Console, run: Run, out: Path) -> None:
    errors = run.errors()
    if errors:
        console.say(repr(errors))
    console.say(f"{run.progress.ok} ok rows → {out}   (run: {run.folder})")
    console.result(
        {
            "state": str(run.state),
            "wanted": run.progress.wanted,
            "ok": run.progress.ok,
            "by_status": run.status,
            "requests": run.progress.requests,
            "resumed": run.progress.resumed,
            "run": str(run.folder),
            "out": str(out),
        }
    )
    if run.state is State.STOPPED:
        raise typer.Exit(STOPPED)
    if not run.progress.ok and run.progress.wanted:
        # A run in which nothing came out well is no success for a script.
        raise typer.Exit(1)
