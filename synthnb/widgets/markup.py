"""Static blocks and pictures: a tree of plain values, and its HTML with all text escaped.

The same tree is drawn in a live view by ``static/dom.js``. What is not on the lists below
is refused, so no text of a model can become an element or an attribute that acts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from typing import Any, TypeAlias

Node: TypeAlias = tuple[Any, ...]
"""``(tag, attributes, *children)``; a child is a string or a node."""

_TAGS = """
div span p strong em table thead tbody tr th td caption details summary ul li code pre
figure figcaption progress mark svg g rect line polyline path circle text title desc
"""
_ATTRIBUTES = """
class role title lang dir open max value colspan rowspan scope style viewBox width height
x y x1 y1 x2 y2 rx cx cy r d points fill stroke stroke-width stroke-dasharray opacity
text-anchor font-size preserveAspectRatio transform tabindex id
"""
TAGS = frozenset(_TAGS.split())
ATTRIBUTES = frozenset(_ATTRIBUTES.split())
# Control characters end up as boxes or worse, and bidi overrides would turn the text
# around them: both are shown for what they are.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_ACTIVE = re.compile(r"url\s*\(|expression|[<>\\@]|/\*", re.IGNORECASE)


def to_html(node: Node | str) -> str:
    """Return a tree as HTML.

    Raises:
        ValueError: a tag or attribute that is not on the list.
    """
    if isinstance(node, str):
        return escape(visible(node))
    tag, attributes, *children = node
    if tag not in TAGS:
        msg = f"<{tag}> is not on the list of markup.TAGS"
        raise ValueError(msg)
    inner = "".join(to_html(child) for child in children)
    return f"<{tag}{_attributes(attributes)}>{inner}</{tag}>"


def visible(text: str) -> str:
    """Return ``text`` with control and bidi characters as their code, like ``U+202E``.

    Line feeds and tabs stay.
    """
    lines = text.replace("\r\n", "\n")
    return _HIDDEN.sub(lambda found: f"U+{ord(found[0]):04X}", lines)


def clip(text: str, most: int) -> str:
    """Return ``text`` with at most ``most`` characters, and an ellipsis where it was cut."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _attributes(attributes: Mapping[str, Any]) -> str:
    parts: list[str] = []
    for name, value in attributes.items():
        if not (name in ATTRIBUTES or name.startswith(("aria-", "data-"))):
            msg = f"the attribute {name} is not on the list of markup.ATTRIBUTES"
            raise ValueError(msg)
        if value is None or value is False:
            continue
        text = "" if value is True else str(value)
        if name in {"style", "fill", "stroke"} and _ACTIVE.search(text):
            msg = f"the attribute {name} holds more than plain values: {text!r}"
            raise ValueError(msg)
        parts.append(f' {name}="{escape(visible(text))}"')
    return "".join(parts)
