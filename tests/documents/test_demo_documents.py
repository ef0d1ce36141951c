import re

import pytest

from synthnb.demo import documents_folder
from synthnb.documents import chunk_document, read_documents


@pytest.fixture(scope="module")
def documents():
    result = read_documents(documents_folder(), root=documents_folder())
    assert result.problems == ()
    return {document.source: document for document in result.documents}


def test_there_is_one_document_of_each_format(documents):
    assert list(documents) == [
        "glossary.md",
        "handbook.pdf",
        "review-checklist.docx",
        "training-formats.html",
    ]
    for path in documents_folder().iterdir():
        assert path.stat().st_size < 60_000


def test_each_section_is_one_chunk(documents):
    counts = {
        source: len(chunk_document(document, chunk_tokens=200, overlap=0))
        for source, document in documents.items()
    }
    assert list(counts.values()) == [5, 6, 5, 5]


def test_the_pdf_has_pages_and_no_running_header_in_its_text(documents):
    handbook = documents["handbook.pdf"]
    assert len(handbook.pages) >= 3
    assert handbook.text.count("a short handbook") == 1
    assert "Page 2" not in handbook.text
    assert len(handbook.left_out) == 2


def test_the_web_page_keeps_its_table_and_loses_its_style(documents):
    text = documents["training-formats.html"].text
    assert "| Alpaca | instruction, input, output | single tasks |" in text
    assert "font-family" not in text


def test_each_paragraph_is_made_of_whole_plain_sentences(documents):
    for document in documents.values():
        assert document.text.isascii()
        for paragraph in document.text.split("\n"):
            is_prose = len(paragraph) > 60 and not paragraph.startswith(("|", "#"))
            if is_prose:
                assert re.search(r"[.]\Z", paragraph), paragraph
                assert not re.search(r"(?:^|[.] )(?:It|They|This|These) ", paragraph)
