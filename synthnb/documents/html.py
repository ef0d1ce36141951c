"""HTML → Markdown, tables kept, by markitdown's converter.

The converter is called directly: no plug-in, no guessing of the type, no network.
Nothing that a page refers to is fetched.
"""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING, Any

from synthnb.documents.plain import clean, decode
from synthnb.documents.registry import INSTALL_HINT
from synthnb.errors import DocumentError
from synthnb.records import Document

if TYPE_CHECKING:
    from bs4 import BeautifulSoup

MARKDOWN_OPTIONS: dict[str, Any] = {
    "bullets": "-",
    "escape_asterisks": False,  # text as written: snake_case, 3*4
    "escape_underscores": False,
    "table_infer_header": True,
    "wrap": True,  # a line end in the source is a space in HTML
    "wrap_width": None,
}
"""How markdownify, below markitdown, writes Markdown. For the DOCX reader as well."""

_META_CHARSET = re.compile(
    rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]{1,40})", re.IGNORECASE
)
_IMAGE = re.compile(r"!\[([^\]\n]*)\]\([^)\n]*\)")
_LINK = re.compile(r"(?<!!)\[([^\]\n]+)\]\([^)\s]+\)")
_XML_DECLARATION = re.compile(r"\A\s*<\?xml[^>]*>")
_META_WITHIN = 4096  # bytes
_UNREAD = (
    *("script", "style", "noscript", "template", "svg", "math", "iframe", "object"),
    *("select", "textarea", "button"),
)
_HIDDEN = (
    "[hidden], [aria-hidden=true], [style*='display:none'], [style*='display: none']"
)


def read_html(data: bytes, source: str) -> Document:
    """Read a page's body as Markdown.

    Left out: scripts, styles, form controls, what is hidden, images (their alternative
    text stays) and the targets of links (their text stays).

    Raises:
        DocumentError: Binary data, or markitdown is not installed.
    """
    try:
        from bs4 import BeautifulSoup
        from markitdown.converters import HtmlConverter
    except ImportError as error:
        raise DocumentError(
            "the library that reads HTML files is not installed", hint=INSTALL_HINT
        ) from error
    text, notes = _decode(data)
    # Without an XML declaration and with a line end: both parsers would warn, or take
    # a page of one word for the name of a file.
    soup = BeautifulSoup("\n" + _XML_DECLARATION.sub("", text), "html.parser")
    left_out = _simplify(soup)
    try:
        converted = HtmlConverter().convert_string(
            str(soup), strict=True, **MARKDOWN_OPTIONS
        )
        text = converted.markdown
    except RecursionError:
        text = (soup.body or soup).get_text("\n", strip=True)
        notes += ("nested too deeply: read as plain text, tables and headings lost",)
    text, more = clean(tidy_markdown(text))
    return Document(
        source, text, (), "text/html", notes=(*notes, *more), left_out=left_out
    )


def without_targets(markdown: str) -> tuple[str, tuple[str, ...]]:
    """Return Markdown whose pictures and links are their texts, and what was left out."""
    text, images = _IMAGE.subn(r"\1", markdown)
    text, links = _LINK.subn(r"\1", text)
    counts = ((images, "images"), (links, "link targets"))
    return text, tuple(f"{n} {name} left out" for n, name in counts if n)


def tidy_markdown(text: str) -> str:
    """Drop white space at line ends, and more than one blank line."""
    text = re.sub(r"[ \t\xa0]+(?=\n|\Z)", "", text)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def _decode(data: bytes) -> tuple[str, tuple[str, ...]]:
    """Decode by the byte order mark or the page's own word, else as plain text."""
    declared = _META_CHARSET.search(data[:_META_WITHIN])
    has_mark = data.startswith(
        (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    )
    if declared and not has_mark and b"\0" not in data:
        try:
            return data.decode(declared[1].decode("ascii")), ()
        except (LookupError, UnicodeDecodeError):
            text, notes = decode(data)
            wrong = f"not in the encoding it declares ({declared[1].decode('ascii')})"
            return text, (wrong, *notes)
    return decode(data)


def _simplify(soup: BeautifulSoup) -> tuple[str, ...]:
    """Take out what is no text for a reader; return notes on what a reader may miss."""
    for tag in soup(list(_UNREAD)):
        tag.decompose()
    hidden = [tag for tag in soup.select(_HIDDEN) if not tag.decomposed]
    for tag in hidden:
        tag.decompose()
    images, links = soup("img"), soup("a", href=True)
    for tag in images:
        tag.replace_with(str(tag.get("alt") or ""))
    for tag in links:
        tag.unwrap()
    for cell in soup(["td", "th"]):
        _escape_pipes(cell)
    counts = {"hidden elements": hidden, "images": images, "link targets": links}
    return tuple(
        f"{len(tags)} {name} left out" for name, tags in counts.items() if tags
    )


def _escape_pipes(cell: Any) -> None:
    for string in cell.find_all(string=re.compile(r"\|")):
        string.replace_with(string.replace("|", "\\|"))
