"""Plain text and Markdown: decoding, and what every reader's text goes through."""

from __future__ import annotations

import codecs
import re

from synthnb.documents.registry import INSTALL_HINT
from synthnb.errors import DocumentError
from synthnb.records import Document

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_NUL_SHARE = 0.4  # of every second byte: text in a Latin script as UTF-16
_SAMPLE = 65_536  # bytes that the guess of an encoding looks at
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_CONTROL_SHARE = 0.02  # more control characters than this: no text
_BINARY = DocumentError(
    "binary data, not text",
    hint="Give the file the suffix of its format, or leave it out.",
)


def read_plain(data: bytes, source: str) -> Document:
    """Read a plain text file."""
    return _read(data, source, "text/plain")


def read_markdown(data: bytes, source: str) -> Document:
    """Read a Markdown file; its marks stay in the text."""
    return _read(data, source, "text/markdown")


def _read(data: bytes, source: str, media_type: str) -> Document:
    text, notes = decode(data)
    text, more = clean(text)
    return Document(source, text, media_type=media_type, notes=(*notes, *more))


def decode(data: bytes) -> tuple[str, tuple[str, ...]]:
    """Decode bytes of unknown encoding.

    A byte order mark decides, then UTF-8 if all of it is valid, then UTF-16 by its NUL
    bytes, then charset-normalizer's guess.

    Returns:
        The text, and a note if the encoding was guessed.

    Raises:
        DocumentError: Binary data, or no encoding fits.
    """
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace"), ()
    if b"\0" in data:
        encoding = _utf16_without_mark(data)
        return data.decode(encoding, "replace"), (f"decoded as {encoding}",)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return _guess(data)
    if len(_CONTROL.findall(text)) > _CONTROL_SHARE * len(text):
        raise _BINARY
    return text, ()


def _utf16_without_mark(data: bytes) -> str:
    even, odd = data[0:_SAMPLE:2], data[1:_SAMPLE:2]
    zeros = even.count(0), odd.count(0)
    if zeros[1] >= _NUL_SHARE * len(odd) and not zeros[0]:
        return "utf-16-le"
    if zeros[0] >= _NUL_SHARE * len(even) and not zeros[1]:
        return "utf-16-be"
    raise _BINARY


def _guess(data: bytes) -> tuple[str, tuple[str, ...]]:
    try:
        from charset_normalizer import from_bytes
    except ImportError as error:
        raise DocumentError(
            "not UTF-8, and the library that detects encodings is not installed",
            hint=INSTALL_HINT,
        ) from error
    matches = list(from_bytes(data[:_SAMPLE]))
    if not matches:
        raise _BINARY
    # Western European is the commonest by far, so it wins where the guess is a tie.
    quality = (matches[0].chaos, matches[0].coherence)
    tied = {m.encoding for m in matches if (m.chaos, m.coherence) == quality}
    encoding = "cp1252" if "cp1252" in tied else matches[0].encoding
    text = data.decode(encoding, "replace")
    if len(_CONTROL.findall(text)) > _CONTROL_SHARE * len(text):
        raise _BINARY
    notes = [f"decoded as {encoding}, which is a guess"]
    if lost := text.count("\ufffd"):
        notes.append(f"{lost} characters could not be decoded")
    return text, tuple(notes)


def clean(text: str) -> tuple[str, tuple[str, ...]]:
    r"""Return ``text`` as a document's text: ``\n`` line ends, characters that store.

    NUL characters are dropped and lone surrogates replaced (neither can be saved by
    databases and files), each with a note.
    """
    notes = []
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if nuls := text.count("\0"):
        text = text.replace("\0", "")
        notes.append(f"{nuls} NUL characters dropped")
    if surrogates := len(re.findall(r"[\ud800-\udfff]", text)):
        text = re.sub(r"[\ud800-\udfff]", "\ufffd", text)
        notes.append(f"{surrogates} broken characters replaced")
    return text, tuple(notes)
