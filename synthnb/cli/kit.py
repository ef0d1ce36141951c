"""synthetic-data-kit's four verbs: ``ingest``, ``create``, ``curate``, ``save-as``."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from synthnb.cli import kit_steps as steps
from synthnb.cli import options as o
from synthnb.cli.console import Console, finish_async
from synthnb.cli.kit_files import Outcome, Step, end, files_of, over_files, targets
from synthnb.errors import ConfigError

if TYPE_CHECKING:
    from synthnb.migration import Configuration
    from synthnb.providers import Provider

Input = Annotated[str, typer.Argument(help="A file, or a folder of them.")]
Output = Annotated[
    str | None, typer.Option("-o", "--output", "--output-dir", help="Where to write.")
]
Config = Annotated[
    Path | None,
    typer.Option("-c", "--config", help="synthetic-data-kit's config.yaml."),
]
Preview = Annotated[bool, typer.Option("--preview", help="Say what would be done.")]
Verbose = Annotated[
    bool, typer.Option("-v", "--verbose", help="Show the settings and their origins.")
]
ApiBase = Annotated[
    str | None,
    typer.Option("--api-base", "--url", help="Any OpenAI-compatible URL."),
]


def ingest(
    source: Input,
    *,
    output: Output = None,
    config: Config = None,
    preview: Preview = False,
    verbose: Verbose = False,
    json: o.Json = False,
) -> None:
    """Write the text of documents, as synthetic-data-kit's ingest does."""
    from synthnb.documents.registry import DATA, READERS

    def plan(settings: Configuration) -> tuple[list[tuple[Path, Path]], Step]:
        files = files_of(source, set(READERS) - DATA, "document")
        usual = settings["paths.output.parsed"]
        return targets(files, output, usual, ".txt"), steps.ingest

    _run(Console(as_json=json), config, plan, preview=preview, verbose=verbose)


def create(
    source: Input,
    *,
    kind: Annotated[
        str, typer.Option("--type", help=f"One of {', '.join(steps.KINDS)}.")
    ] = "qa",
    number: Annotated[
        int | None,
        typer.Option("-n", "--num-pairs", min=1, help="Wanted for each document."),
    ] = None,
    output: Output = None,
    config: Config = None,
    api_base: ApiBase = None,
    preset: o.Preset = None,
    local: o.Local = False,
    model: o.Model = None,
    key_env: o.KeyEnv = None,
    preview: Preview = False,
    verbose: Verbose = False,
    json: o.Json = False,
) -> None:
    """Make pairs, chains of thought or summaries; again, it goes on where it stopped."""
    from synthnb.documents.registry import DATA, READERS

    console = Console(as_json=json)
    endings = {
        "qa": "_qa_pairs.json",
        "summary": "_summary.json",
        "cot": "_cot_examples.json",
        "cot-enhance": "_enhanced.json",
    }

    def plan(settings: Configuration) -> tuple[list[tuple[Path, Path]], Step]:
        _one_of(kind, steps.KINDS, "--type")
        if kind in steps.OF_PAIRS:
            files = files_of(source, {".json", ".jsonl"}, "file of pairs")
        else:
            files = files_of(source, set(READERS) - DATA, "document")
        usual = settings["paths.output.generated"]
        pairs = targets(files, output, usual, endings[kind])
        provider = _provider(
            config,
            settings,
            url=api_base,
            preset=preset,
            model=model,
            key_env=key_env,
            local=local,
        )
        if settings.templates:
            console.say(
                "The prompts of the file are not used: synthnb asks in its own way. "
                "--verbose shows them as templates for synthnb.Prompt."
            )
        return pairs, steps.Create(console, settings, provider, kind, number)

    _run(console, config, plan, preview=preview, verbose=verbose)


def curate(
    source: Input,
    *,
    threshold: Annotated[
        float | None,
        typer.Option("-t", "--threshold", help="Keep from this rating on."),
    ] = None,
    output: Output = None,
    config: Config = None,
    api_base: ApiBase = None,
    preset: o.Preset = None,
    local: o.Local = False,
    model: o.Model = None,
    key_env: o.KeyEnv = None,
    preview: Preview = False,
    verbose: Verbose = False,
    json: o.Json = False,
) -> None:
    """Rate pairs from 1 to 10 and keep the good ones, reasoning included."""
    console = Console(as_json=json)

    def plan(settings: Configuration) -> tuple[list[tuple[Path, Path]], Step]:
        files = files_of(source, {".json", ".jsonl"}, "file of pairs")
        usual = settings["paths.output.curated"]
        pairs = targets(files, output, usual, "_cleaned.json")
        provider = _provider(
            config,
            settings,
            url=api_base,
            preset=preset,
            model=model,
            key_env=key_env,
            local=local,
        )
        least = settings["curate.threshold"] if threshold is None else threshold
        return pairs, steps.Curate(console, settings, provider, least)

    _run(console, config, plan, preview=preview, verbose=verbose)


def save_as(
    source: Input,
    *,
    form: Annotated[
        str, typer.Option("-f", "--format", help=f"One of {', '.join(steps.FORMATS)}.")
    ] = "",
    storage: Annotated[
        str, typer.Option("--storage", help="json, or hf for a folder of datasets.")
    ] = "json",
    output: Output = None,
    config: Config = None,
    preview: Preview = False,
    verbose: Verbose = False,
    json: o.Json = False,
) -> None:
    """Write pairs in a training format."""

    def plan(settings: Configuration) -> tuple[list[tuple[Path, Path]], Step]:
        name = form or settings["format.default"]
        _one_of(name, steps.FORMATS, "--format")
        _one_of(storage, ("json", "hf"), "--storage")
        files = files_of(source, {".json", ".jsonl"}, "file of pairs")
        ending = "_hf" if storage == "hf" else f"_{name}{steps.FORMATS[name]}"
        pairs = targets(files, output, settings["paths.output.final"], ending)
        return pairs, steps.SaveAs(name, storage)

    _run(Console(as_json=json), config, plan, preview=preview, verbose=verbose)


def register(app: typer.Typer) -> None:
    """Add the verbs to the commands."""
    app.command()(ingest)
    app.command()(create)
    app.command()(curate)
    app.command("save-as")(save_as)


Plan = Callable[["Configuration"], tuple[list[tuple[Path, Path]], Step]]


def _run(
    console: Console, config: Path | None, plan: Plan, *, preview: bool, verbose: bool
) -> None:
    async def work() -> Outcome:
        from synthnb.migration import config_from_sdk

        settings = config_from_sdk(config)
        if verbose:
            console.say(repr(settings))
        pairs, step = plan(settings)
        return await over_files(console, pairs, step, preview=preview)

    end(console, finish_async(console, work), preview=preview)


def _provider(
    config: Path | None,
    settings: Configuration,
    *,
    url: str | None,
    preset: str | None,
    model: str | None,
    key_env: str | None,
    local: bool,
) -> Provider:
    """Return the provider of the options, else the file's, else the environment's."""
    from synthnb.providers import Provider

    if url or preset or local or config is None:
        return o.provider_of(
            url, preset, model, key_env, local=local, url_option="--api-base"
        )
    key = f"env:{key_env}" if key_env else None
    return Provider.from_config(settings, model=model, api_key=key)


def _one_of(value: str, known: Collection[str], option: str) -> None:
    if value not in known:
        msg = f"{option} {value}: not known"
        raise ConfigError(msg, hint=f"There are {', '.join(known)}.")
