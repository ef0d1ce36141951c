"""The commands. Each parses its options and calls the same verb as a notebook does."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from synthnb.cli import kit
from synthnb.cli import model as model_command
from synthnb.cli import options as o
from synthnb.cli import recover as recover_command
from synthnb.cli import scan as scan_command
from synthnb.cli import verify as verify_command
from synthnb.cli.console import STOPPED, Console, Watcher, finish, finish_async
from synthnb.cli.tables import load_table
from synthnb.engine.progress import State
from synthnb.errors import ConfigError, DocumentError

if TYPE_CHECKING:
    from synthnb.engine.run import Run


class _Group(TyperGroup):
    """The commands; a wrong option is a line of JSON too where a machine listens."""

    def make_context(
        self, info_name: Any, args: list[str], *rest: Any, **more: Any
    ) -> Any:
        """Parse the options before the command."""
        self._console = Console(as_json="--json" in args)
        with self._told():
            return super().make_context(info_name, args, *rest, **more)

    def invoke(self, ctx: Any) -> Any:
        """Parse the command's options and run it."""
        with self._told():
            return super().invoke(ctx)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            # Known by its form: newer typer carries a click of its own.
            if (told := getattr(error, "format_message", None)) is not None:
                next_step = "Run the command with --help."
                self._console.failed("UsageError", told(), next_step)
            raise


app = typer.Typer(
    name="synthnb",
    help="Synthetic training data with any OpenAI-compatible model.",
    cls=_Group,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(model_command.app, name="model")
_TABLES = (".parquet", ".jsonl", ".csv")
_PAIRS = 3
_SHOWN = 8


def _version(value: bool) -> None:
    if value:
        typer.echo(f"synthnb {version('synthnb')}")
        raise typer.Exit


@app.callback()
def _synthnb(
    *,
    version_: Annotated[
        bool,
        typer.Option(
            "--version", help="Show the version.", callback=_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Synthetic training data with any OpenAI-compatible model."""


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
        provider = o.provider_of(
            url, preset, model, key_env, local=local, url_option="URL"
        )
        return await provider.check()

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
    chunk_tokens: o.ChunkTokens = 400,
    overlap: o.Overlap = 40,
    json: o.Json = False,
) -> None:
    """Read documents and write their chunks as a table."""
    from synthnb.pipeline import read as read_chunks

    console = Console(as_json=json)

    def show(done: int, total: int, source: str) -> None:
        console.progress(f"{done} of {total} files  {source}")

    def work() -> Any:
        o.check_out(out)
        chunks = read_chunks(
            *paths, chunk_tokens=chunk_tokens, overlap=overlap, progress=show
        )
        o.save_table(chunks, out)
        return chunks

    chunks = finish(console, work)
    documents = int(chunks["source"].nunique())
    console.say(f"{len(chunks)} chunks from {documents} documents → {out}")
    left_out = chunks.attrs["left_out"]
    if left_out:
        console.say(f"{len(left_out)} kinds of repeated text left out:")
    for part in left_out[:_SHOWN]:
        console.say(f"  {part}")
    console.result(
        {
            "chunks": len(chunks),
            "documents": documents,
            "problems": chunks.attrs["problems"],
            "notes": chunks.attrs["notes"],
            "left_out": left_out,
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
    pairs: Annotated[
        int | None, typer.Option(min=1, help=f"QA pairs per chunk; default: {_PAIRS}.")
    ] = None,
    samples: Annotated[
        int, typer.Option(min=1, help="Answers for each row, or for each chunk.")
    ] = 1,
    chunk_tokens: o.ChunkTokens = 400,
    overlap: o.Overlap = 40,
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
    from synthnb.recipes import QA, Prompt

    console = Console(as_json=json)

    async def work() -> Run:
        o.check_out(out, inputs)
        if template is not None and not template.strip():
            msg = "--template is empty"
            raise ConfigError(msg, hint="Leave it out for questions and answers.")
        if template is not None and pairs is not None:
            msg = "--pairs is for questions and answers, not for a --template"
            raise ConfigError(msg, hint="For several answers a row, give --samples.")
        provider = o.provider_of(url, preset, model, key_env, local=local)
        rows = _rows(inputs, chunk_tokens, overlap)
        recipe = QA(pairs=pairs or _PAIRS) if template is None else Prompt(template)
        run = pipeline.generate(
            recipe,
            rows,
            provider,
            name=name,
            samples=samples,
            limits=o.limits_of(concurrency),
        )
        await console.watch(run)
        o.save_table(await run, out)
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

    console = Console(as_json=json)

    async def work() -> Run:
        o.check_out(out)
        provider = o.provider_of(url, preset, model, key_env, local=local)
        limits = o.limits_of(concurrency)
        watcher = Watcher(console)
        rated = await pipeline.rate(
            load_table(records),
            provider,
            name=name,
            limits=limits,
            show=watcher,
        )
        o.save_table(rated, out)
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
    prompt: Annotated[str, typer.Option(help="Column of what is asked.")] = "question",
    response: Annotated[
        str, typer.Option(help="Column of what is to be answered.")
    ] = "answer",
    min_rating: Annotated[
        float | None, typer.Option(help="Keep only rows rated at least so; see rate.")
    ] = None,
    json: o.Json = False,
) -> None:
    """Keep the good rows and write them in a training format."""
    from synthnb import curation
    from synthnb.export import export as write

    console = Console(as_json=json)

    def work() -> dict[str, Any]:
        o.refuse_input(out, [records])
        df = load_table(records)
        if checks:
            df = curation.apply_checks(df, question=prompt, answer=response)
        if not duplicates:
            df = curation.deduplicate(df, on=prompt)
        kept = curation.keep(
            df, checks=checks, duplicates=duplicates, min_rating=min_rating
        )
        result = write(kept, out, format=format_, prompt=prompt, response=response)
        dropped = dict(kept.attrs["dropped"])
        if result.skipped:
            dropped["without prompt or response"] = result.skipped
        if result.neutralised or result.replaced_surrogates:
            warnings.warn(str(result), stacklevel=2)
        return {"kept": result.rows, "dropped": dropped, "out": str(out)}

    result = finish(console, work)
    for reason, count in result["dropped"].items():
        console.say(f"{count:6} dropped: {reason}")
    console.say(f"{result['kept']:6} kept → {out}")
    console.result(result)


kit.register(app)
app.command()(recover_command.recover)
app.command()(scan_command.scan)
app.command()(verify_command.verify)


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
        frame = load_table(Path(inputs[0]))
        if frame.empty:
            msg = f"{inputs[0]} holds no row"
            raise DocumentError(msg, hint="Name a table with rows in it.")
        return frame
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
