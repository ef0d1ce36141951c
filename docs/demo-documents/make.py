"""Write the demo's four documents from the Markdown sources in this folder.

    python docs/demo-documents/make.py

needs reportlab and python-docx, which nothing else does. The same sources give the same
bytes, so that a commit shows a change only where there is one.
"""

from __future__ import annotations

import html
import io
import re
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeAlias

SOURCES = Path(__file__).parent
TARGET = SOURCES.parents[1] / "synthnb" / "demo" / "documents"

Kind: TypeAlias = Literal["title", "heading", "item", "row", "paragraph"]
_KINDS: tuple[tuple[str, Kind], ...] = (
    (r"# ", "title"),
    (r"## ", "heading"),
    (r"[0-9]+\. ", "item"),
    (r"\| ", "row"),
)
_STYLE = "body { max-width: 40em; font-family: sans-serif } td, th { padding: 0.3em }"


def blocks(name: str) -> Iterator[tuple[Kind, str]]:
    """Yield the blocks of a source: one line each, blank lines between."""
    for line in (SOURCES / f"{name}.md").read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("| ---"):
            continue
        for pattern, kind in _KINDS:
            if match := re.match(pattern, line):
                yield kind, line[match.end() :].removesuffix(" |")
                break
        else:
            yield "paragraph", line


def make_pdf(name: str) -> bytes:
    """Set a source as a PDF of A5 pages with a running header and page numbers."""
    from reportlab.lib.pagesizes import A5
    from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet
    from reportlab.pdfgen.canvas import Canvas
    from reportlab.platypus import Paragraph, SimpleDocTemplate

    sheet = getSampleStyleSheet()
    body = ParagraphStyle("body", sheet["BodyText"], fontSize=11, leading=15)
    styles = {"title": sheet["Title"], "heading": sheet["Heading2"]}
    content = list(blocks(name))
    title = content[0][1]

    def margins(canvas: Canvas, document: SimpleDocTemplate) -> None:
        canvas.setFont("Helvetica", 8)
        if document.page > 1:
            canvas.drawString(50, A5[1] - 36, title)
        canvas.drawCentredString(A5[0] / 2, 28, f"Page {document.page}")

    buffer = io.BytesIO()
    document = SimpleDocTemplate(
        buffer,
        pagesize=A5,
        title=title,
        author="The synthnb developers",
        invariant=1,
        leftMargin=50,
        rightMargin=50,
        topMargin=60,
        bottomMargin=60,
    )
    flow = [
        Paragraph(html.escape(text), styles.get(kind, body)) for kind, text in content
    ]
    document.build(flow, onFirstPage=margins, onLaterPages=margins)
    return buffer.getvalue()


def make_docx(name: str) -> bytes:
    """Write a source as a Word document with heading and list styles."""
    import docx

    document = docx.Document()
    properties = document.core_properties
    properties.author = "The synthnb developers"
    properties.created = properties.modified = datetime(2026, 1, 1, tzinfo=UTC)
    styles = {"title": "Title", "heading": "Heading 1", "item": "List Number"}
    for kind, text in blocks(name):
        if kind == "title":
            properties.title = text
        document.add_paragraph(text, style=styles.get(kind))
    buffer = io.BytesIO()
    document.save(buffer)
    return _without_times(buffer.getvalue())


def _without_times(archive: bytes) -> bytes:
    """Return the same ZIP archive with every entry of one fixed date."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(archive)) as old,
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for entry in old.infolist():
            fixed = zipfile.ZipInfo(entry.filename, (2026, 1, 1, 0, 0, 0))
            fixed.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(fixed, old.read(entry))
    return buffer.getvalue()


def make_html(name: str) -> bytes:
    """Write a source as a web page with a style, a script and a table."""
    content = list(blocks(name))
    body: list[str] = []
    tags = {"title": "h1", "heading": "h2", "paragraph": "p", "item": "p"}
    rows: list[str] = []
    for kind, text in [*content, ("paragraph", "")]:
        if kind == "row":
            cell = "td" if rows else "th"
            cells = (html.escape(value.strip()) for value in text.split("|"))
            rows.append("".join(f"<{cell}>{value}</{cell}>" for value in cells))
            continue
        if rows:
            lines = "\n".join(f"<tr>{row}</tr>" for row in rows)
            body.append(f"<table>\n{lines}\n</table>")
            rows = []
        if text:
            body.append(f"<{tags[kind]}>{html.escape(text)}</{tags[kind]}>")
    title = html.escape(content[0][1])
    page = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
    )
    return (page + "\n".join(body) + "\n</body>\n</html>\n").encode()


def main() -> None:
    """Write all four."""
    TARGET.mkdir(parents=True, exist_ok=True)
    documents = {
        "handbook.pdf": make_pdf("handbook"),
        "review-checklist.docx": make_docx("review-checklist"),
        "training-formats.html": make_html("training-formats"),
        "glossary.md": (SOURCES / "glossary.md").read_bytes(),
    }
    for name, data in documents.items():
        (TARGET / name).write_bytes(data)
        print(f"{len(data):>7,} bytes  {TARGET / name}")


if __name__ == "__main__":
    main()
