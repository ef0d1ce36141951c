from __future__ import annotations

import orjson
import pytest
from raw_server import SCHEMA, ask

from synthnb.providers.dialect import Dialect, dialect_of
from synthnb.providers.error_bodies import Failure
from synthnb.providers.forms import Form, Structured
from synthnb.providers.wire import encode

IDEAL = Form()
FULL = ask(
    schema=SCHEMA,
    system="s",
    temperature=0.5,
    top_p=0.9,
    max_tokens=9,
    seed=1,
    stop=("x",),
)


def fail(message, status=400, code="", param=""):
    return Failure(status, message, code, param)


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (
            fail("Unsupported parameter: 'max_tokens' is not supported with this model. "
                 "Use 'max_completion_tokens' instead.", code="unsupported_parameter", param="max_tokens"),
            Form(completion_limit=True),
        ),
        (
            fail("Unsupported value: 'temperature' does not support 0.5 with this model. "
                 "Only the default (1) value is supported.", code="unsupported_value", param="temperature"),
            Form(dropped=frozenset({"temperature"})),
        ),
        (fail("seed: Extra inputs are not permitted", 422, "extra_forbidden", "seed"), Form(dropped=frozenset({"seed"}))),
        (fail("Unrecognized request argument supplied: stop"), Form(dropped=frozenset({"stop"}))),
        (fail("'response_format.type' must be 'json_object' or 'text'"), Form(Structured.JSON_OBJECT)),
        (fail("'response_format.type' must be 'json_schema' or 'text'"), Form(Structured.PROMPT_ONLY)),
        (fail("This model does not support response format `json_schema`"), Form(Structured.JSON_OBJECT)),
        (fail("This response_format type is unavailable now"), Form(Structured.JSON_OBJECT)),
        (fail("response_format: Extra inputs are not permitted", 422, "extra_forbidden", "response_format"), Form(Structured.PROMPT_ONLY)),
        (fail("System role not supported"), Form(fold_system=True)),
        (fail("Jinja: System role not supported", 500), Form(fold_system=True)),
        (fail("Conversation roles must alternate user/assistant/user/assistant/..."), Form(fold_system=True)),
        (fail("Only user and assistant roles are supported!"), Form(fold_system=True)),
    ],
)  # fmt: skip
def test_a_refusal_leads_to_the_next_form(failure, expected):
    assert IDEAL.after(failure, FULL) == expected


@pytest.mark.parametrize(
    "failure",
    [
        fail("boom"),
        fail("boom", 500),
        fail("max_tokens must be at least 1", param="max_tokens", code="invalid_value", status=429),
        fail("This model's maximum context length is 9. response_format", code="context_length_exceeded"),
        fail("response_format not supported", 401),
        fail("seed of the crystal"),
        fail("model `m` does not exist", 404),
    ],
)  # fmt: skip
def test_other_failures_teach_nothing(failure):
    assert IDEAL.after(failure, FULL) is None


@pytest.mark.parametrize(
    "failure",
    [
        fail("Unsupported parameter: use max_completion_tokens", param="max_tokens"),
        fail("temperature is not supported", param="temperature"),
        fail("response_format is not supported"),
        fail("System role not supported"),
    ],
)
def test_what_was_not_sent_cannot_be_the_reason(failure):
    assert IDEAL.after(failure, ask()) is None


def test_each_thing_is_learned_once_so_resending_ends():
    failures = [
        fail("use max_completion_tokens: unsupported", param="max_tokens"),
        fail("temperature top_p seed stop unsupported"),
        fail("response_format unsupported"),
        fail("System role not supported"),
    ]
    form, steps = IDEAL, 0
    while following := next((f for x in failures if (f := form.after(x, FULL))), None):
        form, steps = following, steps + 1
    assert steps == 8 < Dialect.max_steps
    assert form.structured is Structured.PROMPT_ONLY
    assert form.dropped == {"temperature", "top_p", "seed", "stop"}


def test_requests_refused_together_learn_together():
    dialect = Dialect()
    sent = dialect.form
    first = dialect.learn(
        fail("temperature unsupported", param="temperature"), FULL, sent
    )
    second = dialect.learn(fail("System role not supported"), FULL, sent)
    third = dialect.learn(
        fail("temperature unsupported", param="temperature"), FULL, sent
    )
    assert first == Form(dropped=frozenset({"temperature"}))
    assert second == third == dialect.form
    assert dialect.form == Form(fold_system=True, dropped=frozenset({"temperature"}))


def test_a_complaint_about_one_schema_is_not_remembered():
    dialect = Dialect()
    message = "Invalid schema for response_format 'answer': too many enum values"
    assert dialect.learn(fail(message), FULL, dialect.form) == Form(
        Structured.JSON_OBJECT
    )
    assert dialect.form == IDEAL


def test_what_is_learned_is_shared_by_url_and_model():
    dialect_of("http://a/v1", "m").ignores_response_format()
    assert dialect_of("http://a/v1", "m").form.structured is Structured.PROMPT_ONLY
    assert dialect_of("http://a/v1", "n").form == IDEAL
    assert dialect_of("http://b/v1", "m").form == IDEAL


def test_a_form_describes_itself():
    form = Form(
        Structured.JSON_OBJECT,
        completion_limit=True,
        fold_system=True,
        dropped=frozenset({"seed"}),
    )
    assert form.describe() == ("json_object", "max_completion_tokens", "system_folded", "no_seed")  # fmt: skip
    assert IDEAL.describe() == ()


@pytest.mark.parametrize("status", [400, 404, 415, 422, 500, 501])
def test_a_refusal_may_come_with_many_statuses(status):
    failure = fail("response_format is not supported", status)
    assert IDEAL.after(failure, FULL) == Form(Structured.JSON_OBJECT)


def test_nothing_is_dropped_that_was_dropped_already():
    form = Form(dropped=frozenset({"temperature"}))
    failure = fail("temperature unsupported", param="temperature")
    assert form.after(failure, FULL) is None


def test_a_union_heeds_both():
    a = Form(Structured.JSON_OBJECT, dropped=frozenset({"seed"}))
    b = Form(Structured.PROMPT_ONLY, completion_limit=True, dropped=frozenset({"stop"}))
    both = Form(
        Structured.PROMPT_ONLY,
        completion_limit=True,
        dropped=frozenset({"seed", "stop"}),
    )
    assert a.union(b) == b.union(a) == both
    assert a.union(IDEAL) == a


def test_what_a_form_changes_depends_on_the_request():
    form = Form(
        Structured.PROMPT_ONLY, fold_system=True, dropped=frozenset({"seed", "top_p"})
    )
    assert form.adapted(ask()) == ()
    assert form.adapted(ask(schema=SCHEMA)) == ("prompt_only",)
    assert form.adapted(ask(system="s", top_p=0.1)) == ("system_folded", "no_top_p")


KEYWORDS = {
    "type": "object",
    "properties": {
        "pattern": {"type": "string", "pattern": "^a$", "maxLength": 3},
        "n": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]},
        "c": {"enum": ["minLength"], "default": "minLength"},
    },
    "required": ["pattern", "n", "c"],
    "additionalProperties": False,
}
PLAIN = {
    "type": "object",
    "properties": {
        "pattern": {"type": "string"},
        "n": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "c": {"enum": ["minLength"]},
    },
    "required": ["pattern", "n", "c"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    "message",
    [
        "Invalid schema for response_format 'rating': 'maxLength' is not permitted.",
        "JSON schema conversion failed:\nPattern must start with '^' and end with '$'",
        "The provided JSON schema contains features not supported by xgrammar.",
        "Invalid schema for response_format: 'default' is not permitted",
    ],
)
def test_a_refused_keyword_costs_the_keyword_not_the_schema(message):
    request = ask(schema=KEYWORDS)
    dialect = Dialect()
    form = dialect.learn(fail(message), request, IDEAL)
    assert form == Form(plain_schema=True) == dialect.form
    sent = orjson.loads(encode(request, "m", form)[0])["response_format"]
    assert sent["json_schema"]["schema"] == PLAIN
    assert sent["json_schema"]["strict"] is True
    assert form.adapted(request) == ("plain_schema",)
    assert form.adapted(ask(schema=PLAIN)) == ()
    assert (
        dialect.learn(fail(message), request, form).structured is Structured.JSON_OBJECT
    )


def test_a_schema_without_such_keywords_is_not_sent_again_as_it_was():
    failure = fail("Invalid schema: 'maxLength' is not permitted")
    assert IDEAL.after(failure, ask(schema=PLAIN)) == Form(Structured.JSON_OBJECT)
