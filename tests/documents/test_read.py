import os
from pathlib import Path

import pytest

from synthnb.documents import Problem, read, read_documents, read_text, registry
from synthnb.errors import DocumentError
from synthnb.records import Document


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_suffix_gives_the_one_document_type(here, make_pdf, make_docx):
    contents = {
        "docx": make_docx("The text."),
        "htm": b"<p>The text.</p>",
        "html": b"<p>The text.</p>",
        "markdown": b"The text.",
        "md": b"The text.",
        "pdf": make_pdf([(50, 500, 10, "The text.")]),
        "text": b"The text.",
        "txt": b"The text.",
    }
    assert {f".{suffix}" for suffix in contents} < set(registry.READERS) - registry.DATA
    for suffix, data in contents.items():
        (here / f"a.{suffix}").write_bytes(data)
        (here / f"B.{suffix.upper()}").write_bytes(data)
    result = read_documents(here)
    assert result.problems == ()
    assert len(result.documents) == 16
    for document in result.documents:
        assert isinstance(document, Document)
        assert document.text == "The text."


def test_one_bad_file_is_a_problem_and_not_the_end(here, make_pdf):
    (here / "good.txt").write_text("Good.")
    (here / "empty.txt").write_bytes(b"")
    (here / "blank.md").write_text(" \n ")
    (here / "binary.txt").write_bytes(bytes(range(256)))
    (here / "broken.docx").write_bytes(b"PK broken")
    (here / "scan.pdf").write_bytes(make_pdf([], images={1}))
    result = read_documents(here, "missing.txt")
    assert [d.source for d in result.documents] == ["good.txt"]
    assert {p.source: p.reason for p in result.problems} == {
        "missing.txt": "no such file or folder",
        "binary.txt": "binary data, not text",
        "blank.md": "no text in it",
        "broken.docx": "damaged, or another format: no archive that can be read",
        "empty.txt": "an empty file",
        "scan.pdf": "looks scanned: none of its 1 pages has a text layer",
    }
    assert all(problem.next_step for problem in result.problems)


def test_a_reader_that_fails_is_a_problem(here, monkeypatch):
    def fail(data, source):
        raise KeyError("word/document.xml")

    monkeypatch.setattr(read, "find_reader", lambda suffix: fail)
    (here / "a.txt").write_text("x")
    with pytest.raises(DocumentError, match=r"a\.txt: cannot be parsed \(KeyError"):
        read_documents("a.txt")


def test_a_file_named_with_an_unknown_suffix(here):
    (here / "a.xyz").write_text("x")
    with pytest.raises(DocumentError, match=r"no reader for '\.xyz' files") as caught:
        read_documents("a.xyz")
    assert ".docx, .epub, .htm, .html" in caught.value.hint
    (here / "README").write_text("x")
    with pytest.raises(DocumentError, match="README: a file with no suffix"):
        read_documents("README")


def test_a_file_that_may_not_be_opened(here, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    (here / "a.txt").write_text("x")
    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(DocumentError, match="cannot be opened: Permission denied"):
        read_documents("a.txt")


def test_a_broken_link_is_a_problem(here):
    (here / "a.txt").symlink_to("nowhere.txt")
    with pytest.raises(DocumentError, match="cannot be opened: No such file"):
        read_documents("a.txt")


def test_a_pipe_is_not_waited_for(here):
    os.mkfifo(here / "a.txt")
    with pytest.raises(DocumentError, match="no regular file"):
        read_documents("a.txt")


def test_a_file_over_the_limit_is_not_read(here, monkeypatch):
    monkeypatch.setattr(read, "MAX_FILE_BYTES", 10)
    (here / "a.txt").write_text("x" * 11)
    with pytest.raises(DocumentError, match=r"11 bytes \(at most 10\)"):
        read_documents("a.txt")


def test_nothing_named_is_an_error():
    with pytest.raises(DocumentError, match="no path given"):
        read_documents()


@pytest.mark.parametrize("typed", ["notes/*.pdf", "notes", "hanbook.pdf"])
def test_the_error_names_what_was_typed_and_says_the_next_step(here, typed):
    (here / "notes").mkdir()
    (here / "handbook.pdf").write_bytes(b"x")
    with pytest.raises(DocumentError) as caught:
        read_documents(typed)
    assert caught.value.message.startswith(f"{typed}: ")
    assert caught.value.hint
    if typed == "hanbook.pdf":
        assert "Did you mean handbook.pdf?" in caught.value.hint


def test_the_error_for_several_lists_them(here):
    with pytest.raises(DocumentError) as caught:
        read_documents(*(f"{n}.md" for n in range(11)))
    assert "\n  0.md: no such file or folder" in caught.value.message
    assert "\n  7.md: " in caught.value.message
    assert caught.value.message.endswith("\n  and 3 more")


def test_progress_is_told_after_each_file(here):
    for name in ("a.txt", "b.txt", "c.txt"):
        (here / name).write_text("" if name == "b.txt" else "x")
    seen = []
    read_documents(here, progress=lambda *step: seen.append(step))
    assert seen == [(1, 3, "a.txt"), (2, 3, "b.txt"), (3, 3, "c.txt")]


def test_text_in_memory():
    assert read_text("a\r\nb") == Document("text", "a\nb")
    assert read_text("a", "note").source == "note"


def test_text_in_memory_that_cannot_be_stored_is_mended_and_said():
    document = read_text("a\0b\ud800c")
    assert document.text == "ab\ufffdc"
    assert document.notes == (
        "1 NUL characters dropped",
        "1 broken characters replaced",
    )


@pytest.mark.parametrize("text", ["", " \n", "\ufeff", "\0"])
def test_no_text_in_memory_is_an_error(text):
    with pytest.raises(DocumentError, match="note: no text in it"):
        read_text(text, "note")


def test_problems_are_plain_values():
    assert Problem("a", "b", "c") == Problem("a", "b", "c")
