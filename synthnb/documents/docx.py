"""DOCX → Markdown, headings, lists and tables kept, by markitdown's converter.

Called directly, as in ``documents.html``: no plug-in, no network.
"""

from __future__ import annotations

import io
from typing import Any

from synthnb.documents.archive import OLD_OFFICE, check_archive
from synthnb.documents.html import MARKDOWN_OPTIONS, tidy_markdown, without_targets
from synthnb.documents.plain import clean
from synthnb.documents.registry import INSTALL_HINT
from synthnb.errors import DocumentError
from synthnb.records import Document

_MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_OPTIONS = MARKDOWN_OPTIONS | {"style_map": "p[style-name='Title'] => h1:fresh"}


def read_docx(data: bytes, source: str) -> Document:
    """Read a Word document as Markdown.

    Headers, footers, images and the targets of links are left out. The file has no
    pages of its own, so the document has none.

    Raises:
        DocumentError: Damaged, protected, unsafe (``documents.archive``), or the
            library is not installed.
    """
    if data.startswith(OLD_OFFICE):
        raise DocumentError(
            "protected by a password, or an old .doc under the name .docx",
            hint="Open it in Word or LibreOffice and save an unprotected .docx copy.",
        )
    check_archive(data)
    try:
        from markitdown import StreamInfo
        from markitdown.converters import DocxConverter
    except ImportError as error:
        raise DocumentError(
            "the library that reads DOCX files is not installed", hint=INSTALL_HINT
        ) from error
    converter: Any = DocxConverter  # untyped
    try:
        converted = converter().convert(
            io.BytesIO(data), StreamInfo(extension=".docx"), **_OPTIONS
        )
    except OSError as error:  # what mammoth raises where the main part is missing
        raise DocumentError(
            "an archive that holds no Word document",
            hint="Give the file the suffix of its format, or leave it out.",
        ) from error
    text, left_out = without_targets(converted.markdown)
    text, more = clean(tidy_markdown(text))
    return Document(source, text, (), _MEDIA_TYPE, notes=more, left_out=left_out)
