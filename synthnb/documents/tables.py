"""Tables: .csv, .tsv, .xlsx and .parquet as Markdown."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from synthnb.documents.archive import OLD_OFFICE, check_archive
from synthnb.documents.markdown_table import tables
from synthnb.documents.plain import clean, decode
from synthnb.documents.registry import INSTALL_HINT
from synthnb.errors import DocumentError
from synthnb.records import Document, Page

_MOST_ROWS = 100_000
_SHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_SNIFFED = 65_536
_HINT = "A table of rows to generate from is passed to generate as a DataFrame instead."


def read_csv(data: bytes, source: str) -> Document:
    """Read comma-, semicolon- or tab-separated values; the first row is the head."""
    text, notes = decode(data)
    text, more = clean(text)
    try:
        dialect: Any = csv.Sniffer().sniff(text[:_SNIFFED], delimiters=",;\t|")
    except csv.Error:
        dialect = csv.excel
    try:
        body, cut = _markdown(csv.reader(io.StringIO(text, newline=""), dialect))
    except csv.Error as error:
        raise DocumentError(f"no table: {error}", hint=_HINT) from error
    return Document(source, body, (), "text/csv", notes=(*notes, *more, *cut))


def read_tsv(data: bytes, source: str) -> Document:
    """Read tab-separated values; quotes are text there."""
    text, notes = decode(data)
    text, more = clean(text)
    rows = (line.split("\t") for line in text.split("\n") if line)
    body, cut = _markdown(rows)
    media_type = "text/tab-separated-values"
    return Document(source, body, (), media_type, notes=(*notes, *more, *cut))


def read_xlsx(data: bytes, source: str) -> Document:
    """Read the sheets of a workbook, each a page with its name as heading.

    Cells are the values that were computed last; formulas, pictures and charts are left
    out. Empty rows and hidden sheets are skipped.

    Raises:
        DocumentError: Damaged, protected, unsafe, or the library is not installed.
    """
    if data.startswith(OLD_OFFICE):
        raise DocumentError(
            "protected by a password, or an old .xls under the name .xlsx",
            hint="Open it in Excel or LibreOffice and save an unprotected .xlsx copy.",
        )
    check_archive(data)
    try:
        from openpyxl import load_workbook
    except ImportError as error:
        raise DocumentError(
            "the library that reads XLSX files is not installed", hint=INSTALL_HINT
        ) from error
    try:
        book = load_workbook(io.BytesIO(data), read_only=True, data_only=True)
    except (KeyError, ValueError, TypeError, OSError, zipfile.BadZipFile) as error:
        raise DocumentError(
            "an archive that holds no workbook",
            hint="Give the file the suffix of its format, or leave it out.",
        ) from error
    parts, notes, hidden = [], [], 0
    for sheet in book.worksheets:
        if sheet.sheet_state != "visible":
            hidden += 1
            continue
        rows = (
            row for row in sheet.iter_rows(values_only=True) if any(map(_some, row))
        )
        body, cut = _markdown(_trimmed(rows))
        text, more = clean(body)
        if text:
            parts.append(f"# {sheet.title}\n\n{text}")
            notes += [f"sheet {sheet.title}: {note}" for note in (*more, *cut)]
    left_out = (f"{hidden} hidden sheets",) if hidden else ()
    whole, pages = _as_pages(parts)
    return Document(source, whole, pages, _SHEET, tuple(notes), left_out)


def read_parquet(data: bytes, source: str) -> Document:
    """Read a Parquet file's columns as one table."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(pa.BufferReader(data))
    except (pa.ArrowInvalid, OSError) as error:
        raise DocumentError(
            "damaged, or no Parquet file",
            hint="Make it again with the program that wrote it.",
        ) from error
    columns = table.column_names
    rows = ([row[name] for name in columns] for row in _rows_of(table))
    body, cut = _markdown(_with_head(columns, rows))
    text, more = clean(body)
    media_type = "application/vnd.apache.parquet"
    return Document(source, text, (), media_type, notes=(*more, *cut))


def _rows_of(table: Any) -> Iterator[dict[str, Any]]:
    for batch in table.to_batches(max_chunksize=1024):
        yield from batch.to_pylist()


def _with_head(
    head: Sequence[object], rows: Iterable[Sequence[object]]
) -> Iterator[Sequence[object]]:
    yield head
    yield from rows


def _markdown(rows: Iterable[Sequence[object]]) -> tuple[str, tuple[str, ...]]:
    kept = _Counted(rows)
    text = "\n\n".join(tables(kept))
    if not kept.more:
        return text, ()
    return text, (f"only the first {_MOST_ROWS:,} rows were read",)


class _Counted:
    """Rows up to the most that one document may have; knows whether there were more."""

    def __init__(self, rows: Iterable[Sequence[object]]) -> None:
        self._rows = rows
        self.more = False

    def __iter__(self) -> Iterator[Sequence[object]]:
        for number, row in enumerate(self._rows):
            if number > _MOST_ROWS:
                self.more = True
                return
            yield row


def _some(value: object) -> bool:
    return value is not None and str(value).strip() != ""


def _trimmed(rows: Iterable[Sequence[object]]) -> Iterator[Sequence[object]]:
    """Take empty cells off the right: a sheet is as wide as its widest format."""
    for row in rows:
        end = len(row)
        while end and not _some(row[end - 1]):
            end -= 1
        yield row[:end]


def _as_pages(parts: Sequence[str]) -> tuple[str, tuple[Page, ...]]:
    pages, at = [], 0
    for number, part in enumerate(parts, start=1):
        pages.append(Page(number, at, at + len(part)))
        at += len(part) + 2
    return "\n\n".join(parts), tuple(pages)
