import sys

import pytest

from synthnb.documents import chunk_document
from synthnb.documents.pdf import read_pdf
from synthnb.errors import DocumentError

FIRST = [
    (50, 580, 8, "A handbook"),
    (50, 500, 18, "The title"),
    (50, 470, 10, "The Alpaca data set was released by Stanford University in the"),
    (50, 458, 10, "month of March 2023 and it holds 52,000 exam-"),
    (50, 446, 10, "ples in all of its parts."),
    (50, 420, 10, "A second paragraph begins here and is continued on the"),
]
SECOND = [
    (50, 580, 8, "A handbook"),
    (50, 500, 10, "second page. It ends there."),
]


def test_sentences_come_out_whole(make_pdf):
    document = read_pdf(make_pdf(FIRST, SECOND), "a.pdf")
    assert document.text == (
        "The title\n\n"
        "The Alpaca data set was released by Stanford University in the month of "
        "March 2023 and it holds 52,000 examples in all of its parts.\n\n"
        "A second paragraph begins here and is continued on the second page. "
        "It ends there."
    )
    assert document.media_type == "application/pdf"
    assert document.left_out == (
        "running header or footer left out on 2 pages: 'A handbook'",
    )


def test_pages_are_spans_of_the_text(make_pdf):
    document = read_pdf(make_pdf(FIRST, [], SECOND), "a.pdf")
    spans = [document.text[p.start : p.end] for p in document.pages]
    assert [p.number for p in document.pages] == [1, 2, 3]
    assert spans[0].startswith("The title")
    assert spans[0].endswith("continued on the")
    assert spans[1] == ""
    assert spans[2] == "second page. It ends there."
    assert chunk_document(document)[-1].page == 1


def test_a_page_without_text_layer_is_noted(make_pdf):
    document = read_pdf(make_pdf(FIRST, [], SECOND, images={2}), "a.pdf")
    assert document.notes[0] == "page 2 has no text layer (scanned?): needs OCR"
    assert "second page" in document.text


def test_a_scan_with_a_stamp_on_it_is_noted(make_pdf):
    stamp = [(50, 300, 10, "Scan 17")]
    document = read_pdf(make_pdf(FIRST, stamp, images={1, 2}), "a.pdf")
    assert document.notes == ("page 2 has no text layer (scanned?): needs OCR",)


def test_a_short_page_without_image_is_no_scan(make_pdf):
    document = read_pdf(make_pdf(FIRST, [(50, 300, 10, "Part two")], []), "a.pdf")
    assert document.notes == ()
    assert document.text.endswith("Part two")


def test_a_scanned_document_is_refused(make_pdf):
    with pytest.raises(DocumentError, match="none of its 3 pages") as caught:
        read_pdf(make_pdf([], [], [], images={1, 2, 3}), "a.pdf")
    assert "ocrmypdf" in caught.value.hint


def test_empty_pages_give_no_text(make_pdf):
    assert read_pdf(make_pdf([], []), "a.pdf").text == ""


def test_a_password_is_named_as_the_reason(make_pdf):
    with pytest.raises(DocumentError, match="protected by a password") as caught:
        read_pdf(make_pdf(FIRST, encrypt=True), "a.pdf")
    assert "qpdf --decrypt" in caught.value.hint


@pytest.mark.parametrize("data", [b"%PDF-1.4 cut off", b"<html></html>", b"\0" * 99])
def test_what_is_no_pdf_is_refused(data):
    with pytest.raises(DocumentError, match="damaged, or another format"):
        read_pdf(data, "a.pdf")


def test_a_damaged_page_is_noted_and_the_others_read(make_pdf):
    data = make_pdf(FIRST, SECOND).replace(
        b"/Kids [4 0 R 6 0 R]", b"/Kids [4 0 R 9 0 R]"
    )
    document = read_pdf(data, "a.pdf")
    assert "page 2 is damaged: no text" in document.notes
    assert document.text.startswith("A handbook")


def test_a_missing_library_says_what_to_install(make_pdf, monkeypatch):
    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    with pytest.raises(DocumentError, match=r'pip install "synthnb\[documents\]"'):
        read_pdf(make_pdf(FIRST), "a.pdf")
