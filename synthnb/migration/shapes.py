"""The shapes of synthetic-data-kit's files, as lists of rows of ours.

Whatever the step that wrote a file, a row has ``question`` and ``answer`` where the file
has them, ``reasoning``, ``rating``, ``summary``, and ``messages`` where there was a whole
conversation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

LISTS = ("filtered_pairs", "qa_pairs", "cot_examples")
"""Keys under which the pairs of a file stand; the first one there counts."""
_PAIR = ("question", "answer")
_KNOWN = frozenset({"rating", "reasoning", "messages", "conversations"})


class UnknownShapeError(ValueError):
    """It is none of the shapes."""


def rows_of_value(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file's whole value: an object, or a list of them.

    Raises:
        UnknownShapeError: it is none of the shapes.
    """
    if isinstance(value, list):
        for item in value:
            yield from _rows_of_item(item)
        return
    if not isinstance(value, dict):
        raise UnknownShapeError
    summary = value.get("summary")
    kept = {"summary": summary} if isinstance(summary, str) and summary else {}
    for row in _rows_of_object(value, bool(kept)):
        yield row | kept


def _rows_of_object(
    value: dict[str, Any], has_summary: bool
) -> Iterator[dict[str, Any]]:
    found = next((name for name in LISTS if isinstance(value.get(name), list)), None)
    if found is not None:
        for item in value[found]:
            yield from _rows_of_item(item)
    elif isinstance(value.get("conversations"), list):
        yield from _conversations(value)
    elif has_summary and set(value) == {"summary"}:
        yield {}
    else:
        yield from _rows_of_item(value)


def _rows_of_item(item: Any) -> Iterator[dict[str, Any]]:
    if not isinstance(item, dict):
        raise UnknownShapeError
    if all(isinstance(item.get(name), str) for name in _PAIR):
        yield {k: v for k, v in item.items() if k not in {"messages", "conversations"}}
    elif isinstance(item.get("instruction"), str) and "output" in item:
        question = "\n\n".join(filter(None, (item["instruction"], item.get("input"))))
        others = {
            k: v for k, v in item.items() if k not in {"instruction", "input", "output"}
        }
        yield {"question": question, "answer": item["output"], **others}
    elif isinstance(item.get("messages"), list):
        yield _of_messages(item["messages"], item, "messages")
    elif isinstance(item.get("conversations"), list):
        yield from _conversations(item)
    else:
        raise UnknownShapeError


def _conversations(item: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A list of messages is one conversation; a list of such lists are several."""
    listed = item["conversations"]
    several = bool(listed) and all(isinstance(part, list) for part in listed)
    for messages in listed if several else [listed]:
        yield _of_messages(messages, item, "conversations")


def _of_messages(messages: Any, item: Mapping[str, Any], key: str) -> dict[str, Any]:
    if not isinstance(messages, list) or not messages:
        raise UnknownShapeError
    told = []
    for message in messages:
        if not isinstance(message, dict) or not isinstance(message.get("content"), str):
            raise UnknownShapeError
        told.append({"role": str(message.get("role")), "content": message["content"]})
    others = {k: v for k, v in item.items() if k not in {key, "summary"}}
    row: dict[str, Any] = {"messages": told, **others}
    spoken = [m for m in told if m["role"] != "system"]
    if [m["role"] for m in spoken] == ["user", "assistant"]:
        row = {"question": spoken[0]["content"], "answer": spoken[1]["content"], **row}
    return row
