"""``synthnb model``: the weights of the built-in model, listed and fetched."""

from __future__ import annotations

from typing import Annotated

import typer

from synthnb.cli import options as o
from synthnb.cli.console import Console, finish

app = typer.Typer(help="The built-in model's weights.", no_args_is_help=True)


@app.command("list")
def list_(*, json: o.Json = False) -> None:
    """Show the known models: size, licence, and where they are."""
    from synthnb.runtimes.weights import list_models

    console = Console(as_json=json)
    models = finish(console, list_models)
    for model in models:
        console.say(str(model))
    console.result(
        {
            "models": [
                {
                    "name": model.name,
                    "bytes": model.size,
                    "license": model.license,
                    "path": None if model.path is None else str(model.path),
                }
                for model in models
            ]
        }
    )


@app.command()
def pull(
    source: Annotated[
        str, typer.Argument(help="A known name, a URL or a GGUF file.")
    ] = "smollm2-135m-instruct",
    *,
    sha256: Annotated[
        str | None, typer.Option(help="Expected hash; needed for a URL.")
    ] = None,
    json: o.Json = False,
) -> None:
    """Fetch a model into the cache and check its hash."""
    from synthnb.runtimes.pull import pull as fetch

    console = Console(as_json=json)

    def show(what: str, done: int, total: int) -> None:
        share = f"{done / total:.0%}" if total else f"{done:,} bytes"
        console.progress(f"{what}  {share}")

    model = finish(console, lambda: fetch(source, sha256=sha256, progress=show))
    console.say(f"\n{model}")
    console.result({"name": model.name, "path": str(model.path)})
