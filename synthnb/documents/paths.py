"""From what a person types to files: names, folders, patterns.

Nothing outside what was named is read: a link inside a folder that leads out of it is
refused, and with a ``root`` everything stays below that.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from glob import has_magic
from pathlib import Path

from synthnb.documents.naming import short_name, with_unique_names
from synthnb.documents.registry import DATA, READERS, suffixes
from synthnb.errors import ConfigError

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_SHOWN = 6  # names or suffixes in a message


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that was named and gave no text: what, why, and what to do next."""

    source: str
    reason: str
    next_step: str


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file to read, and the short name that its rows carry."""

    path: Path
    source: str


@dataclass(slots=True)
class _Search:
    """What has been found so far; a file reached twice counts once."""

    root: Path | None
    files: list[tuple[Path, str]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    seen: set[Path] = field(default_factory=set)

    def problem(self, source: str, reason: str, next_step: str) -> None:
        self.problems.append(Problem(source, reason, next_step))

    def add(self, path: Path, anchor: Path) -> None:
        real = _real(path)
        if self.root is not None and not real.is_relative_to(_real(self.root)):
            name = short_name(path, anchor, self.root)
            reason = f"outside of the root {self.root}"
            self.problem(name, reason, "Name files below the root.")
        elif real not in self.seen:
            self.seen.add(real)
            self.files.append((path, short_name(path, anchor, self.root)))


def find_files(
    paths: Sequence[str | os.PathLike[str]], root: str | os.PathLike[str] | None = None
) -> tuple[tuple[FoundFile, ...], tuple[Problem, ...]]:
    """Find the files that ``paths`` name.

    Args:
        paths: Files, folders (searched below for documents, hidden files skipped; data
            and code only where they are named) and patterns (``*``, ``?``, ``[...]``, ``**``); ``~`` is the
            home folder.
        root: Where relative paths start, and outside of which nothing is read.

    Returns:
        The files in the order of the arguments, sorted within a folder or pattern, each
        once; and what was named and not found, or is not safe to read.

    Raises:
        ConfigError: A path that is no text or path object.
    """
    search = _Search(None if root is None else _absolute(Path(root).expanduser()))
    for path in paths:
        typed = _typed(path)
        try:
            _find(search, typed)
        except (OSError, ValueError, RuntimeError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            search.problem(typed, f"not a path that can be used: {reason}", _SPELLING)
    return tuple(FoundFile(*file) for file in with_unique_names(search.files)), tuple(
        search.problems
    )


_SPELLING = "Check the spelling of the path."


def _typed(path: object) -> str:
    typed = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    if not isinstance(typed, str):
        raise ConfigError(
            f"a path is a str or a Path, not {type(path).__name__}",
            hint="Pass several paths one by one: read('a.pdf', 'notes/'), or read(*names).",
        )
    return typed


def _find(search: _Search, typed: str) -> None:
    if not typed.strip():
        search.problem(repr(typed), "an empty path", "Name a file, folder or pattern.")
        return
    if _URL.match(typed):
        search.problem(
            typed, "an address; nothing is fetched", "Download it and name the file."
        )
        return
    path = Path(typed).expanduser()
    path = _absolute(path if search.root is None else search.root / path)
    if path.is_dir():
        _add_folder(search, typed, path)
    elif os.path.lexists(path):
        search.add(path, path)
    elif has_magic(typed):
        _add_pattern(search, typed, path)
    else:
        search.problem(typed, "no such file or folder", _what_is_near(path))


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))  # resolve() raises where a link names itself


def _is_hidden(name: str) -> bool:
    return name.startswith((".", "~$"))  # "~$" is the lock file of an Office program


def _add_folder(search: _Search, typed: str, folder: Path) -> None:
    before = len(search.files) + len(search.problems)
    unread: Counter[str] = Counter()
    for path in sorted(_walk(search, folder)):
        if _is_document(path):
            search.add(path, folder)
        else:
            unread[path.suffix.lower()] += 1
    if unread:
        _report_unread(search, typed, unread)
    elif len(search.files) + len(search.problems) == before:
        search.problem(typed, "nothing new to read in it", _supported())


def _walk(search: _Search, folder: Path) -> Iterator[Path]:
    """Yield the visible files below ``folder``, links out of it refused."""

    def cannot_list(error: OSError) -> None:
        name = short_name(Path(error.filename), folder, search.root)
        reason = f"cannot be listed: {error.strerror}"
        search.problem(name, reason, "Check the folder's permissions.")

    for name, folders, files in os.walk(folder, onerror=cannot_list):
        here = Path(name)
        folders[:] = [entry for entry in folders if not _is_hidden(entry)]
        visible = [entry for entry in files if not _is_hidden(entry)]
        for path in (here / entry for entry in (*folders, *visible)):
            if path.is_symlink() and not _stays_within(search, path, folder):
                continue
            if not path.is_dir():
                yield path


def _stays_within(search: _Search, link: Path, folder: Path) -> bool:
    if _real(link).is_relative_to(_real(folder)):
        return True
    search.problem(
        short_name(link, folder, search.root),
        "a link that leads out of the folder",
        "Name the link itself if its target is wanted.",
    )
    return False


def _add_pattern(search: _Search, typed: str, pattern: Path) -> None:
    base, rest = _split_pattern(pattern)
    if not base.is_dir():
        search.problem(typed, "nothing matches this pattern", _what_is_near(base))
        return
    matches = sorted(path for path in base.glob(rest) if _is_shown(path, base, rest))
    unread: Counter[str] = Counter()
    for path in matches:
        if not _stays_within(search, path, base):
            continue
        if path.is_dir():
            _add_folder(search, f"{path}", path)
        elif _is_document(path) or _is_named(path, rest):
            search.add(path, base)
        else:
            unread[path.suffix.lower()] += 1
    if unread:
        _report_unread(search, typed, unread)
    if not matches:
        search.problem(typed, "nothing matches this pattern", _listing(base))


def _split_pattern(pattern: Path) -> tuple[Path, str]:
    """Split off the folders before the first special character."""
    parts = pattern.parts
    first = next(i for i, part in enumerate(parts) if has_magic(part))
    rest = parts[first:]
    if rest[-1] == "**":  # means all files below, not the folders alone
        rest = (*rest, "*")
    return Path(*parts[:first]), "/".join(rest)


def _is_shown(path: Path, base: Path, pattern: str) -> bool:
    hidden = any(_is_hidden(part) for part in path.relative_to(base).parts)
    return not hidden or any(part.startswith(".") for part in pattern.split("/"))


def _is_document(path: Path) -> bool:
    suffix = path.suffix.lower()
    return suffix in READERS and suffix not in DATA


def _is_named(path: Path, pattern: str) -> bool:
    """Tell whether a pattern asks for files of this very kind: ``*.csv``."""
    suffix = path.suffix.lower()
    return suffix in DATA and Path(pattern).suffix.lower() == suffix


def _report_unread(search: _Search, typed: str, unread: Counter[str]) -> None:
    data = Counter({s: n for s, n in unread.items() if s in DATA})
    if data:
        suffix = data.most_common(1)[0][0]
        reason = f"{_files(data)} of data or code not read: {_tally(data)}"
        search.problem(typed, reason, f"Where they are wanted, name them: **/*{suffix}")
    if others := unread - data:
        reason = f"no reader for {_files(others)}: {_tally(others)}"
        search.problem(typed, reason, _supported())


def _files(counted: Counter[str]) -> str:
    number = counted.total()
    return "1 file" if number == 1 else f"{number} files"


def _tally(unread: Counter[str]) -> str:
    shown = [
        f"{suffix or 'no suffix'} ({n})" for suffix, n in unread.most_common(_SHOWN)
    ]
    return ", ".join(shown) + (", ..." if len(unread) > _SHOWN else "")


def _supported() -> str:
    return f"Files that can be read end in {suffixes()}."


def _what_is_near(path: Path) -> str:
    """Say what stands where ``path`` was looked for."""
    folder = path.parent
    if not folder.is_dir():
        existing = next((p for p in folder.parents if p.is_dir()), Path("/"))
        return f"There is no folder {folder}; {existing} exists."
    names = [entry.name for entry in _entries(folder) if not _is_hidden(entry.name)]
    close = get_close_matches(path.name, names, n=3)
    if close:
        return f"Did you mean {' or '.join(close)}? (in {folder})"
    return _listing(folder)


def _listing(folder: Path) -> str:
    names = sorted(e.name for e in _entries(folder) if not _is_hidden(e.name))
    if not names:
        return f"{folder} is empty."
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{folder} holds {', '.join(names[:_SHOWN])}{more}. {_supported()}"


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []
