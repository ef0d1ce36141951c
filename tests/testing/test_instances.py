"""Instances of JSON schemas: valid, small, repeatable."""

from __future__ import annotations

import json
import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, TypeAdapter

from synthnb.testing import instance_of
from synthnb.testing.instances import text_matching


class Pair(BaseModel):
    evidence: str = Field(min_length=3)
    question: str = Field(pattern=r"^(What|Who|When) [^?]{5,80}\?$")
    tags: set[str] = Field(min_length=2)
    score: int = Field(ge=3, le=5)
    share: float = Field(gt=0, lt=1)
    other: Pair | None


class Pairs(BaseModel):
    pairs: list[Pair] = Field(min_length=3, max_length=3)
    kind: str | None


@given(st.integers(0, 10_000))
def test_pydantic_accepts_the_instance_of_its_own_schema(seed):
    schema = Pair.model_json_schema()
    # The recursive branch comes first there, and an instance must end somewhere.
    schema["$defs"]["Pair"]["properties"]["other"]["anyOf"].reverse()
    Pair.model_validate(instance_of(schema, str(seed)))


def test_min_items_references_and_unions():
    schema = Pairs.model_json_schema()
    schema["$defs"]["Pair"]["properties"]["other"]["anyOf"].reverse()
    assert len(Pairs.model_validate(instance_of(schema, "s")).pairs) == 3


def test_the_same_seed_gives_the_same_instance_and_others_differ():
    schema = Pair.model_json_schema()
    schema["$defs"]["Pair"]["properties"]["other"]["anyOf"].reverse()
    instances = [json.dumps(instance_of(schema, str(seed))) for seed in range(20)]
    assert json.dumps(instance_of(schema, "3")) == instances[3]
    assert len(set(instances)) > 10


def test_enums_are_drawn_by_the_seed():
    drawn = {instance_of({"enum": ["a", "b", "c"]}, str(seed)) for seed in range(50)}
    assert drawn == {"a", "b", "c"}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"const": 7}, 7),
        ({"type": "null"}, None),
        ({"type": "object"}, {}),
        ({"type": "array", "items": {"const": 1}, "maxItems": 0}, []),
        ({"type": "array", "prefixItems": [{"const": 1}, {"const": 2}]}, [1, 2]),
        ({"type": ["integer", "null"], "minimum": 4, "maximum": 4}, 4),
        ({"type": "integer", "exclusiveMinimum": 4, "maximum": 5}, 5),
        ({"type": "integer", "exclusiveMaximum": -4, "minimum": -5}, -5),
        ({"properties": {"a": {"const": 1}}}, {"a": 1}),
        (
            {
                "allOf": [{"properties": {"a": {"const": 1}}}],
                "properties": {"b": {"const": 2}},
            },
            {"a": 1, "b": 2},
        ),
        ({"$ref": "#/$defs/x~1y", "$defs": {"x/y": {"const": 3}}}, 3),
    ],
)
def test_small_schemas(schema, expected):
    assert instance_of(schema, "s") == expected


def test_unique_items_of_an_enum_too_small_end_all_the_same():
    schema = {
        "type": "array",
        "items": {"enum": [1]},
        "minItems": 2,
        "uniqueItems": True,
    }
    assert instance_of(schema, "s") == [1, 1]


def test_lengths_of_strings():
    text = instance_of({"type": "string", "minLength": 200, "maxLength": 210}, "s")
    assert 200 <= len(text) <= 210


def test_a_schema_without_an_end_is_refused():
    schema = {"$defs": {"a": {"properties": {"x": {"$ref": "#/$defs/a"}}}}}
    with pytest.raises(ValueError, match="itself"):
        instance_of({**schema, "$ref": "#/$defs/a"}, "s")


PATTERNS = [
    r"^(What|Who|When|Where|Which|How|Why)\b[^?\n]{5,120}\?$",
    r"^\d{4}-\d{2}-\d{2}$",
    r"[A-F0-9]{8}",
    r"^[^\d\s]+$",
    r"^a.c*?d?(?:e|f)$",
    r"^[^x]$",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_texts_for_patterns(pattern):
    for seed in range(20):
        assert re.search(pattern, text_matching(pattern, random.Random(seed)))


@pytest.mark.parametrize("pattern", [r"(a)\1", r"(?=b)a", r"a^b"])
def test_a_pattern_that_is_not_understood_is_refused(pattern):
    with pytest.raises(ValueError, match="cannot make a text"):
        text_matching(pattern, random.Random(0))


def test_true_and_false_both_come():
    adapter = TypeAdapter(bool)
    schema = adapter.json_schema()
    assert {instance_of(schema, str(seed)) for seed in range(20)} == {True, False}
