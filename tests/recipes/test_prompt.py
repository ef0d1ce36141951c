from __future__ import annotations

import json
from datetime import date
from enum import Enum
from typing import Literal

import pytest
from pydantic import BaseModel, Field, field_validator

from synthnb.errors import ConfigError, TemplateError
from synthnb.frames import records_frame
from synthnb.recipes import Prompt, Recipe, from_json
from synthnb.records import Completion, Sampling, Status


class Step(BaseModel):
    text: str


class Ticket(BaseModel):
    title: str = Field(min_length=3)
    priority: int = Field(ge=1, le=5)
    kind: Literal["bug", "wish"] = "bug"
    steps: list[Step] = []

    @field_validator("title")
    @classmethod
    def no_shouting(cls, value):
        if value.isupper():
            msg = "do not shout"
            raise ValueError(msg)
        return value


TICKET = {
    "title": "It fails",
    "priority": 2,
    "kind": "bug",
    "steps": [{"text": "run it"}],
}


def parse(recipe, value, reason="stop"):
    text = value if isinstance(value, str) else json.dumps(value)
    return recipe.parse({}, Completion(text, finish_reason=reason), [])


def test_the_request():
    recipe = Prompt(
        "About {{ topic }}.",
        system="You know {{ field }}.",
        temperature=0.5,
        max_tokens=9,
        seed=3,
        name="essay",
    )
    assert isinstance(recipe, Recipe)
    assert recipe.needs == ("topic", "field")
    assert (recipe.step, recipe.fields, recipe.wanted) == ("essay", ("answer",), 1)
    request = recipe.request({"topic": "{{ bees }}", "field": "all"}, [], 2)
    assert [(m.role, m.content) for m in request.messages] == [
        ("system", "You know all."),
        ("user", "About {{ bees }}."),
    ]
    assert request.sampling == Sampling(0.5, None, 9, 3)
    assert request.schema is None
    assert recipe.request({"topic": "x", "field": "y"}, [parse(recipe, "a")], 0) is None


def test_an_input_column_may_have_any_name():
    recipe = Prompt("{{ text }} {{ template }} {{ name }}")
    request = recipe.request({"text": "a", "template": "b", "name": "c"}, [], 0)
    assert request.messages[0].content == "a b c"


def test_case_34_braces_in_the_document():
    request = Prompt("Explain: {{ text }}").request(
        {"text": 'f({"name": "test"})'}, [], 0
    )
    assert request.messages[0].content == 'Explain: f({"name": "test"})'


@pytest.mark.parametrize(
    ("text", "reason", "status", "items"),
    [
        (" an\n answer ", "stop", Status.OK, ({"story": "an\n answer"},)),
        ("<think>t</think>an answer", "stop", Status.OK, ({"story": "an answer"},)),
        ("half an ans", "length", Status.TRUNCATED, ({"story": "half an ans"},)),
        ("  ", "stop", Status.SCHEMA, ()),
        ("<think>never ends", "length", Status.TRUNCATED, ()),
        ("no", "content_filter", Status.REFUSED, ()),
    ],
)
def test_text_answers(text, reason, status, items):
    parsed = parse(Prompt("x", field="story"), text, reason)
    assert (parsed.status, parsed.items) == (status, items)
    assert parsed.items_status is status
    assert bool(parsed.detail) == (status is not Status.OK)


def test_objects_become_columns():
    recipe = Prompt("x", output=Ticket)
    assert recipe.fields == ("title", "priority", "kind", "steps")
    assert recipe.request({}, [], 0).schema == Ticket.model_json_schema()
    parsed = parse(recipe, TICKET)
    assert parsed.status is Status.OK
    assert parsed.items == (TICKET,)
    assert not parsed.repaired


@pytest.mark.parametrize(
    ("value", "repaired"),
    [
        ("Here: ```json\n" + json.dumps(TICKET) + "\n```", False),
        (TICKET | {"priority": "2"}, True),
        ([TICKET], False),
        ({"ticket": TICKET}, True),
        ({k.upper(): v for k, v in TICKET.items()}, True),
        (str(TICKET), True),
        (TICKET | {"extra": 1}, False),
    ],
)
def test_what_is_nearly_right_is_taken_and_marked(value, repaired):
    parsed = parse(Prompt("x", output=Ticket), value)
    assert parsed.status is Status.OK
    assert parsed.items == (TICKET,)
    assert parsed.repaired is repaired


@pytest.mark.parametrize(
    ("value", "reason", "status", "word"),
    [
        (TICKET | {"priority": 9}, "stop", Status.SCHEMA, "priority"),
        ({"title": "It fails"}, "stop", Status.SCHEMA, "priority"),
        (TICKET | {"title": "LOUD"}, "stop", Status.SCHEMA, "shout"),
        ({}, "stop", Status.SCHEMA, "no object"),
        ("prose", "stop", Status.NO_JSON, "prose"),
        (
            '{"title": "It fails", "priority": 2, "steps": [{"text": "a"}, {"te',
            "length",
            Status.TRUNCATED,
            "cut off",
        ),
    ],
)
def test_what_is_wrong_is_said(value, reason, status, word):
    parsed = parse(Prompt("x", output=Ticket), value, reason)
    assert parsed.status is status
    assert word in parsed.detail
    assert parsed.items == ()


def test_from_json_asks_the_same_and_checks_by_the_schema():
    recipe = Prompt("{{ a }}", output=Ticket, system="s", temperature=0.1, seed=1)
    frozen = json.loads(json.dumps(recipe.to_json()))
    again = from_json(frozen)
    assert again == recipe
    assert hash(again) == hash(recipe)
    assert again.to_json() == frozen
    assert again.request({"a": 1}, [], 0) == recipe.request({"a": 1}, [], 0)
    assert parse(again, TICKET).items == (TICKET,)
    for wrong, word in [
        ({"priority": 9}, "maximum"),
        ({"priority": True}, "integer"),
        ({"title": "ab"}, "minLength"),
        ({"kind": "joke"}, "allowed"),
        ({"steps": [{"text": 3}]}, "steps.0.text"),
        ({"steps": [{}]}, "missing"),
    ]:
        parsed = parse(again, TICKET | wrong)
        assert parsed.status is Status.SCHEMA
        assert word in parsed.detail
    assert (
        parse(again, TICKET | {"title": "LOUD"}).status is Status.OK
    )  # Python stays behind


def test_optional_fields_by_the_schema():
    class Maybe(BaseModel):
        note: str | None
        tags: dict[str, int] = {}

    again = from_json(Prompt("x", output=Maybe).to_json())
    assert parse(again, {"note": None}).status is Status.OK
    assert parse(again, {"note": 3}).status is Status.SCHEMA


def test_wrong_arguments():
    with pytest.raises(TemplateError, match="line 1"):
        Prompt("{{ a")
    with pytest.raises(ConfigError, match="pydantic"):
        Prompt("x", output=int)
    with pytest.raises(ConfigError, match="object"):
        Prompt("x", output={"type": "array"})
    with pytest.raises(ConfigError, match="name"):
        Prompt("x", name="")


class Color(Enum):
    RED = "red"


class Dated(BaseModel):
    color: Color
    when: date
    tags: set[str] = set()


def test_what_json_writes_as_a_string_needs_no_coercion():
    value = {"color": "red", "when": "2024-01-02", "tags": ["a"]}
    parsed = Prompt("x", output=Dated).parse({}, Completion(json.dumps(value)), ())
    assert (parsed.items, parsed.repaired) == ((value,), False)
    value["when"] = 1704153600
    parsed = Prompt("x", output=Dated).parse({}, Completion(json.dumps(value)), ())
    assert (parsed.items[0]["when"], parsed.repaired) == ("2024-01-02", True)


class Tree(BaseModel):
    value: int
    children: list[Tree] = []


def test_a_model_may_hold_itself():
    recipe = Prompt("x", output=Tree)
    assert recipe.fields == ("value", "children")
    value = {"value": 1, "children": [{"value": 2, "children": []}]}
    for again in (recipe, Prompt("x", output=recipe.schema)):
        parsed = again.parse({}, Completion(json.dumps(value)), ())
        assert parsed.items == (value,)


class Clash(BaseModel):
    status: str
    reasoning: str
    record_id: int


def test_a_field_never_takes_the_place_of_a_records_own_column():
    recipe = Prompt("x", output=Clash)
    value = {"status": "open", "reasoning": "r", "record_id": 7}
    parsed = recipe.parse({}, Completion(json.dumps(value)), ())
    assert parsed.items == ({f"output_{k}": v for k, v in value.items()},)
    assert recipe.fields == tuple(parsed.items[0])
    text = Prompt("x", field="status")
    assert text.fields == ("output_status",)
    assert text.parse({}, Completion("t"), ()).items == ({"output_status": "t"},)


def test_the_records_own_columns_are_those_that_every_frame_has():
    every = records_frame([]).columns
    recipe = Prompt(
        "x", output={"type": "object", "properties": {n: {} for n in every}}
    )
    assert recipe.fields == tuple(f"output_{name}" for name in every)
