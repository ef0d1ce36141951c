"""Checks on a ZIP archive before a parser opens it.

A few kilobytes can hold gigabytes, and XML can fetch or multiply. The limits are those
of the project's security notes; Office files need neither DTD nor entity (the Open
Packaging Conventions, ECMA-376 part 2, forbid DTDs).
"""

from __future__ import annotations

import io
import zipfile
import zlib
from xml.parsers import expat

from synthnb.errors import DocumentError

OLD_OFFICE = b"\xd0\xcf\x11\xe0"
"""How a file of old Office begins, and one of new Office with a password."""
MAX_ENTRIES = 10_000
MAX_BYTES = 500_000_000
MAX_RATIO = 100
_DAMAGE = (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, OSError)
_BLOCK = 65_536
_UNSAFE_HINT = "Leave the file out, or save it again from the program that made it."


def check_archive(data: bytes) -> None:
    """Refuse a damaged, encrypted or explosive archive, and XML with a DTD.

    The sizes are those that the archive declares; ``zipfile`` reads no entry further.

    Raises:
        DocumentError: With what is wrong.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            _check_sizes(entries, len(data))
            for entry in entries:
                if entry.filename.lower().endswith((".xml", ".rels")):
                    _check_prolog(archive, entry)
    except _DAMAGE as error:
        raise DocumentError(
            "damaged, or another format: no archive that can be read",
            hint="Open the file in its program and save it again.",
        ) from error


def _check_sizes(entries: list[zipfile.ZipInfo], packed: int) -> None:
    if len(entries) > MAX_ENTRIES:
        raise DocumentError(
            f"an archive of {len(entries):,} entries (at most {MAX_ENTRIES:,})",
            hint=_UNSAFE_HINT,
        )
    total = sum(entry.file_size for entry in entries)
    if total > MAX_BYTES:
        raise DocumentError(
            f"would unpack to {total:,} bytes (at most {MAX_BYTES:,})",
            hint=_UNSAFE_HINT,
        )
    if total > MAX_RATIO * packed:
        raise DocumentError(
            f"would unpack to {total / packed:.0f} times its size (at most {MAX_RATIO})",
            hint=_UNSAFE_HINT,
        )
    if any(entry.flag_bits & 1 for entry in entries):
        raise DocumentError(
            "encrypted", hint="Save a copy without the password, and read that."
        )


class _RootReachedError(Exception):
    """The part of an XML file in which a DTD may stand is over."""


def _check_prolog(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> None:
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = _refuse_doctype
    parser.StartElementHandler = _reach_root
    try:
        with archive.open(entry) as file:
            while block := file.read(_BLOCK):
                parser.Parse(block)
        # Expat 2.6 and later hold back a token that spans blocks until more comes.
        parser.Parse(b"", True)  # noqa: FBT003 - expat takes it by position only
    except _RootReachedError:
        return
    except expat.ExpatError:
        return  # the document's parser says what is wrong, if it looks at this part


def _refuse_doctype(*_: object) -> None:
    raise DocumentError(
        "holds XML with a document type, which can fetch files or fill the memory",
        hint=_UNSAFE_HINT,
    )


def _reach_root(*_: object) -> None:
    raise _RootReachedError
