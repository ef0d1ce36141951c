"""``synthnb recover``: saves what can be read of a run's damaged ledger."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from synthnb.cli import options as o
from synthnb.cli.console import Console, finish, printable


def recover(
    folder: Annotated[Path, typer.Argument(help="The run's folder.")],
    *,
    accept: Annotated[
        bool,
        typer.Option(
            "--accept",
            help="Take a ledger that was changed on purpose by another program.",
        ),
    ] = False,
    json: o.Json = False,
) -> None:
    """Save what can be read of a damaged run; the damaged files are kept.

    Answers on damaged pages are left out: the same generate call asks for them again.
    """
    console = Console(as_json=json)
    told = finish(console, lambda: _recover(folder, accept=accept))
    for line in _lines(told):
        console.say(printable(line))
    console.result(told)


def _recover(folder: Path, *, accept: bool) -> dict[str, Any]:
    from synthnb.store.salvage import recover as salvage

    found = salvage(folder.expanduser(), accept=accept)
    kept_in = str(found.kept_in) if found.kept_in else None
    return {**found._asdict(), "kept_in": kept_in}


def _lines(told: dict[str, Any]) -> list[str]:
    told = {
        name: 0 if value is None and name != "kept_in" else value
        for name, value in told.items()
    }  # what nothing was counted of
    saved = f"{told['answers']:,} answers and {told['attempts']:,} attempts"
    lost = f"{told['lost']:,} answers that were saved once are lost." * bool(
        told["lost"]
    )
    if told["kept_in"] is None:
        return list(filter(None, [f"The ledger is sound: {saved}.", lost]))
    what = "damaged pages" if told["vouched"] else "rows that could not be read"
    return list(
        filter(
            None,
            [
                f"Recovered {saved}; {told['wrong']:,} {what}.",
                lost,
                f"The damaged files lie in {told['kept_in']}.",
                _DOUBT if not told["vouched"] else "",
                "Run the same generate call again: it asks only for what is missing.",
            ],
        )
    )


_DOUBT = (
    "The run was not closed, so nothing proves each letter: look through the answers "
    "before you use them."
)
