"""PDF → text with the span of each page, by pypdfium2."""

from __future__ import annotations

import ctypes
import math
import re
from threading import Lock
from typing import TYPE_CHECKING, Any

from synthnb.documents.layout import Line, PageLines, flow, without_margins
from synthnb.documents.plain import clean
from synthnb.documents.registry import INSTALL_HINT
from synthnb.errors import DocumentError
from synthnb.records import Document

if TYPE_CHECKING:
    from collections.abc import Iterator

_PDFIUM = Lock()  # PDFium is not safe to use from two threads at once
_FEW_CHARACTERS = 16  # a page with an image and less text than this is a scan
_UNMAPPED_SHARE = 0.1
_LINE_END_HYPHEN = "\x02"  # what PDFium makes of a hyphen at a line's end
_OCR_HINT = (
    "Recognise the text first, for example with: ocrmypdf scanned.pdf readable.pdf"
)


def read_pdf(data: bytes, source: str) -> Document:
    """Read the text layer of a PDF.

    Wrapped lines are joined to paragraphs and running headers left out
    (``documents.layout``). A page that has no text layer is noted, not recognised.

    Raises:
        DocumentError: Damaged, protected by a password, or without any text layer.
    """
    with _PDFIUM:
        pages, notes = _extract(data)
    kept, margins = without_margins(pages)
    text, spans = flow(kept)
    text, more = clean(text)
    return Document(source, text, spans, "application/pdf", (*notes, *more), margins)


def _extract(data: bytes) -> tuple[list[PageLines], list[str]]:
    try:
        import pypdfium2
    except ImportError as error:
        raise DocumentError(
            "the library that reads PDF files is not installed", hint=INSTALL_HINT
        ) from error
    pages, notes, scanned = [], [], 0
    pdf = _open(pypdfium2, data)
    try:
        for index in range(len(pdf)):
            page, problem, is_scan = _page(pypdfium2, pdf, index)
            pages.append(page)
            notes += problem
            scanned += is_scan
    finally:
        pdf.close()
    if scanned and not any(page.lines for page in pages):
        raise DocumentError(
            f"looks scanned: none of its {len(pages)} pages has a text layer",
            hint=_OCR_HINT,
        )
    return pages, notes


def _open(pypdfium2: Any, data: bytes) -> Any:
    try:
        return pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == pypdfium2.raw.FPDF_ERR_PASSWORD:
            raise DocumentError(
                "protected by a password",
                hint="Save a copy without the password, for example with: "
                "qpdf --decrypt --password=... in.pdf out.pdf",
            ) from error
        raise DocumentError(
            "not a PDF that can be read: damaged, or another format",
            hint="Open the file in a viewer; if it shows, print it to a new PDF.",
        ) from error


def _page(pypdfium2: Any, pdf: Any, index: int) -> tuple[PageLines, list[str], bool]:
    number = index + 1
    try:
        page = pdf[index]
    except pypdfium2.PdfiumError:
        return PageLines(number, 0, ()), [f"page {number} is damaged: no text"], False
    textpage = page.get_textpage()
    try:
        raw = pypdfium2.raw
        lines, unmapped = _lines(raw, textpage)
        letters = sum(len(line.text.replace(" ", "")) for line in lines)
        is_scan = letters < _FEW_CHARACTERS and _shows_something(raw, page, letters)
        notes = []
        if is_scan:
            notes.append(f"page {number} has no text layer (scanned?): needs OCR")
        elif unmapped > _UNMAPPED_SHARE * max(1, letters):
            notes.append(f"page {number}: {unmapped} characters have no Unicode value")
        return PageLines(number, page.get_height(), tuple(lines)), notes, is_scan
    finally:
        textpage.close()
        page.close()


def _shows_something(raw: Any, page: Any, letters: int) -> bool:
    """Tell whether a page with hardly any text has an image, or with none anything."""
    return any(
        letters == 0 or item.type == raw.FPDF_PAGEOBJ_IMAGE
        for item in page.get_objects()
    )


def _lines(raw: Any, textpage: Any) -> tuple[list[Line], int]:
    """Return the page's lines, and how many characters have no Unicode value."""
    lines, unmapped = [], 0
    for start, text, hyphen in _raw_lines(raw, textpage):
        visible = [start + i for i, char in enumerate(text) if not char.isspace()]
        words = " ".join(_whole_characters(text).split())
        if not words:
            continue
        unmapped += sum(raw.FPDFText_HasUnicodeMapError(textpage, i) for i in visible)
        left, _, bottom = _place(raw, textpage, visible[0])
        _, right, _ = _place(raw, textpage, visible[-1])
        size = _size(raw, textpage, visible[len(visible) // 2])
        lines.append(Line(words, left, right, bottom, size, hyphen))
    return lines, unmapped


def _raw_lines(raw: Any, textpage: Any) -> Iterator[tuple[int, str, bool]]:
    """Yield each line's first index, text, and whether a hyphen was cut off its end."""
    text = "".join(
        chr(raw.FPDFText_GetUnicode(textpage, index) or 0xFFFD)
        for index in range(textpage.count_chars())
    )
    start = 0
    for match in re.finditer(f"[\n{_LINE_END_HYPHEN}]|\\Z", text):
        end = match.start()
        yield start, text[start:end], match.group() == _LINE_END_HYPHEN
        start = match.end()


def _whole_characters(text: str) -> str:
    """Join surrogate halves and drop soft hyphens."""
    joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return joined.replace("\u00ad", "")


def _place(raw: Any, textpage: Any, index: int) -> tuple[float, float, float]:
    """Return a character's left and right edges and the height of its base line."""
    left, right, bottom, top, x, y = (ctypes.c_double() for _ in range(6))
    raw.FPDFText_GetCharBox(textpage, index, left, right, bottom, top)
    raw.FPDFText_GetCharOrigin(textpage, index, x, y)
    return left.value, right.value, y.value


def _size(raw: Any, textpage: Any, index: int) -> float:
    """Return a character's type size as it shows, its matrix applied."""
    matrix = raw.FS_MATRIX()
    raw.FPDFText_GetMatrix(textpage, index, matrix)
    scale = math.hypot(matrix.c, matrix.d) or 1.0
    return float(raw.FPDFText_GetFontSize(textpage, index)) * scale
