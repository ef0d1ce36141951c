import sys

import pytest

from synthnb.documents.html import read_html
from synthnb.errors import DocumentError


def read(body, **replace):
    page = f"<html><head><title>T</title></head><body>{body}</body></html>"
    return read_html(page.encode(), "p.html")


def test_a_table_stays_a_table():
    text = read(
        "<table><tr><th>Format</th><th>Fields</th></tr>"
        "<tr><td>Alpaca</td><td>a | b</td></tr></table>"
    ).text
    assert text == "| Format | Fields |\n| --- | --- |\n| Alpaca | a \\| b |"


def test_the_first_row_heads_a_table_without_a_head():
    text = read("<table><tr><td>a</td></tr><tr><td>1</td></tr></table>").text
    assert text == "| a |\n| --- |\n| 1 |"


def test_headings_lists_and_code_stay():
    text = read(
        "<h1>One</h1><h2>Two</h2><ul><li>a</li><li>b</li></ul>"
        "<pre><code>def f():\n    return 1\n</code></pre>"
    ).text
    assert text == ("# One\n\n## Two\n\n- a\n- b\n\n```\ndef f():\n    return 1\n```")


def test_a_wrapped_paragraph_is_one_line():
    assert read("<p>Some\n  wrapped\ntext.</p><p>Next.</p>").text == (
        "Some wrapped text.\n\nNext."
    )


def test_characters_are_not_escaped():
    assert read("<p>snake_case, 3*4, a &lt; b &amp; {c}</p>").text == (
        "snake_case, 3*4, a < b & {c}"
    )


@pytest.mark.parametrize(
    "noise",
    [
        "<script>evil()</script>",
        "<style>evil{}</style>",
        "<!-- evil -->",
        "<noscript>evil</noscript>",
        "<template><p>evil</p></template>",
        "<svg><text>evil</text></svg>",
        "<select><option>evil</option></select>",
        "<p hidden>evil</p>",
        '<div style="display:none">evil<p hidden>evil</p></div>',
        '<iframe src="http://127.0.0.1/evil"></iframe>',
        '<img src="http://127.0.0.1/evil.png">',
        '<img src="data:image/png;base64,evil">',
        '<a href="javascript:evil()"></a>',
    ],
)
def test_what_a_reader_does_not_see_is_left_out(noise, no_network):
    document = read(f"<p>Good.</p>{noise}")
    assert document.text == "Good."
    assert no_network == []


def test_what_is_left_out_is_counted():
    document = read(
        '<p hidden>x</p><a href="http://a.example/">A link</a> <img alt="A chart"> '
        '<img src="b.png">'
    )
    assert document.text == "A link A chart"
    assert document.left_out == (
        "1 hidden elements left out",
        "2 images left out",
        "1 link targets left out",
    )


def test_nothing_left_out_is_nothing_said():
    assert read("<p>Plain.</p>").left_out == ()


def test_the_encoding_that_the_page_declares():
    page = '<meta charset="iso-8859-1"><p>café</p>'.encode("latin-1")
    document = read_html(page, "p.html")
    assert (document.text, document.notes) == ("café", ())


def test_a_wrong_declaration_is_said():
    page = '<meta charset="ascii"><p>café</p>'.encode()
    document = read_html(page, "p.html")
    assert document.text == "café"
    assert document.notes == ("not in the encoding it declares (ascii)",)


def test_a_byte_order_mark_is_stronger_than_a_declaration():
    page = '<meta charset="latin-1"><p>café</p>'.encode("utf-8-sig")
    assert read_html(page, "p.html").text == "café"


def test_xhtml_and_single_words_raise_no_warning():
    assert read_html(b'<?xml version="1.0"?><html><p>x</p></html>', "p").text == "x"
    assert read_html(b"http://example.com/page", "p").text == "http://example.com/page"


def test_a_page_too_deep_to_convert_still_gives_its_text():
    document = read("<p>First.</p>" + "<div>" * 5_000 + "Deep.")
    assert document.text == "First.\nDeep."
    assert document.notes == (
        "nested too deeply: read as plain text, tables and headings lost",
    )


def test_binary_data_is_refused():
    with pytest.raises(DocumentError, match="binary data"):
        read_html(bytes(range(256)), "p.html")


def test_a_missing_library_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "markitdown.converters", None)
    with pytest.raises(DocumentError, match=r'pip install "synthnb\[documents\]"'):
        read("<p>x</p>")
