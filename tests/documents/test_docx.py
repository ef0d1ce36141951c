import io
import sys
import zipfile

import pytest

from synthnb.documents import archive
from synthnb.documents.archive import check_archive
from synthnb.documents.docx import read_docx
from synthnb.errors import DocumentError

TABLE = "<w:tbl>{}</w:tbl>".format(
    "".join(
        "<w:tr>{}</w:tr>".format(
            "".join(f"<w:tc><w:p><w:r><w:t>{c}</w:t></w:r></w:p></w:tc>" for c in row)
        )
        for row in ("ab", "12")
    )
)


def test_headings_paragraphs_and_tables(make_docx):
    data = make_docx(
        ("Title", "The title"), ("heading1", "Part"), "A paragraph.", body=TABLE
    )
    document = read_docx(data, "a.docx")
    assert document.text == (
        "# The title\n\n# Part\n\nA paragraph.\n\n| a | b |\n| --- | --- |\n| 1 | 2 |"
    )
    assert document.pages == ()
    assert document.media_type.endswith("wordprocessingml.document")
    assert document.notes == ()


def test_text_stays_as_written(make_docx):
    text = "snake_case 3*4 {braces} <tags> & größer"
    assert read_docx(make_docx(text), "a").text == text


@pytest.mark.parametrize("data", [b"PK\x03\x04broken", b"no archive at all", b"PK"])
def test_a_damaged_file_is_refused(data):
    with pytest.raises(DocumentError, match="damaged, or another format"):
        read_docx(data, "a.docx")


def test_a_damaged_entry_is_refused(make_docx):
    data = bytearray(make_docx("word " * 500))
    with zipfile.ZipFile(io.BytesIO(data)) as whole:
        start = whole.getinfo("word/document.xml").header_offset + 60
    data[start : start + 20] = b"\xff" * 20
    with pytest.raises(DocumentError, match="damaged"):
        read_docx(bytes(data), "a.docx")


def test_an_old_or_protected_office_file_is_refused():
    with pytest.raises(DocumentError, match="protected by a password, or an old"):
        read_docx(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "a.docx")


def test_an_archive_that_is_no_document_says_so(make_zip):
    with pytest.raises(DocumentError, match="no Word document"):
        read_docx(make_zip(readme="hello"), "a.docx")


@pytest.mark.parametrize("bomb", [b"\0" * 30_000_000, b" " * 30_000_000])
def test_an_entry_that_unpacks_a_thousandfold_is_refused(make_zip, bomb):
    with pytest.raises(DocumentError, match="times its size"):
        check_archive(make_zip(word__document_xml=bomb))


def test_too_many_entries_are_refused(make_zip, monkeypatch):
    monkeypatch.setattr(archive, "MAX_ENTRIES", 3)
    check_archive(make_zip(a="1", b="2", c="3"))
    with pytest.raises(DocumentError, match="4 entries"):
        check_archive(make_zip(a="1", b="2", c="3", d="4"))


def test_too_many_bytes_are_refused(make_zip, monkeypatch):
    monkeypatch.setattr(archive, "MAX_BYTES", 1_000)
    with pytest.raises(DocumentError, match="would unpack to 1,001 bytes"):
        check_archive(make_zip(a="x" * 500, b="y" * 501))


def test_an_encrypted_entry_is_refused(make_zip):
    data = bytearray(make_zip(a="text"))
    data[data.index(b"PK\x01\x02") + 8] |= 1  # the flag in the central directory
    with pytest.raises(DocumentError, match="encrypted"):
        check_archive(bytes(data))


LAUGHS = (
    '<!DOCTYPE d [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;"><!ENTITY c "&b;&b;&b;">]>'
)
EXTERNAL = '<!DOCTYPE d [<!ENTITY x SYSTEM "http://127.0.0.1:9/secret">]>'


@pytest.mark.parametrize(
    "prolog", [LAUGHS, EXTERNAL, f"<!-- {list(range(30_000))} -->{EXTERNAL}"]
)
def test_xml_with_a_document_type_is_refused(make_docx, prolog, no_network):
    with pytest.raises(DocumentError, match="document type"):
        read_docx(make_docx("text", prolog=prolog), "a.docx")
    assert no_network == []


def test_a_document_type_in_utf16_is_seen_too(make_zip):
    xml = f'<?xml version="1.0" encoding="utf-16"?>{LAUGHS}<d/>'.encode("utf-16")
    with pytest.raises(DocumentError, match="document type"):
        check_archive(make_zip(**{"word__x.xml": xml}))


def test_names_in_an_archive_lead_nowhere(make_docx, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = io.BytesIO(make_docx("Fine."))
    with zipfile.ZipFile(data, "a") as harmful:
        harmful.writestr("../../outside.txt", "x")
    assert read_docx(data.getvalue(), "a").text == "Fine."
    assert list(tmp_path.rglob("*")) == []


def test_a_missing_library_says_what_to_install(make_docx, monkeypatch):
    monkeypatch.setitem(sys.modules, "markitdown.converters", None)
    with pytest.raises(DocumentError, match=r'pip install "synthnb\[documents\]"'):
        read_docx(make_docx("x"), "a.docx")
