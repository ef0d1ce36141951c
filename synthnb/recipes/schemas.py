"""JSON schemas of answers: from a pydantic model, and checked without one.

A recipe that was frozen to JSON keeps the schema of its output, not the Python class.
It is then checked here, by the part of JSON Schema that pydantic models and strict
modes use: type, enum, const, required, properties, items, anyOf, $ref, the bounds of
numbers and lengths, pattern. Validators written in Python are not part of a schema.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from synthnb.errors import ConfigError
from synthnb.records import JsonSchema

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
}
_MAX_DEPTH = 64


def schema_of(
    output: type[BaseModel] | Mapping[str, Any] | None,
) -> tuple[dict[str, Any] | None, type[BaseModel] | None]:
    """Return (JSON schema, model) of an output; both ``None`` without one.

    Raises:
        ConfigError: neither a pydantic model nor the schema of an object with fields.
    """
    if output is None:
        return None, None
    model: type[BaseModel] | None = None
    if isinstance(output, type) and issubclass(output, BaseModel):
        model, schema = output, output.model_json_schema()
    elif isinstance(output, Mapping):
        schema = dict(output)
    else:
        raise ConfigError(
            f"output must be a pydantic model, not {output!r}",
            hint="class Ticket(BaseModel): title: str",
        )
    if "$ref" in schema:  # a model that holds itself: pydantic refers to its definition
        schema = {**_resolved(schema, schema), "$defs": schema.get("$defs", {})}
    properties = schema.get("properties")
    if schema.get("type") != "object" or not properties:
        raise ConfigError(
            "the output must be an object with at least one field",
            hint="put a list into a model: class Answer(BaseModel): items: list[str]",
        )
    return schema, model


def validated(
    value: Mapping[str, Any], schema: JsonSchema, model: type[BaseModel] | None
) -> tuple[dict[str, Any], bool]:
    """Return (the object as plain JSON values, whether a value had to be coerced).

    Raises:
        ValidationError: the model refuses it (strictly and leniently).
        ValueError: the schema refuses it, where there is no model.
    """
    if model is None:
        problem = check(value, schema, schema)
        if problem:
            raise ValueError(problem)
        return {k: v for k, v in value.items() if k in schema["properties"]}, False
    try:
        # As JSON: there a date or an enum is a string, and needs no coercion.
        strict = model.model_validate_json(json.dumps(value), strict=True)
        return _dump(strict, schema), False
    except ValidationError:
        return _dump(model.model_validate(value), schema), True


def _dump(instance: BaseModel, schema: JsonSchema) -> dict[str, Any]:
    dumped = instance.model_dump(mode="json", by_alias=True)
    return {k: v for k, v in dumped.items() if k in schema["properties"]}


def check(value: Any, schema: JsonSchema, root: JsonSchema, path: str = "") -> str:
    """Return what is wrong with ``value`` in a few words; ``""`` if it fits."""
    if path.count(".") > _MAX_DEPTH:
        return f"{path}: nested too deep"
    where = path.lstrip(".") or "the object"
    schema = _resolved(schema, root)
    for test in (_check_choice, _check_type, _check_bounds):
        problem = test(value, schema)
        if problem:
            return f"{where}: {problem}"
    options = schema.get("anyOf") or schema.get("oneOf")
    if options and all(check(value, option, root, path) for option in options):
        return f"{where}: fits none of {len(options)} forms"
    return _check_members(value, schema, root, path)


def _resolved(schema: JsonSchema, root: JsonSchema) -> JsonSchema:
    reference = schema.get("$ref")
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return schema
    target: Any = root
    for part in reference[2:].split("/"):
        target = target.get(part, {}) if isinstance(target, Mapping) else {}
    return target if isinstance(target, Mapping) else {}


def _check_choice(value: Any, schema: JsonSchema) -> str:
    if "enum" in schema and value not in schema["enum"]:
        return f"not one of {len(schema['enum'])} allowed values"
    if "const" in schema and value != schema["const"]:
        return f"must be {schema['const']!r}"
    return ""


def _check_type(value: Any, schema: JsonSchema) -> str:
    wanted = schema.get("type")
    if wanted is None:
        return ""
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    for name in names:
        fits = isinstance(value, _TYPES.get(name, (object,)))
        if fits and (name == "boolean" or not isinstance(value, bool)):
            return ""
    return f"expected {' or '.join(names)}, got {type(value).__name__}"


_BOUNDS: dict[str, tuple[type | tuple[type, ...], Callable[[Any, Any], bool]]] = {
    "minimum": ((int, float), lambda value, bound: value >= bound),
    "maximum": ((int, float), lambda value, bound: value <= bound),
    "exclusiveMinimum": ((int, float), lambda value, bound: value > bound),
    "exclusiveMaximum": ((int, float), lambda value, bound: value < bound),
    "minLength": (str, lambda value, bound: len(value) >= bound),
    "maxLength": (str, lambda value, bound: len(value) <= bound),
    "minItems": (list, lambda value, bound: len(value) >= bound),
    "maxItems": (list, lambda value, bound: len(value) <= bound),
    "pattern": (str, lambda value, bound: re.search(bound, value) is not None),
}


def _check_bounds(value: Any, schema: JsonSchema) -> str:
    for keyword, (kind, fits) in _BOUNDS.items():
        bound = schema.get(keyword)
        if bound is None or not isinstance(value, kind):
            continue
        if not fits(value, bound):
            return f"{keyword} is {bound}"
    return ""


def _check_members(value: Any, schema: JsonSchema, root: JsonSchema, path: str) -> str:
    if isinstance(value, dict):
        for name in schema.get("required", ()):
            if name not in value:
                return f"{path.lstrip('.') or 'the object'}: {name} is missing"
        members = schema.get("properties", {}).items()
        parts = [(value[k], s, f"{path}.{k}") for k, s in members if k in value]
    elif isinstance(value, list) and isinstance(schema.get("items"), Mapping):
        parts = [(v, schema["items"], f"{path}.{i}") for i, v in enumerate(value)]
    else:
        parts = []
    problems = (check(*part[:2], root, part[2]) for part in parts)
    return next(filter(None, problems), "")
