"""Values of a record as the text that a person reads and edits, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from synthnb.errors import ConfigError

TITLE = 160
"""The most characters of a title."""
FIELD = 20_000
"""The most characters of a field that a front end is sent."""


def text_of(value: Any) -> str:
    """Return a plain value as text; what is nested as indented JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool | list | Mapping):
        return json.dumps(value, ensure_ascii=False, indent=2, default=str)
    return str(value)


def value_of(name: str, text: str, before: Any, dtype: str) -> Any:
    """Return what a person's text means in the place of ``before``.

    Raises:
        ConfigError: the field holds JSON, or true and false, and the text is none.
    """
    is_yes_or_no = isinstance(before, bool) or dtype in {"bool", "boolean"}
    if isinstance(before, list | Mapping) or is_yes_or_no:
        if not text.strip():
            return None
        try:
            value = json.loads(text)
        except ValueError as error:
            what = "true or false" if is_yes_or_no else "JSON"
            raise ConfigError(
                f"{name} is no valid {what}: {error}",
                hint="Mend it, or leave the edit with Escape.",
            ) from None
        if is_yes_or_no and not isinstance(value, bool):
            raise ConfigError(f"{name} is true or false, not {text.strip()[:40]}")
        return value
    is_number = isinstance(before, int | float) or dtype.lower().startswith(
        ("int", "uint", "float")
    )
    if is_number and not text.strip():
        return None
    if is_number and dtype == "object":
        return _number(name, text)
    return text


def _number(name: str, text: str) -> int | float:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    raise ConfigError(f"{name} is a number, not {text.strip()[:40]!r}")


def same_text(one: str, other: str) -> bool:
    """Whether a text box would show both alike: it has line feeds only."""
    return _lines(one) == _lines(other)


def mended(text: str) -> str:
    """Return ``text`` with lone surrogates replaced: no message can carry them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def title_of(value: Any) -> str:
    """Return a value as one short line; of a chat its first question."""
    if isinstance(value, list):
        value = _first_question(value)
    # Cut first: one word may be a megabyte.
    line = " ".join(mended(text_of(value)[: 4 * TITLE]).split())
    return line if len(line) <= TITLE else f"{line[: TITLE - 1]}…"


def cut(text: str, most: int) -> str:
    """Return at most ``most`` characters, with an ellipsis where something is left out."""
    text = mended(text)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _lines(text: str) -> str:
    return mended(text).replace("\r\n", "\n").replace("\r", "\n")


def _first_question(value: list[Any]) -> Any:
    turns = [turn for turn in value if isinstance(turn, Mapping)]
    asked = [turn for turn in turns if turn.get("role") == "user"] or turns
    told = (asked[0].get("content") or asked[0].get("value")) if asked else None
    return told if isinstance(told, str) else value
