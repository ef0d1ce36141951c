"""Which reader reads which suffix. A new format is one file and one line here.

A reader is a pure function ``(data, source) -> Document``. It raises ``DocumentError``
(what is wrong, and the next step as hint) for a file that gives no text.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import MappingProxyType
from typing import TypeAlias, cast

from synthnb.errors import DocumentError
from synthnb.records import Document

Reader: TypeAlias = Callable[[bytes, str], Document]

READERS = MappingProxyType(
    {
        ".docx": "synthnb.documents.docx:read_docx",
        ".htm": "synthnb.documents.html:read_html",
        ".html": "synthnb.documents.html:read_html",
        ".markdown": "synthnb.documents.plain:read_markdown",
        ".md": "synthnb.documents.plain:read_markdown",
        ".pdf": "synthnb.documents.pdf:read_pdf",
        ".text": "synthnb.documents.plain:read_plain",
        ".txt": "synthnb.documents.plain:read_plain",
    }
)
"""Suffix (lower case) → where its reader stands. Loaded when first needed."""

INSTALL_HINT = 'Install the readers: pip install "synthnb[documents]"'


def suffixes() -> str:
    """Return the suffixes that can be read, for a message."""
    return ", ".join(sorted(READERS))


def find_reader(suffix: str) -> Reader:
    """Return the reader for ``suffix`` (any case).

    Raises:
        DocumentError: No reader reads such files.
    """
    place = READERS.get(suffix.lower())
    if place is None:
        named = f"no reader for {suffix!r} files" if suffix else "a file with no suffix"
        raise DocumentError(
            named,
            hint=f"Convert the file to one of {suffixes()}; or read it yourself (a table "
            "with pandas) and pass its rows to generate.",
        )
    module, _, name = place.partition(":")
    return cast("Reader", getattr(import_module(module), name))
