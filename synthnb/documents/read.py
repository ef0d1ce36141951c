"""Read documents: one file that cannot be read is reported, and is not the end."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from synthnb.documents.paths import FoundFile, Problem, find_files
from synthnb.documents.plain import clean
from synthnb.documents.registry import find_reader
from synthnb.errors import DocumentError
from synthnb.records import Document

MAX_FILE_BYTES = 500_000_000
_SHOWN = 8  # problems in an error's text

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class ReadResult:
    """The documents, and what was named and gave no text."""

    documents: tuple[Document, ...]
    problems: tuple[Problem, ...] = ()


def read_documents(
    *paths: str | os.PathLike[str],
    root: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> ReadResult:
    """Read files of every supported format.

    Args:
        *paths: Files, folders (all below, sorted, hidden files skipped) and patterns
            (``notes/**/*.md``); ``~`` is the home folder. A file named twice is read
            once.
        root: Where relative paths start, and outside of which nothing is read. Sources
            are then relative to it; else to the current folder where they lie in it.
        progress: Called as ``progress(done, total, source)`` after each file.

    Returns:
        The documents in the order of the arguments, and the problems.

    Raises:
        DocumentError: Not one document could be read; the text says why for each path,
            as typed, and what is there.
        ConfigError: A path that is no text or path object.
    """
    if not paths:
        raise DocumentError("no path given", hint="Name a file, a folder or a pattern.")
    files, found_problems = find_files(paths, root)
    documents: list[Document] = []
    problems = list(found_problems)
    for done, file in enumerate(files, start=1):
        outcome = _read_file(file)
        if isinstance(outcome, Document):
            documents.append(outcome)
        else:
            problems.append(outcome)
        if progress is not None:
            progress(done, len(files), file.source)
    if not documents:
        raise _nothing_read(problems)
    return ReadResult(tuple(documents), tuple(problems))


def read_text(text: str, source: str = "text") -> Document:
    """Make a document of a text in memory.

    Raises:
        DocumentError: The text is empty or white space only.
    """
    cleaned, notes = clean(text)
    if not cleaned.strip():
        raise DocumentError(f"{source}: no text in it", hint="Pass a text with words.")
    return Document(source, cleaned, notes=notes)


def _read_file(file: FoundFile) -> Document | Problem:
    try:
        return _document(file)
    except DocumentError as error:
        return Problem(file.source, error.message, error.hint)
    except OSError as error:
        reason = f"cannot be opened: {error.strerror or error}"
        return Problem(file.source, reason, "Check the file and its permissions.")
    except Exception as error:  # noqa: BLE001 - parsers raise anything on broken files
        return Problem(
            file.source,
            f"cannot be parsed ({type(error).__name__}: {error})",
            "Open it in its program and save it again, or save its text as .txt.",
        )


def _document(file: FoundFile) -> Document:
    reader = find_reader(file.path.suffix)
    document = reader(_bytes(file.path), file.source)
    if not document.text.strip():
        raise DocumentError("no text in it", hint="Leave the file out.")
    return document


def _bytes(path: Path) -> bytes:
    """Read a regular file, bounded; a pipe or device would never end."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise DocumentError("no regular file", hint="Name a file with text in it.")
    if status.st_size > MAX_FILE_BYTES:
        raise DocumentError(
            f"{status.st_size:,} bytes (at most {MAX_FILE_BYTES:,})",
            hint="Split the file into smaller ones.",
        )
    data = path.read_bytes()
    if not data:
        raise DocumentError("an empty file", hint="Leave the file out.")
    return data


def _nothing_read(problems: list[Problem]) -> DocumentError:
    if len(problems) == 1:
        only = problems[0]
        return DocumentError(f"{only.source}: {only.reason}", hint=only.next_step)
    shown = "".join(
        f"\n  {problem.source}: {problem.reason}. {problem.next_step}"
        for problem in problems[:_SHOWN]
    )
    rest = len(problems) - _SHOWN
    more = f"\n  and {rest} more" if rest > 0 else ""
    return DocumentError(
        f"no readable document among what was named:{shown}{more}",
        hint="Mend one of these, or name other files.",
    )
