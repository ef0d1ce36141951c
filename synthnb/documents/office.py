"""Slides (.pptx) and books (.epub) as Markdown, by markitdown's converters.

Called directly, as in ``documents.html``: no plug-in, no network.
"""

from __future__ import annotations

import io
import re
from typing import Any

from synthnb.documents.archive import OLD_OFFICE, check_archive
from synthnb.documents.html import MARKDOWN_OPTIONS, tidy_markdown, without_targets
from synthnb.documents.plain import clean
from synthnb.documents.registry import INSTALL_HINT
from synthnb.errors import DocumentError
from synthnb.records import Document, Page

_SLIDES = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
_SLIDE = re.compile(r"^<!-- Slide number: \d+ -->\s*", re.MULTILINE)


def read_pptx(data: bytes, source: str) -> Document:
    """Read slides, each a page: titles, texts, tables, charts' data, notes.

    Raises:
        DocumentError: Damaged, protected, unsafe, or the library is not installed.
    """
    if data.startswith(OLD_OFFICE):
        raise DocumentError(
            "protected by a password, or an old .ppt under the name .pptx",
            hint="Open it in PowerPoint or LibreOffice and save an unprotected .pptx.",
        )
    markdown, images = _converted(data, "PptxConverter", ".pptx", "presentation")
    parts, pages, notes, at = [], [], [], 0
    for number, slide in enumerate(_SLIDE.split(markdown)[1:], start=1):
        text, more = clean(tidy_markdown(slide))
        notes += [f"slide {number}: {note}" for note in more]
        if text:
            pages.append(Page(number, at, at + len(text)))
            parts.append(text)
            at += len(text) + 2
    whole = "\n\n".join(parts)
    return Document(source, whole, tuple(pages), _SLIDES, tuple(notes), images)


def read_epub(data: bytes, source: str) -> Document:
    """Read a book in the order of its spine.

    Raises:
        DocumentError: Damaged, protected, unsafe, or the library is not installed.
    """
    markdown, images = _converted(data, "EpubConverter", ".epub", "book")
    text, more = clean(tidy_markdown(markdown))
    return Document(source, text, (), "application/epub+zip", more, images)


def _converted(
    data: bytes, converter: str, suffix: str, what: str
) -> tuple[str, tuple[str, ...]]:
    check_archive(data)
    try:
        from markitdown import StreamInfo, converters

        made: Any = getattr(converters, converter)()
        info = StreamInfo(extension=suffix)
        markdown = made.convert(io.BytesIO(data), info, **MARKDOWN_OPTIONS).markdown
    except ImportError as error:
        raise DocumentError(
            f"the library that reads {suffix} files is not installed", hint=INSTALL_HINT
        ) from error
    except Exception as error:
        # The converters raise whatever the parser below them raises.
        if type(error).__name__ == "MissingDependencyException":
            raise DocumentError(
                f"the library that reads {suffix} files is not installed",
                hint=INSTALL_HINT,
            ) from error
        raise DocumentError(
            f"an archive that holds no {what} that can be read",
            hint="Open the file in its program and save it again.",
        ) from error
    return without_targets(markdown)
