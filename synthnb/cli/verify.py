"""``synthnb verify``: are exported files what was exported?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from synthnb.cli import options as o
from synthnb.cli.console import Console, finish, printable


def verify(
    path: Annotated[Path, typer.Argument(help="An exported file, or their folder.")],
    *,
    json: o.Json = False,
) -> None:
    """Check exported files against their manifests; exit status 0 only if all agree."""
    from synthnb.export.manifest import verify as check

    console = Console(as_json=json)
    found = finish(console, lambda: check(path))
    console.say(printable(str(found)))
    console.result({"files": list(found.files), "problems": list(found.problems)})
    if not found.ok:
        raise typer.Exit(1)
