"""Small real files, written by hand: no library that makes PDF or DOCX is needed."""

import io
import socket
import zipfile
from xml.sax.saxutils import escape

import pytest

_CONTENT_TYPES = (
    '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/'
    'content-types"><Default Extension="rels" ContentType="application/vnd.openxml'
    'formats-package.relationships+xml"/><Override PartName="/word/document.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.'
    'document.main+xml"/></Types>'
)
_RELATIONS = (
    '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/'
    'package/2006/relationships"><Relationship Id="r1" Target="word/document.xml" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/'
    'officeDocument"/></Relationships>'
)
_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def _pdf_page(lines, image):
    drawn = [
        f"BT /F1 {size} Tf {x} {y} Td ({text}) Tj ET".encode("latin-1")
        for x, y, size, text in lines
    ]
    if image:
        drawn.append(b"q 300 0 0 300 50 50 cm BI /W 1 /H 1 /BPC 8 /CS /G ID \x80 EI Q")
    return b"\n".join(drawn)


def build_pdf(*pages, images=(), encrypt=False):
    """Each page: (x, y, size, text) lines in points, 400 x 600; images: page numbers."""
    kids = " ".join(f"{4 + 2 * i} 0 R" for i in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for i, lines in enumerate(pages):
        stream = _pdf_page(lines, i + 1 in images)
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 600] /Contents {5 + 2 * i}"
            " 0 R /Resources << /Font << /F1 3 0 R >> >> >>".encode()
        )
        objects.append(
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream)
        )
    trailer = f"/Size {len(objects) + 1} /Root 1 0 R"
    if encrypt:
        trailer += (
            " /ID [<00><00>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4"
            f" /O <{'11' * 32}> /U <{'22' * 32}> >>"
        )
    out = bytearray(b"%PDF-1.4\n")
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    out += (
        f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
        f"trailer << {trailer} >>\nstartxref\n{len(out)}\n%%EOF\n"
    ).encode()
    return bytes(out)


def build_zip(**entries):
    """Names with "__" for "/"."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(name.replace("__", "/"), data)
    return buffer.getvalue()


def build_docx(*paragraphs, body="", prolog=""):
    """Paragraphs are texts or (style, text); ``body`` is raw WordprocessingML."""
    written = []
    for paragraph in paragraphs:
        style, text = paragraph if isinstance(paragraph, tuple) else ("", paragraph)
        properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
        written.append(f"<w:p>{properties}<w:r><w:t>{escape(text)}</w:t></w:r></w:p>")
    document = (
        f'<?xml version="1.0"?>{prolog}<w:document xmlns:w="{_W}"><w:body>'
        f"{''.join(written)}{body}</w:body></w:document>"
    )
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="{name.replace(" ", "")}">'
        f'<w:name w:val="{name}"/></w:style>'
        for name in ("Title", "heading 1", "heading 2")
    )
    entries = {
        "[Content_Types].xml": _CONTENT_TYPES,
        "_rels/.rels": _RELATIONS,
        "word/document.xml": document,
        "word/styles.xml": f'<w:styles xmlns:w="{_W}">{styles}</w:styles>',
        "word/_rels/document.xml.rels": _RELATIONS.replace(
            "officeDocument/2006/relationships/officeDocument",
            "officeDocument/2006/relationships/styles",
        ).replace("word/document.xml", "styles.xml"),
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return buffer.getvalue()


@pytest.fixture
def make_pdf():
    return build_pdf


@pytest.fixture
def make_docx():
    return build_docx


@pytest.fixture
def make_zip():
    return build_zip


@pytest.fixture
def no_network(monkeypatch):
    """Any attempt to connect fails, and is recorded."""
    attempts = []

    def refuse(*args):
        attempts.append(args)
        raise AssertionError("a reader tried to connect")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    return attempts
