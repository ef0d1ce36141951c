"""JSON schemas without the keywords that some servers refuse.

OpenAI's strict mode takes no ``maxLength``, llama.cpp not each ``pattern``, and older
grammars no bounds at all. The structure, with its choices, is worth more than they are:
it is kept, and the answer is checked against the rest when it is read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from synthnb.records import JsonSchema

_KEYWORDS = frozenset(
    [
        "pattern", "format", "minLength", "maxLength", "minimum", "maximum",
        "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems",
        "uniqueItems", "default", "examples", "title",
    ]
)  # fmt: skip
_WORDS = frozenset({"format", "minimum", "maximum", "default", "examples", "title"})
"""Keywords that are words of any message as well: they count only in quotes."""
_NAMED = re.compile(
    rf"\b(?:{'|'.join(sorted(_KEYWORDS - _WORDS))}|Pattern)\b"
    rf"|['\"`](?:{'|'.join(sorted(_WORDS))})['\"`]|features not supported",
)
_OF_NAMES = frozenset({"properties", "$defs", "definitions"})
"""Their keys are names that somebody chose, not keywords."""
_VALUES = frozenset({"enum", "const", "required"})


def names_keyword(message: str) -> bool:
    """Tell whether a refusal is about a keyword that a schema can do without."""
    return _NAMED.search(message) is not None


def plain_schema(schema: JsonSchema) -> dict[str, Any]:
    """Return a copy without the keywords that only narrow values down."""
    plain: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _OF_NAMES and isinstance(value, Mapping):
            plain[key] = {name: _plain(member) for name, member in value.items()}
        elif key in _VALUES:
            plain[key] = value
        elif key not in _KEYWORDS:
            plain[key] = _plain(value)
    return plain


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return plain_schema(value)
    return [_plain(item) for item in value] if isinstance(value, list) else value
