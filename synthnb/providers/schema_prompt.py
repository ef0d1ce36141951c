"""Describes a JSON schema in words, for servers that take no ``response_format``.

The description must be enough alone: a skeleton to copy, the allowed values where they
are few, and the lists' lengths.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from synthnb.records import JsonSchema

_DEPTH = 8
_LISTED = 2_000
"""Characters of allowed values that are listed in full; a longer list is shortened."""


def instruction(schema: JsonSchema) -> str:
    """Return the paragraph that asks for JSON of this schema and nothing else."""
    writer = _Writer(schema)
    skeleton = writer.sketch(schema, "the list", 0)
    if ambiguous := writer.ambiguous:  # fields of one name with values of their own
        writer = _Writer(schema, ambiguous)
        skeleton = writer.sketch(schema, "the list", 0)
    lines = [
        "Answer with one JSON value and nothing else: no introduction, no code fence.",
        "It has exactly this form, with your own values in place of <...>:",
        skeleton,
        *writer.rules,
    ]
    return "\n".join(lines)


class _Writer:
    """Walks a schema once, writing the skeleton and collecting the rules beside it."""

    def __init__(
        self, root: JsonSchema, qualified: AbstractSet[str] = frozenset()
    ) -> None:
        self._root = root
        self._qualified = qualified
        self._path: list[str] = []
        self._values: dict[str, set[str]] = {}
        self.rules: list[str] = []

    @property
    def ambiguous(self) -> frozenset[str]:
        """The names that were given different lists of values in different places."""
        return frozenset(n for n, lists in self._values.items() if len(lists) > 1)

    def sketch(self, schema: Any, name: str, depth: int) -> str:
        node = self._resolved(schema)
        if depth > _DEPTH:
            return "null"
        if "const" in node:
            return _json(node["const"])
        if isinstance(node.get("enum"), list):
            return self._enumeration(node["enum"], name)
        kind = node.get("type")
        if isinstance(kind, list):
            kind = next((k for k in kind if k != "null"), "null")
        if kind == "object" or "properties" in node:
            return self._object(node, depth)
        if kind == "array" or "items" in node or "prefixItems" in node:
            return self._array(node, name, depth)
        return _scalar(kind, node, name)

    def _object(self, node: Mapping[str, Any], depth: int) -> str:
        members = []
        for key, value in node.get("properties", {}).items():
            self._path.append(key)
            members.append(f"{_json(key)}: {self.sketch(value, key, depth + 1)}")
            self._path.pop()
        return "{" + ", ".join(members) + "}"

    def _array(self, node: Mapping[str, Any], name: str, depth: int) -> str:
        prefix = node.get("prefixItems")
        if isinstance(prefix, list):
            items = [self.sketch(item, name, depth + 1) for item in prefix]
            return "[" + ", ".join(items) + "]"
        low, high = node.get("minItems"), node.get("maxItems")
        if low is not None and low == high:
            self._rule(f'"{name}" has exactly {low} item{"s" * (low != 1)}.')
        elif low or high:
            bounds = [f"at least {low}"] * bool(low) + [f"at most {high}"] * bool(high)
            self._rule(f'"{name}" has {" and ".join(bounds)} items.')
        item = self.sketch(node.get("items", {}), name, depth + 1)
        return f"[{item}]" if high == 1 else f"[{item}, ...]"

    def _enumeration(self, values: list[Any], name: str) -> str:
        if len(values) == 1:
            return _json(values[0])
        listed, used = [], 0
        for value in values:
            text = _json(value)
            used += len(text)
            if used > _LISTED:
                break
            listed.append(text)
        rest = len(values) - len(listed)
        more = f" | ... ({rest} more, taken word for word from the text)" * bool(rest)
        self._values.setdefault(name, set()).add(_json(values))
        if name in self._qualified:
            name = ".".join(self._path)
        self._rule(f'"{name}" is one of: {" | ".join(listed)}{more}')
        return f"<one of the values allowed for {name}>"

    def _rule(self, text: str) -> None:
        if text not in self.rules:
            self.rules.append(text)

    def _resolved(self, schema: Any) -> Mapping[str, Any]:
        node: Any = schema
        for _ in range(_DEPTH):
            if not isinstance(node, Mapping):
                return {}
            if isinstance(node.get("$ref"), str):
                node = self._at(node["$ref"])
                continue
            choices = node.get("anyOf") or node.get("oneOf") or node.get("allOf")
            if not isinstance(choices, list):
                return node
            node = next((c for c in choices if c != {"type": "null"}), {})
        return {}

    def _at(self, reference: str) -> Any:
        node: Any = self._root
        for part in reference.removeprefix("#").strip("/").split("/"):
            node = node.get(part, {}) if isinstance(node, Mapping) else {}
        return node


def _scalar(kind: Any, node: Mapping[str, Any], name: str) -> str:
    what = str(node.get("description") or name)
    if kind in {"integer", "number"}:
        low, high = node.get("minimum"), node.get("maximum")
        word = "whole number" if kind == "integer" else "number"
        if low is not None and high is not None:
            return f"<{word} from {low} to {high}>"
        return f"<{word}>"
    if kind == "boolean":
        return "<true or false>"
    if kind == "null":
        return "null"
    return f'"<{what}>"'


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
