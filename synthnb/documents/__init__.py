"""Documents: readers by suffix, and chunking."""

from __future__ import annotations

from synthnb.documents.chunk import chunk_document, chunk_rows
from synthnb.documents.paths import Problem
from synthnb.documents.read import ReadResult, read_documents, read_text
from synthnb.documents.tokens import TokenCounter, estimate_tokens

__all__ = [
    "Problem",
    "ReadResult",
    "TokenCounter",
    "chunk_document",
    "chunk_rows",
    "estimate_tokens",
    "read_documents",
    "read_text",
]
