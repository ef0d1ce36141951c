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

_CODE = "synthnb.documents.code:read_code"
READERS = MappingProxyType(
    {
        ".csv": "synthnb.documents.tables:read_csv",
        ".docx": "synthnb.documents.docx:read_docx",
        ".epub": "synthnb.documents.office:read_epub",
        ".htm": "synthnb.documents.html:read_html",
        ".html": "synthnb.documents.html:read_html",
        ".ipynb": "synthnb.documents.structured:read_notebook",
        ".json": "synthnb.documents.structured:read_json",
        ".jsonl": "synthnb.documents.structured:read_json_lines",
        ".markdown": "synthnb.documents.plain:read_markdown",
        ".md": "synthnb.documents.plain:read_markdown",
        ".parquet": "synthnb.documents.tables:read_parquet",
        ".pdf": "synthnb.documents.pdf:read_pdf",
        ".pptx": "synthnb.documents.office:read_pptx",
        ".srt": "synthnb.documents.transcript:read_transcript",
        ".text": "synthnb.documents.plain:read_plain",
        ".tsv": "synthnb.documents.tables:read_tsv",
        ".txt": "synthnb.documents.plain:read_plain",
        ".vtt": "synthnb.documents.transcript:read_transcript",
        ".xlsx": "synthnb.documents.tables:read_xlsx",
        **dict.fromkeys(
            (
                *(
                    ".c",
                    ".cc",
                    ".cpp",
                    ".cs",
                    ".go",
                    ".h",
                    ".hpp",
                    ".java",
                    ".js",
                    ".jsx",
                ),
                *(".kt", ".lua", ".php", ".pl", ".py", ".r", ".rb", ".rs", ".scala"),
                *(".sh", ".sql", ".swift", ".ts", ".tsx"),
            ),
            _CODE,
        ),
    }
)
"""Suffix (lower case) → where its reader stands. Loaded when first needed."""

DATA = frozenset(
    {s for s, place in READERS.items() if place == _CODE}
    | {".csv", ".ipynb", ".json", ".jsonl", ".parquet", ".tsv"}
)
"""What is read only where it is named, itself or by its suffix (``src/**/*.py``). A folder
of documents may hold a program's files, and what synthnb has written there."""

INSTALL_HINT = 'Install the readers: pip install "synthnb[documents]"'


def suffixes() -> str:
    """Return the suffixes that can be read, for a message."""
    documents = ", ".join(sorted(set(READERS) - DATA))
    return f"{documents}; named or as *.suffix also tables, JSON, notebooks and code"


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
