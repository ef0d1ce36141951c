"""A small valid instance of a JSON schema, so that recipes get answers they can read."""

from __future__ import annotations

import importlib
import random
import re
import string
from collections.abc import Callable, Mapping
from typing import Any

_MAX_DEPTH = 20
_TRIES = 200
_WORDS = [
    "amber",
    "basin",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "grove",
    "harbor",
    "island",
    "juniper",
    "kelp",
    "lagoon",
    "meadow",
    "north",
    "orchard",
    "pebble",
    "quarry",
    "ridge",
    "summit",
    "timber",
    "upland",
    "valley",
    "willow",
]


def instance_of(schema: Mapping[str, Any], seed: str) -> Any:
    """Return a valid instance: every property, the fewest items, enums drawn by seed.

    Understands type, enum, const, properties, items, prefixItems, minItems, uniqueItems,
    string lengths, ``pattern``, numeric bounds, anyOf, oneOf, allOf and local ``$ref``.

    Args:
        schema: a JSON schema.
        seed: the same seed gives the same instance.
    """
    return _Maker(schema, random.Random(seed)).make(schema, 0)  # noqa: S311


class _Maker:
    def __init__(self, root: Mapping[str, Any], rng: random.Random) -> None:
        self.root = root
        self.rng = rng

    def make(self, schema: Mapping[str, Any], depth: int) -> Any:
        if depth > _MAX_DEPTH:
            raise ValueError("the schema refers to itself without an end")
        schema = self._flat(schema)
        if "const" in schema:
            return schema["const"]
        if schema.get("enum"):
            return self.rng.choice(schema["enum"])
        for word in ("anyOf", "oneOf"):
            if schema.get(word):
                return self.make(schema[word][0], depth + 1)
        return self._by_type(schema, depth)

    def _flat(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """Follow ``$ref`` and merge ``allOf``."""
        merged: dict[str, Any] = dict(schema)
        while "$ref" in merged:
            target: Any = self.root
            for part in str(merged.pop("$ref")).removeprefix("#/").split("/"):
                target = target[part.replace("~1", "/").replace("~0", "~")]
            merged = {**target, **merged}
        for part in merged.pop("allOf", ()):
            extra = self._flat(part)
            properties = {**merged.get("properties", {}), **extra.get("properties", {})}
            merged = {**merged, **extra}
            if properties:
                merged["properties"] = properties
        return merged

    def _by_type(self, schema: Mapping[str, Any], depth: int) -> Any:
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = kind[0]
        if kind is None:
            kind = "object" if "properties" in schema else "string"
        makers: dict[str, Callable[[], Any]] = {
            "object": lambda: {
                name: self.make(value, depth + 1)
                for name, value in schema.get("properties", {}).items()
            },
            "array": lambda: self._array(schema, depth),
            "string": lambda: self._string(schema),
            "integer": lambda: self._number(schema, step=1),
            "number": lambda: float(self._number(schema, step=0.5)),
            "boolean": lambda: self.rng.choice([True, False]),
            "null": lambda: None,
        }
        return makers[kind]()

    def _array(self, schema: Mapping[str, Any], depth: int) -> list[Any]:
        items = [self.make(part, depth + 1) for part in schema.get("prefixItems", ())]
        wanted = schema.get("minItems", 1)
        if "maxItems" in schema:
            wanted = min(max(wanted, 1), schema["maxItems"])
        tries = 0
        while len(items) < wanted:
            item = self.make(schema.get("items") or {"type": "string"}, depth + 1)
            tries += 1
            # A bounded number of tries: an enum of two cannot give three unique items.
            if (
                not schema.get("uniqueItems")
                or item not in items
                or tries > 100 * wanted
            ):
                items.append(item)
        return items

    def _string(self, schema: Mapping[str, Any]) -> str:
        if pattern := schema.get("pattern"):
            return text_matching(pattern, self.rng)
        text = " ".join(self.rng.choices(_WORDS, k=4))
        while len(text) < schema.get("minLength", 0):
            text += " " + self.rng.choice(_WORDS)
        return text[: schema.get("maxLength", len(text))]

    def _number(self, schema: Mapping[str, Any], step: float) -> float:
        low = schema.get("minimum")
        if low is None and "exclusiveMinimum" in schema:
            low = schema["exclusiveMinimum"] + step
        high = schema.get("maximum")
        if high is None and "exclusiveMaximum" in schema:
            high = schema["exclusiveMaximum"] - step
        if low is None:
            low = 1 if high is None else min(1, high)
        if high is None:
            high = low + 9
        return self.rng.randint(int(low), int(high)) if int(high) > low else low


def text_matching(pattern: str, rng: random.Random) -> str:
    """Return a text that the regular expression finds itself in.

    Raises:
        ValueError: where the pattern uses what is not understood (look-around, groups
            referred to), so that a test fails rather than gets a wrong text.
    """
    # The parser is the standard library's own, under a private name since Python 3.11.
    parser = importlib.import_module("re._parser")
    nodes = parser.parse(pattern)
    for _ in range(_TRIES):  # a word boundary, say, fits only some of the draws
        text = _walk(nodes, rng)
        if re.search(pattern, text):
            return text
    message = f"cannot make a text for the pattern {pattern!r}"
    raise ValueError(message)


_CATEGORIES = {
    "CATEGORY_DIGIT": string.digits,
    "CATEGORY_WORD": string.ascii_lowercase,
    "CATEGORY_SPACE": " ",
    "CATEGORY_NOT_DIGIT": string.ascii_lowercase,
    "CATEGORY_NOT_SPACE": string.ascii_lowercase,
    "CATEGORY_NOT_WORD": " ",
}
_ALPHABET = string.ascii_letters + string.digits + " ,.-!?"


def _walk(nodes: Any, rng: random.Random) -> str:
    return "".join(_node(str(op), value, rng) for op, value in nodes)


def _node(op: str, value: Any, rng: random.Random) -> str:
    if op in {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}:
        low, high, body = value
        # A few more than the fewest: "[^?]*" shall give words, not nothing.
        count = min(int(high), max(int(low), 8))
        return "".join(_walk(body, rng) for _ in range(count))
    simple: dict[str, Callable[[], str]] = {
        "LITERAL": lambda: chr(value),
        "NOT_LITERAL": lambda: rng.choice(_ALPHABET.replace(chr(value), "")),
        "ANY": lambda: rng.choice(string.ascii_lowercase),
        "IN": lambda: rng.choice(_characters(value)),
        "BRANCH": lambda: _walk(rng.choice(value[1]), rng),
        "SUBPATTERN": lambda: _walk(value[3], rng),
        "ATOMIC_GROUP": lambda: _walk(value, rng),
        "AT": lambda: "",
    }
    if op not in simple:
        message = f"cannot make a text for {op} in a pattern"
        raise ValueError(message)
    return simple[op]()


def _characters(items: Any) -> str:
    negated = str(items[0][0]) == "NEGATE"
    chosen = ""
    for op, value in items[1:] if negated else items:
        if str(op) == "LITERAL":
            chosen += chr(value)
        elif str(op) == "RANGE":
            chosen += "".join(
                map(chr, range(value[0], min(value[1], value[0] + 200) + 1))
            )
        else:
            chosen += _CATEGORIES[str(value)]
    if negated:
        return (
            "".join(c for c in string.ascii_lowercase + " " if c not in chosen) or "~"
        )
    return chosen
