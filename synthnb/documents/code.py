"""Source code, in a fence that names its language."""

from __future__ import annotations

from pathlib import PurePath
from types import MappingProxyType

from synthnb.documents.plain import clean, decode
from synthnb.errors import DocumentError
from synthnb.records import Document

LANGUAGES = MappingProxyType(
    {
        ".c": "c", ".cc": "cpp", ".cpp": "cpp", ".cs": "csharp", ".go": "go",
        ".h": "c", ".hpp": "cpp", ".java": "java", ".js": "javascript",
        ".jsx": "jsx", ".kt": "kotlin", ".lua": "lua", ".php": "php", ".pl": "perl",
        ".py": "python", ".r": "r", ".rb": "ruby", ".rs": "rust", ".scala": "scala",
        ".sh": "bash", ".sql": "sql", ".swift": "swift", ".ts": "typescript",
        ".tsx": "tsx",
    }
)  # fmt: skip
"""Suffix → the name of the language behind a fence."""
_LONGEST_LINE = 5_000


def read_code(data: bytes, source: str) -> Document:
    """Read source code; indentation stays.

    Raises:
        DocumentError: binary or minified: there is nothing for a reader in it.
    """
    text, notes = decode(data)
    text, more = clean(text)
    if max(map(len, text.split("\n"))) > _LONGEST_LINE:
        raise DocumentError(
            f"a line has more than {_LONGEST_LINE:,} characters: minified or generated",
            hint="Give the source that it was made from, or leave it out.",
        )
    body = text.strip("\n")
    if not body.strip():
        return Document(source, "", (), "text/x-source", notes=(*notes, *more))
    fence = "```"
    while fence in body:
        fence += "`"
    language = LANGUAGES.get(PurePath(source).suffix.lower(), "")
    whole = f"{fence}{language}\n{body}\n{fence}"
    return Document(source, whole, (), "text/x-source", notes=(*notes, *more))
