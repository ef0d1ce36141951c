"""``synthnb scan``: keys that saved notebooks hold; made for hooks before a commit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from synthnb.cli import options as o
from synthnb.cli.console import Console, finish, printable
from synthnb.errors import DocumentError

FOUND = 1
UNREADABLE = 2


def scan(
    paths: Annotated[
        list[Path], typer.Argument(help="Notebooks, and folders that hold some.")
    ],
    *,
    json: o.Json = False,
) -> None:
    """Find keys in saved notebooks: cells, outputs, metadata and widget state.

    No character of a key is shown. Exit status 0: none found, 1: some found, 2: a file
    could not be read.
    """
    console = Console(as_json=json)
    told = finish(console, lambda: _scan(paths, console))
    console.say(_summary(told))
    console.result(told)
    if told["problems"]:
        raise typer.Exit(UNREADABLE)
    if told["findings"]:
        raise typer.Exit(FOUND)


def _scan(paths: list[Path], console: Console) -> dict[str, Any]:
    from synthnb.scan import find_notebooks, scan_notebook

    findings: list[dict[str, Any]] = []
    problems: list[dict[str, str]] = []
    notebooks = 0

    def missed(error: OSError) -> None:
        problem(str(error.filename), f"cannot be listed: {error.strerror}")

    def problem(path: str, message: str) -> None:
        problems.append({"path": path, "message": message})
        console.say(printable(f"{path}: {message}"))

    for path in find_notebooks(paths, missed):
        notebooks += 1
        try:
            found = scan_notebook(path)
        except DocumentError as error:
            problem(str(path), error.message.removeprefix(f"{path} "))
            continue
        for one in found:
            console.say(printable(one))
            console.say(f"  → {printable(one.advice)}")
        findings += [one.to_json() for one in found]
    return {"findings": findings, "notebooks": notebooks, "problems": problems}


def _summary(told: dict[str, Any]) -> str:
    keys, notebooks = len(told["findings"]), told["notebooks"]
    found = {0: "no key", 1: "1 key"}.get(keys, f"{keys} keys")
    scanned = "1 notebook" if notebooks == 1 else f"{notebooks} notebooks"
    text = f"{found} found in {scanned}"
    unread = len(told["problems"])
    return f"{text}, {unread} not read" if unread else text
