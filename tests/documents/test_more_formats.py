"""Tables, JSON, notebooks, subtitles, code, slides and books; files made by real writers."""

from __future__ import annotations

import io
import json
import zipfile

import pandas as pd
import pytest

import synthnb as sn
from synthnb.documents.code import LANGUAGES, read_code
from synthnb.documents.office import read_epub, read_pptx
from synthnb.documents.registry import READERS
from synthnb.documents.structured import read_json, read_json_lines, read_notebook
from synthnb.documents.tables import read_csv, read_parquet, read_tsv, read_xlsx
from synthnb.documents.transcript import read_transcript
from synthnb.errors import DocumentError


def test_csv_is_a_markdown_table_whatever_parts_its_cells():
    for mark in ",;\t":
        text = f'name{mark}note\nÜber{mark}"a\nb | c"\nx{mark}\n'
        document = read_csv(text.encode(), "a.csv")
        assert document.text == (
            "| name | note |\n| --- | --- |\n| Über | a b \\| c |\n| x |  |"
        )
    rows = ["größe;straße", *["schöne Grüße;über größere Städte"] * 20]
    german = "\n".join(rows)
    assert "schöne Grüße" in read_csv(german.encode("cp1252"), "a").text


def test_a_long_table_repeats_its_head_so_that_each_piece_has_it():
    rows = "".join(f"row {n},{n}\n" for n in range(100))
    document = read_csv(f"name,value\n{rows}".encode(), "a.csv")
    assert document.text.count("| name | value |") == 3
    assert document.text.count("| row ") == 100


def test_tsv_keeps_quotes_and_rows_may_be_ragged():
    document = read_tsv(b'a\tb\n"x\t1\t2\n\n3\n', "a.tsv")
    assert document.text == (
        '| a | b |  |\n| --- | --- | --- |\n| "x | 1 | 2 |\n| 3 |  |  |'
    )


def test_a_table_without_rows_is_empty_and_told_by_read(tmp_path):
    assert read_csv(b"", "a.csv").text == ""
    (tmp_path / "a.csv").write_text("")
    with pytest.raises(DocumentError):
        sn.read(tmp_path / "a.csv")


def workbook(sheets):
    from openpyxl import Workbook

    book = Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    file = io.BytesIO()
    book["hidden"].sheet_state = "hidden" if "hidden" in sheets else "visible"
    book.save(file)
    return file.getvalue()


def test_sheets_are_pages_with_their_names():
    data = workbook(
        {
            "Prices": [["item", "€"], ["tea", 2.5], [None, None], ["日本", None]],
            "hidden": [["secret"]],
            "Empty": [],
            "Two": [["x"], [1]],
        }
    )
    document = read_xlsx(data, "a.xlsx")
    assert document.text == (
        "# Prices\n\n| item | € |\n| --- | --- |\n| tea | 2.5 |\n| 日本 |  |\n\n"
        "# Two\n\n| x |\n| --- |\n| 1 |"
    )
    assert [document.text[p.start : p.end][:5] for p in document.pages] == [
        "# Pri",
        "# Two",
    ]
    assert document.left_out == ("1 hidden sheets",)


@pytest.mark.parametrize("read", [read_xlsx, read_pptx, read_epub])
@pytest.mark.parametrize(
    ("data", "told"),
    [(b"PK\x03\x04broken", "damaged"), (b"no archive", "damaged"), (b"", "damaged")],
)
def test_damaged_archives_are_refused(read, data, told):
    with pytest.raises(DocumentError, match=told):
        read(data, "a")


@pytest.mark.parametrize("read", [read_xlsx, read_pptx, read_epub])
def test_another_archive_is_named(read):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("x.txt", "x")
    with pytest.raises(DocumentError, match="holds no"):
        read(file.getvalue(), "a")


@pytest.mark.parametrize("read", [read_xlsx, read_pptx])
def test_a_password_is_told(read):
    with pytest.raises(DocumentError, match="password"):
        read(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a")


@pytest.mark.parametrize("read", [read_xlsx, read_pptx, read_epub])
def test_entities_and_bombs_are_refused_before_a_parser_sees_them(read):
    evil = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><x/>'
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("content.xml", evil)
    with pytest.raises(DocumentError):
        read(file.getvalue(), "a")
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.xml", b"<a>" + b" " * 50_000_000)
    with pytest.raises(DocumentError, match="times its size"):
        read(file.getvalue(), "a")


def test_parquet_is_one_table():
    file = io.BytesIO()
    pd.DataFrame({"a": ["ä", None], "n": [1, 2]}).to_parquet(file)
    assert read_parquet(file.getvalue(), "a").text == (
        "| a | n |\n| --- | --- |\n| ä | 1 |\n|  | 2 |"
    )
    with pytest.raises(DocumentError, match="no Parquet"):
        read_parquet(b"PAR1 no", "a")


def test_json_objects_are_paragraphs():
    value = [{"title": "Ü\nb", "n": 1, "none": None}, {"tags": ["x", "日"]}]
    document = read_json(json.dumps(value).encode(), "a.json")
    assert document.text == 'title: Ü\nb\nn: 1\n\ntags: ["x", "日"]'
    assert read_json(b"[1, 2]", "a").text == "[\n  1,\n  2\n]"
    with pytest.raises(DocumentError, match="no JSON"):
        read_json(b"{", "a")


def test_torn_json_lines_give_the_whole_ones():
    document = read_json_lines(b'{"a": 1}\n\nnope\n[2]\n{"b', "a.jsonl")
    assert document.text == "a: 1\n\n[2]"
    assert document.notes == ("2 lines are no JSON and were left out: 3, 5",)
    with pytest.raises(DocumentError, match="line 1 is no JSON"):
        read_json_lines(b"{\n{", "a")


def test_a_notebook_is_its_text_and_code_without_outputs():
    nb = pytest.importorskip("nbformat.v4")
    cells = [
        nb.new_markdown_cell("# Title\n\nText."),
        nb.new_code_cell(
            "x = '''```'''\nprint(x)", outputs=[nb.new_output("stream", text="SECRET")]
        ),
        nb.new_code_cell("  "),
    ]
    data = json.dumps(nb.new_notebook(cells=cells)).encode()
    document = read_notebook(data, "a.ipynb")
    assert (
        document.text == "# Title\n\nText.\n\n````python\nx = '''```'''\nprint(x)\n````"
    )
    assert document.left_out == ("1 outputs left out",)
    for wrong in (b"{}", b"[]", b"no", b'{"cells": [1]}'):
        with pytest.raises(DocumentError, match="no Jupyter notebook"):
            read_notebook(wrong, "a")


def test_subtitles_are_what_was_said():
    srt = (
        "1\r\n00:00:01,000 --> 00:00:02,000\r\n<i>Hello &amp; welcome</i>\r\n\r\n"
        "2\r\n00:00:02,000 --> 00:00:04,500\r\nto the show.\r\n\r\n"
        "3\n00:00:04,500 --> 00:00:05,000\nto the show.\n"
    )
    document = read_transcript(srt.encode(), "a.srt")
    assert document.text == "Hello & welcome to the show."
    assert document.left_out == ("3 time codes left out", "1 repeated lines left out")


def test_speakers_are_named_and_notes_and_styles_are_not_speech():
    vtt = (
        "WEBVTT - a title\n\nNOTE\nnot said\n\nSTYLE\n::cue { color: red }\n\n"
        "intro\n00:01.000 --> 00:02.000 align:start\n<v Ann Lee>Grüße.\n\n"
        "01:00:02.000 --> 01:00:03.000\n<v.loud Bob>{\\an8}Yes!\n"
    )
    assert read_transcript(vtt.encode(), "a.vtt").text == "Ann Lee: Grüße.\n\nBob: Yes!"
    with pytest.raises(DocumentError, match="no subtitles"):
        read_transcript(b"only text\n\nand more", "a.srt")


def test_code_stands_in_a_fence_of_its_language():
    document = read_code(b"def f():\r\n\treturn '```'\n", "src/a.py")
    assert document.text == "````python\ndef f():\n\treturn '```'\n````"
    assert read_code(b"select 1;", "A.SQL").text == "```sql\nselect 1;\n```"
    assert read_code(b"\n \n", "a.py").text == ""
    with pytest.raises(DocumentError, match="minified"):
        read_code(b"x" * 6000, "a.js")
    assert all(READERS[suffix].endswith("read_code") for suffix in LANGUAGES)


def test_slides_are_pages_with_tables_and_notes():
    from pptx import Presentation
    from pptx.util import Inches

    deck = Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[1])
    first.shapes.title.text = "Größe"
    first.placeholders[1].text = "A point"
    first.notes_slide.notes_text_frame.text = "Say this."
    second = deck.slides.add_slide(deck.slide_layouts[5])
    second.shapes.title.text = "Table"
    table = second.shapes.add_table(
        2, 2, Inches(1), Inches(2), Inches(4), Inches(1)
    ).table
    for number, text in enumerate(("a", "b", "1", "2")):
        table.cell(number // 2, number % 2).text = text
    deck.slides.add_slide(deck.slide_layouts[6])
    file = io.BytesIO()
    deck.save(file)
    document = read_pptx(file.getvalue(), "a.pptx")
    assert [p.number for p in document.pages] == [1, 2]
    one, two = (document.text[p.start : p.end] for p in document.pages)
    assert "Größe" in one
    assert "A point" in one
    assert "Say this." in one
    assert "| a | b |" in two
    assert "Slide number" not in document.text


def test_a_book_is_read_in_the_order_of_its_spine():
    chapter = (
        '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>t</title></head><body>'
        "<h1>{}</h1><p>Text with a <a href='http://x.invalid'>link</a>.</p></body></html>"
    )
    files = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="c.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
        "c.opf": '<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>The Book</dc:title></metadata><manifest><item id="b" href="b.xhtml" media-type="application/xhtml+xml"/><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/><itemref idref="b"/></spine></package>',
        "a.xhtml": chapter.format("First"),
        "b.xhtml": chapter.format("Second"),
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    document = read_epub(file.getvalue(), "a.epub")
    assert document.text.index("# First") < document.text.index("# Second")
    assert "The Book" in document.text
    assert "x.invalid" not in document.text
    assert document.left_out == ("2 link targets left out",)


def test_each_of_them_gives_chunks(tmp_path):
    (tmp_path / "t.csv").write_text("name,value\n" + "tea,2\n" * 300)
    chunks = sn.read(tmp_path / "t.csv", chunk_tokens=100)
    assert len(chunks) > 5
    assert chunks["tokens"].max() <= 100
    for row in chunks.itertuples():
        assert "name | value" in row.text or "tea" in row.text
