"""Read items out of what a model wrote: reasoning off, JSON found, keys matched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from synthnb.recipes.aliases import Aliases, lookup, normal_key
from synthnb.recipes.base import Parsed
from synthnb.recipes.json_text import Extracted, extract_json, is_wanted
from synthnb.recipes.reasoning import split_reasoning
from synthnb.records import Completion, Status

_REFUSED = frozenset({"content_filter", "refusal", "safety"})
_EXCERPT = 80


@dataclass(frozen=True, slots=True)
class Answer:
    """A completion, its inline reasoning taken out and its end understood."""

    text: str
    reasoning: str | None
    truncated: bool
    refused: bool
    finished: bool


def read_answer(completion: Completion) -> Answer:
    """Return the completion's text without reasoning, and how it ended."""
    inline, text = split_reasoning(completion.text)
    parts = [part for part in (completion.reasoning, inline) if part]
    reason = completion.finish_reason
    return Answer(
        text=text,
        reasoning="\n\n".join(parts) or None,
        truncated=reason == "length",
        refused=reason in _REFUSED,
        finished=reason == "stop",
    )


def find_json(answer: Answer, *, every: bool = False) -> Extracted | Parsed:
    """Return the JSON of an answer, or the failure that stands in its place.

    Args:
        answer: what the model wrote.
        every: take all objects that stand in the text, not the first one alone.
    """
    if answer.refused:
        return Parsed(
            Status.REFUSED,
            detail="the server's content filter stopped the answer",
            reasoning=answer.reasoning,
        )
    found = extract_json(answer.text, finished=answer.finished, every=every)
    if found is not None:
        return found
    if answer.truncated:
        status, detail = Status.TRUNCATED, "cut off at max_tokens before any JSON"
    elif not answer.text.strip():
        status, detail = Status.NO_JSON, "the answer is empty"
    else:
        status = Status.NO_JSON
        detail = f"no JSON in the answer: {excerpt(answer.text)}"
    return Parsed(status, detail=detail, reasoning=answer.reasoning)


def items(
    value: Any, fields: Sequence[str], aliases: Aliases | None = None
) -> list[dict[str, Any]]:
    """Return the objects in ``value`` that have at least one of the ``fields``.

    ``value`` may be an array of objects, an object that holds one (``qa_pairs``,
    ``data``, ...), one object, or an object of objects. Keys are matched whatever their
    case and spacing, and by aliases in many languages; other keys are left out. Values
    are as the model wrote them.

    Args:
        value: parsed JSON.
        fields: the names that the items shall have.
        aliases: more spellings, field → names, tried before the built-in ones.
    """
    table = lookup(fields, aliases)
    renamed = (_renamed(found, table) for found in _objects(value, table))
    return [item for item in renamed if item]


def renamed(
    value: Mapping[str, Any], fields: Iterable[str], aliases: Aliases | None = None
) -> dict[str, Any]:
    """Return the members of one object that are ``fields``, by their right names."""
    return _renamed(value, lookup(fields, aliases))


def as_text(value: Any) -> tuple[str, bool]:
    """Return (text, changed) of a value where a text was wanted.

    The first of a list, the only member of an object, the JSON spelling of a number.
    What holds no text gives ``""``.
    """
    if isinstance(value, str):
        return value, False
    if isinstance(value, bool):
        return str(value).lower(), True
    if isinstance(value, int | float):
        return str(value), True
    if isinstance(value, list) and value:
        return as_text(value[0])[0], True
    if isinstance(value, dict) and len(value) == 1:
        return as_text(next(iter(value.values())))[0], True
    return "", True


def excerpt(text: str, limit: int = _EXCERPT) -> str:
    """Return the beginning of ``text`` on one line, for a message."""
    flat = " ".join(text[: limit * 4].split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def _objects(value: Any, table: Mapping[str, str]) -> list[Mapping[str, Any]]:
    """Return the objects in ``value`` that hold most of what is wanted, in order."""
    if isinstance(value, list):
        members = [item for item in value if isinstance(item, dict)]
        return [found for item in members for found in _objects(item, table)]
    if not isinstance(value, dict):
        return []
    own = len(_renamed(value, table))
    inner = [
        _objects(member, table)
        for member in value.values()
        if (not own and isinstance(member, dict))
        or (isinstance(member, list) and is_wanted(member))
    ]
    most = [max((len(_renamed(o, table)) for o in part), default=0) for part in inner]
    best = max(most, default=0)
    if not best or best < own:
        return [value] if own else []
    return [o for part, n in zip(inner, most, strict=True) if n == best for o in part]


def _renamed(value: Mapping[str, Any], table: Mapping[str, str]) -> dict[str, Any]:
    """Return the members whose keys are known; the first spelling of a field wins."""
    result: dict[str, Any] = {}
    for key, member in value.items():
        field = table.get(normal_key(key))
        if field is not None and (field not in result or key == field):
            result[field] = member
    return result
