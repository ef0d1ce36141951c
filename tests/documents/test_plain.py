import codecs
import sys

import pytest

from synthnb.documents.plain import read_markdown, read_plain
from synthnb.errors import DocumentError

TEXT = "Grüße aus Köln. Ça va très bien, merci. El niño comió.\n" * 5


@pytest.mark.parametrize(
    "data",
    [
        TEXT.encode(),
        codecs.BOM_UTF8 + TEXT.encode(),
        TEXT.encode("utf-16"),
        codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"),
        TEXT.encode("utf-32"),
    ],
)
def test_encodings_that_say_what_they_are(data):
    document = read_plain(data, "a.txt")
    assert document.text == TEXT
    assert document.notes == ()
    assert document.source == "a.txt"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark_is_seen_by_its_zeros(encoding):
    document = read_plain(TEXT.encode(encoding), "a.txt")
    assert document.text == TEXT
    assert document.notes == (f"decoded as {encoding}",)


def test_other_encodings_are_guessed_and_the_guess_is_said():
    document = read_plain(TEXT.encode("cp1252"), "a.txt")
    assert document.text == TEXT
    assert document.notes == ("decoded as cp1252, which is a guess",)

    russian = "Все люди рождаются свободными и равными в своем достоинстве.\n" * 3
    document = read_plain(russian.encode("cp1251"), "a.txt")
    assert document.text == russian
    assert document.notes == ("decoded as cp1251, which is a guess",)


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(256)),
        b"text with a \x00 in it and nothing else wrong",
        bytes(range(1, 32)) * 20,
        bytes(range(128, 256)) * 3 + bytes(range(1, 9)) * 40,
    ],
)
def test_binary_data_is_refused(data):
    with pytest.raises(DocumentError, match="binary data"):
        read_plain(data, "a.txt")


def test_line_ends_become_one_kind():
    assert read_plain(b"a\r\nb\rc\n", "a").text == "a\nb\nc\n"


def test_a_form_feed_or_escape_code_makes_no_binary_file():
    assert read_plain(b"page one\x0cpage \x1b[1mtwo\x1b[0m", "a").text.startswith(
        "page"
    )


def test_markdown_keeps_its_marks():
    document = read_markdown(b"# A\n\n**b** | c", "a.md")
    assert document.text == "# A\n\n**b** | c"
    assert document.media_type == "text/markdown"


def test_a_missing_detector_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "charset_normalizer", None)
    with pytest.raises(DocumentError, match=r'pip install "synthnb\[documents\]"'):
        read_plain(TEXT.encode("cp1252"), "a.txt")
    assert read_plain(TEXT.encode(), "a.txt").text == TEXT
