from __future__ import annotations

import json
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field
from raw_server import SCHEMA, ask

from synthnb.providers.forms import Form, Structured
from synthnb.providers.schema_prompt import instruction
from synthnb.providers.wire import encode
from synthnb.records import Message, Request

IDEAL = Form()
OBJECT = Form(structured=Structured.JSON_OBJECT)
PROMPT = Form(structured=Structured.PROMPT_ONLY)


def body(request, form=IDEAL):
    raw, _ = encode(request, "m", form)
    return json.loads(raw)


def test_a_bare_request_sends_two_fields_only():
    assert body(ask()) == {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
    }


def test_sampling_is_sent_as_it_is():
    request = ask(temperature=0.0, top_p=0.9, max_tokens=7, seed=0, stop=("a", "b"))
    sent = body(request)
    assert {k: v for k, v in sent.items() if k not in {"model", "messages"}} == {
        "temperature": 0.0,
        "top_p": 0.9,
        "max_tokens": 7,
        "seed": 0,
        "stop": ["a", "b"],
    }


def test_what_a_server_refuses_is_left_out_or_renamed():
    form = Form(
        completion_limit=True, dropped=frozenset({"temperature", "stop", "seed"})
    )
    sent = body(ask(temperature=0.5, max_tokens=7, seed=1, stop=("a",)), form)
    assert set(sent) == {"model", "messages", "max_completion_tokens"}
    assert sent["max_completion_tokens"] == 7


def test_a_schema_goes_as_json_schema_and_strict_where_it_is_closed():
    request = Request((Message("user", "x"),), schema=SCHEMA, schema_name="my answer!")
    sent = body(request)["response_format"]
    described = sent["json_schema"]
    assert sent["type"] == "json_schema"
    assert described["schema"] == SCHEMA
    assert described["strict"] is True
    assert described["name"] == "my_answer_"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {}}, "required": ["a"]},
        {"type": "object", "properties": {"a": {}}, "additionalProperties": False},
        {"type": "array", "items": {"type": "object"}},
        {**SCHEMA, "properties": {"answer": {"anyOf": [{"type": "object"}]}}},
    ],
)
def test_an_open_schema_is_not_called_strict(schema):
    assert "strict" not in body(ask(schema=schema))["response_format"]["json_schema"]


def test_the_looser_forms_describe_the_schema_in_the_last_user_message():
    for form in (OBJECT, PROMPT):
        sent = body(ask("Say it.", SCHEMA, system="s"), form)
        last = sent["messages"][-1]["content"]
        assert last.startswith("Say it.\n\n")
        assert '{"answer": "<answer>"}' in last
        assert "JSON" in last
        assert sent["messages"][0] == {"role": "system", "content": "s"}
    assert body(ask(schema=SCHEMA), OBJECT)["response_format"] == {
        "type": "json_object"
    }
    assert "response_format" not in body(ask(schema=SCHEMA), PROMPT)


def test_without_a_schema_the_form_changes_nothing():
    assert body(ask(), PROMPT) == body(ask(), IDEAL)


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([("system", "S"), ("user", "U")], [("user", "S\n\nU")]),
        ([("system", "S")], [("user", "S")]),
        ([("system", "S"), ("assistant", "A")], [("user", "S"), ("assistant", "A")]),
        (
            [("system", "S"), ("user", "U"), ("assistant", "A"), ("system", "T")],
            [("user", "S\n\nT\n\nU"), ("assistant", "A")],
        ),
        ([("user", "U")], [("user", "U")]),
    ],
)
def test_a_refused_system_role_goes_into_the_user_turn(messages, expected):
    request = Request(tuple(Message(role, text) for role, text in messages))
    sent = body(request, Form(fold_system=True))["messages"]
    assert [(m["role"], m["content"]) for m in sent] == expected


def test_the_request_itself_is_not_changed():
    request = ask("U", SCHEMA, system="S")
    body(request, Form(Structured.PROMPT_ONLY, fold_system=True))
    assert [m.content for m in request.messages] == ["S", "U"]


def test_a_system_only_request_gets_a_user_message_for_the_description():
    request = Request((Message("system", "S"),), schema=SCHEMA)
    assert [m["role"] for m in body(request, PROMPT)["messages"]] == ["system", "user"]


def test_lone_surrogates_are_replaced_and_reported():
    raw, replaced = encode(ask("a\ud800b"), "m", IDEAL)
    assert replaced
    assert json.loads(raw)["messages"][0]["content"] == "a\ufffdb"
    assert encode(ask("a\U0001f600b"), "m", IDEAL)[1] is False


def test_a_huge_seed_is_sent_all_the_same():
    raw, replaced = encode(ask(seed=2**70), "m", IDEAL)
    assert json.loads(raw)["seed"] == 2**70
    assert not replaced


@given(st.text(st.characters(exclude_categories=())), st.sampled_from([IDEAL, PROMPT]))
def test_any_text_makes_valid_utf8_json(text, form):
    raw, replaced = encode(ask(text, SCHEMA), "m", form)
    sent = json.loads(raw.decode())["messages"][0]["content"]
    surrogates = any("\ud800" <= c <= "\udfff" for c in text)
    assert replaced is surrogates
    if not surrogates:
        assert sent.startswith(text)


# ---- the description of a schema


class Pair(BaseModel):
    question: str = Field(description="ends with ?")
    kind: Literal["fact", "why"]
    score: int = Field(ge=1, le=5)
    sure: bool
    note: str | None = None
    weight: float = 1.0


class Pairs(BaseModel):
    pairs: list[Pair] = Field(min_length=3, max_length=3)


def test_a_pydantic_model_becomes_a_skeleton_and_rules():
    text = instruction(Pairs.model_json_schema())
    expected = (
        '{"pairs": [{"question": "<ends with ?>", '
        '"kind": <one of the values allowed for kind>, '
        '"score": <whole number from 1 to 5>, "sure": <true or false>, '
        '"note": "<note>", "weight": <number>}, ...]}'
    )
    assert expected in text
    assert '"pairs" has exactly 3 items.' in text
    assert '"kind" is one of: "fact" | "why"' in text
    assert "$ref" not in text


@pytest.mark.parametrize(
    ("schema", "sketch", "rule"),
    [
        ({"type": "array", "items": {"type": "string"}, "minItems": 2}, '["<the list>", ...]', "at least 2 items"),
        ({"type": "array", "items": {}, "maxItems": 1}, '["<the list>"]', "at most 1 items"),
        ({"type": "array", "minItems": 1, "maxItems": 1}, '["<the list>"]', "exactly 1 item."),
        ({"const": "x"}, '"x"', ""),
        ({"enum": ["only"]}, '"only"', ""),
        ({"type": ["integer", "null"]}, "<whole number>", ""),
        ({"type": "null"}, "null", ""),
        ({"prefixItems": [{"const": 1}, {"type": "number"}]}, "[1, <number>]", ""),
        ({"$ref": "#/nowhere"}, '"<the list>"', ""),
    ],
)  # fmt: skip
def test_each_kind_of_node_has_its_sketch(schema, sketch, rule):
    text = instruction(schema)
    assert sketch in text.splitlines()[2]
    assert rule in text


def test_many_allowed_values_are_shortened_and_said_to_be():
    sentences = [
        f"Sentence number {i} of the text, and then some more." for i in range(99)
    ]
    text = instruction(
        {"type": "object", "properties": {"evidence": {"enum": sentences}}}
    )
    assert sentences[0] in text
    assert "more, taken word for word from the text)" in text
    assert len(text) < 3_000


def test_a_recursive_schema_ends():
    tree = {
        "$ref": "#/$defs/node",
        "$defs": {
            "node": {
                "type": "object",
                "properties": {"child": {"$ref": "#/$defs/node"}},
            }
        },
    }
    assert "null" in instruction(tree)
    assert instruction({"$ref": "#"})


def test_fields_of_one_name_with_values_of_their_own_are_told_apart():
    def part(*values):
        return {
            "type": "object",
            "properties": {
                "evidence": {"enum": list(values)},
                "mood": {"enum": [1, 2]},
            },
        }

    pairs = {"pair_1": part("a", "b"), "pair_2": part("c", "d")}
    text = instruction({"type": "object", "properties": pairs})
    assert '"pair_1.evidence" is one of: "a" | "b"' in text
    assert '"pair_2.evidence" is one of: "c" | "d"' in text
    assert '{"evidence": <one of the values allowed for pair_2.evidence>' in text
    assert text.count('"mood" is one of: 1 | 2') == 1
