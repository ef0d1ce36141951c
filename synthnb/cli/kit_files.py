"""Files one after the other, as synthetic-data-kit's verbs take them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer

from synthnb.cli.console import Console, printable
from synthnb.errors import DocumentError, SynthnbError


def files_of(given: str, suffixes: Collection[str], what: str) -> list[Path]:
    """Return the file, or those of the folder; their order is that of their names.

    Args:
        given: as typed.
        suffixes: of the files that are taken from a folder, in lower case.
        what: e.g. "document", for the error.

    Raises:
        DocumentError: there is nothing of that name, or nothing in it.
    """
    path = Path(given).expanduser()
    if not path.exists():
        msg = f"there is no file or folder {given}"
        raise DocumentError(msg, hint="Check the name.")
    if not path.is_dir():
        return [path]
    found = sorted(
        p for p in path.iterdir() if p.is_file() and p.suffix.lower() in suffixes
    )
    if not found:
        msg = f"there is no {what} in {given}"
        raise DocumentError(msg, hint=f"It takes {', '.join(sorted(suffixes))}.")
    return found


def targets(
    files: Iterable[Path], output: str | None, usual: str, ending: str
) -> list[tuple[Path, Path]]:
    """Return each file with the one that is made of it; no two have the same.

    Args:
        files: what is read.
        output: a folder, or the file to write where there is one only.
        usual: the folder where none is named.
        ending: of the new names, with the suffix.
    """
    listed = list(files)
    folder = Path(output or usual).expanduser()
    suffix = Path(f"name{ending}").suffix
    is_file = bool(suffix) and folder.suffix == suffix and not folder.is_dir()
    if output and len(listed) == 1 and is_file:
        return [(listed[0], folder)]
    pairs, taken = [], set()
    for file in listed:
        name = f"{file.stem}{ending}"
        if name in taken:  # report.pdf and report.docx
            name = f"{file.stem}_{file.suffix.lstrip('.')}{ending}"
        taken.add(name)
        pairs.append((file, folder / name))
    return pairs


@dataclass
class Outcome:
    """What became of the files of one command."""

    done: list[dict[str, Any]] = field(default_factory=list)
    failed: list[dict[str, str]] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Return it for machines."""
        return {"done": self.done, "failed": self.failed}


Step = Callable[[Path, Path], Awaitable[dict[str, Any]]]
"""Makes the second file of the first; returns what is to be told of it."""


async def over_files(
    console: Console, pairs: list[tuple[Path, Path]], step: Step, *, preview: bool
) -> Outcome:
    """Do one file after the other; one that fails does not end the others."""
    outcome = Outcome()
    for number, (file, target) in enumerate(pairs, start=1):
        if preview:
            console.say(printable(f"{file} → {target}"))
            outcome.done.append({"file": str(file), "out": str(target)})
            continue
        try:
            told = await step(file, target)
        except SynthnbError as error:
            outcome.failed.append(
                {"file": str(file), "error": error.message, "next": error.hint}
            )
            console.say(printable(f"failed: {file}: {error}"))
            continue
        outcome.done.append({"file": str(file), "out": str(target), **told})
        figures = ", ".join(f"{value} {name}" for name, value in told.items())
        console.say(
            printable(f"{number} of {len(pairs)}  {file} → {target}  ({figures})")
        )
    return outcome


def end(console: Console, outcome: Outcome, *, preview: bool) -> None:
    """Tell the sum, and leave with 1 where a file failed."""
    if not preview:
        well, badly = len(outcome.done), len(outcome.failed)
        console.say(f"{well} done, {badly} failed")
    console.result(outcome.to_json())
    if outcome.failed:
        raise typer.Exit(1)
