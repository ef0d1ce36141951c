from __future__ import annotations

import json
import time
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st
from raw_server import CANARY

from synthnb.errors import (
    AuthError,
    ContextError,
    ProviderError,
    RateLimitError,
    RequestRefusedError,
    RequestTimeoutError,
    ServerError,
)
from synthnb.providers.answers import Answer
from synthnb.providers.error_bodies import read_failure
from synthnb.providers.failures import error_for
from synthnb.providers.redaction import Redactor
from synthnb.providers.waiting import retry_after
from synthnb.records import Status

REDACTOR = Redactor([CANARY])


def answer(status, body, **headers):
    raw = body if isinstance(body, bytes | str) else json.dumps(body)
    raw = raw.encode() if isinstance(raw, str) else raw
    return Answer(status, {k.replace("_", "-"): v for k, v in headers.items()}, raw)


def error(status, body="", *, model="m", known=(), **headers):
    return error_for(
        answer(status, body, **headers), REDACTOR, model=model, known_models=known
    )


# ---- six shapes of body

INNER = {"message": "boom", "type": "bad", "param": "p", "code": "c"}


@pytest.mark.parametrize(
    ("body", "message", "param"),
    [
        ({"error": INNER}, "boom", "p"),
        ({"error": "boom"}, "boom", ""),
        ({"error": json.dumps({"error": INNER})}, "boom", "p"),
        (json.dumps(json.dumps({"error": INNER})), "boom", "p"),
        ({"object": "error", **INNER}, "boom", "p"),
        ({"detail": "boom"}, "boom", ""),
        (
            {"detail": [{"loc": ["body", "p"], "msg": "boom", "type": "t"}]},
            "p: boom",
            "p",
        ),
        ({"detail": {"message": "boom"}}, "boom", ""),
        ({"message": "boom"}, "boom", ""),
        ({"error": "Bad Request", "message": "boom"}, "Bad Request: boom", ""),
        ("<html><head><style>x{}</style></head><h1>boom</h1></html>", "boom", ""),
        ("boom", "boom", ""),
        ('"boom"', "boom", ""),
    ],
)
def test_every_shape_of_body_is_read(body, message, param):
    failure = read_failure(answer(400, body))
    assert failure.message.strip() == message
    assert failure.param == param


@pytest.mark.parametrize(
    "body", ["", "null", "[1]", "{}", '{"error": {}}', '{"error": 7}', "{"]
)
def test_a_body_that_says_nothing_is_no_trouble(body):
    assert isinstance(error(500, body), ServerError)
    assert isinstance(error(400, body), RequestRefusedError)


# ---- statuses


@pytest.mark.parametrize(
    ("status", "kind", "retryable", "stops"),
    [
        (301, RequestRefusedError, False, True),
        (400, RequestRefusedError, False, False),
        (401, AuthError, False, True),
        (402, RequestRefusedError, False, True),
        (403, AuthError, False, True),
        (404, RequestRefusedError, False, True),
        (405, RequestRefusedError, False, True),
        (408, RequestTimeoutError, True, False),
        (413, RequestRefusedError, False, False),
        (422, RequestRefusedError, False, False),
        (429, RateLimitError, True, False),
        (500, ServerError, True, False),
        (502, ServerError, True, False),
        (503, RateLimitError, True, False),
        (504, RequestTimeoutError, True, False),
        (524, RequestTimeoutError, True, False),
        (529, RateLimitError, True, False),
    ],
)
def test_each_status_has_its_type(status, kind, retryable, stops):
    found = error(status, {"error": {"message": "boom"}})
    assert type(found) is kind
    assert found.retryable is retryable
    assert found.stops_run is stops
    assert found.http_status == status
    assert "boom" in found.message


def test_a_class_is_not_changed_by_one_final_error():
    error(404, "")
    assert RequestRefusedError.stops_run is False


# ---- context, in the servers' own words


@pytest.mark.parametrize(
    "body",
    [
        {"object": "error", "message": "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens", "code": 400},
        {"error": {"message": "'max_tokens' is too large: 5000. This model's maximum context length is 4096 tokens", "param": "max_tokens", "code": 400}},
        {"error": {"message": "too long", "code": "context_length_exceeded"}},
        {"error": {"code": 400, "message": "the request exceeds the available context size", "type": "exceed_context_size_error", "n_prompt_tokens": 9, "n_ctx": 4}},
        {"error": '{"error":{"code":400,"message":"request exceeds the available context size","type":"exceed_context_size_error"}}'},
        {"error": "The number of tokens to keep from the initial prompt is greater than the context length"},
        {"detail": "Input is too long: 5000 > 4096"},
        {"error": {"message": "The input (5000 tokens) is longer than the model's context length (4096 tokens)."}},
    ],
)  # fmt: skip
def test_context_overflow_is_recognised_everywhere(body):
    found = error(400, body)
    assert type(found) is ContextError
    assert found.status is Status.CONTEXT
    assert not found.retryable
    assert not found.stops_run
    assert "smaller" in found.hint


# ---- models


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (404, {"object": "error", "message": "The model `m` does not exist.", "type": "NotFoundError"}),
        (404, {"error": {"message": 'model "m" not found, try pulling it first'}}),
        (400, {"error": {"message": "m is not a valid model ID", "code": 400}}),
        (400, {"error": {"message": "Invalid model name passed in model=m"}}),
        (404, {"error": {"code": "model_not_found", "message": "no"}}),
    ],
)  # fmt: skip
def test_an_unknown_model_stops_the_run_and_names_the_ones_there_are(status, body):
    found = error(status, body, model="lama3", known=("llama3", "other"))
    assert type(found) is RequestRefusedError
    assert found.stops_run
    assert not found.retryable
    assert "no model 'lama3'" in found.message
    assert "did you mean 'llama3'?" in found.hint
    assert "other" in found.hint


def test_an_unknown_model_without_a_list_points_to_check():
    found = error(404, {"error": {"code": "model_not_found", "message": "no"}})
    assert "provider.check()" in found.hint


def test_many_models_are_not_all_listed():
    body = {"error": {"code": "model_not_found", "message": "no"}}
    found = error(404, body, known=tuple(f"id{i}" for i in range(100)))
    assert "and 80 more" in found.hint


def test_a_404_of_the_route_asks_for_the_url():
    assert "/v1" in error(404, {"detail": "Not Found"}).hint


# ---- auth, credit, loading


def test_a_refused_key_says_the_next_step_and_not_the_key():
    body = {
        "error": {
            "message": f"Incorrect API key provided: {CANARY[:8]}***{CANARY[-4:]}"
        }
    }
    found = error_for(answer(401, body), REDACTOR, key_state="set (env:OPENAI_API_KEY)")
    assert "env:OPENAI_API_KEY" in found.hint
    assert "[key]" in found.message
    assert CANARY[-4:] not in str(found)


def test_moderation_is_no_matter_of_the_key():
    found = error(403, {"error": {"message": "Your input was flagged by moderation"}})
    assert type(found) is RequestRefusedError
    assert not found.stops_run


def test_no_credit_is_final():
    found = error(429, {"error": {"code": "insufficient_quota", "message": "x"}})
    assert type(found) is RateLimitError
    assert found.stops_run
    assert not found.retryable


def test_a_loading_server_is_said_to_load():
    found = error(503, {"error": {"code": 503, "message": "Loading model"}})
    assert type(found) is RateLimitError
    assert found.retryable
    assert "still loading" in found.message


def test_a_page_of_a_proxy_is_read_as_words():
    page = (
        "<!DOCTYPE html><html><script>evil()</script><h1>502 Bad&lt;b&gt; Gateway</h1>"
    )
    found = error(502, page)
    assert "502 Bad‹b> Gateway" in found.message
    assert "evil" not in found.message
    assert "proxy" in found.hint


# ---- excerpts


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 408, 429, 500, 503])
def test_no_error_text_is_long_or_holds_the_key(status):
    found = error(status, {"error": {"message": f"{CANARY} " * 5 + "x" * 10_000}})
    assert len(str(found)) < 600
    assert "CANARY" not in str(found)


@given(st.integers(300, 599), st.binary(max_size=200))
def test_any_bytes_make_a_typed_error(status, raw):
    found = error_for(Answer(status, {}, raw), REDACTOR, model="m")
    assert isinstance(found, ProviderError)
    assert str(found).isprintable() or "\n  → " in str(found)


# ---- waiting


@pytest.mark.parametrize(
    ("headers", "message", "seconds"),
    [
        ({"retry-after": "5"}, "", 5.0),
        ({"retry-after": "0.5"}, "", 0.5),
        ({"retry-after": "-3"}, "", 0.0),
        ({"retry-after": "999999999"}, "", 86_400.0),
        ({"retry-after": "nan"}, "", None),
        ({"retry-after": "soon"}, "", None),
        ({"retry-after": "1m30s"}, "", 90.0),
        ({"retry-after-ms": "250", "retry-after": "9"}, "", 0.25),
        (
            {
                "retry-after": "Wed, 21 Oct 2026 07:28:30 GMT",
                "date": "Wed, 21 Oct 2026 07:28:00 GMT",
            },
            "",
            30.0,
        ),
        (
            {
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-requests": "1m6s",
            },
            "",
            66.0,
        ),
        (
            {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "120ms"},
            "",
            0.12,
        ),
        (
            {"x-ratelimit-remaining-tokens": "9", "x-ratelimit-reset-tokens": "6h"},
            "",
            None,
        ),
        ({"x-ratelimit-reset": "7"}, "", 7.0),
        ({}, "Please try again in 1.2s.", 1.2),
        ({}, "retry after 300ms", 0.3),
        ({}, "no idea", None),
    ],
)
def test_the_wait_is_read_in_every_form(headers, message, seconds):
    assert retry_after(headers, message) == pytest.approx(seconds)


def test_a_date_counts_from_now_where_the_answer_has_none():
    later = formatdate(time.time() + 40, usegmt=True)
    assert retry_after({"retry-after": later}) == pytest.approx(40, abs=5)


@pytest.mark.parametrize("factor", [1, 1000])
def test_a_reset_at_a_point_in_time_is_a_wait(factor):
    at = str(int((time.time() + 60) * factor))
    assert retry_after({"x-ratelimit-reset": at}) == pytest.approx(60, abs=5)


def test_an_error_carries_the_wait():
    assert error(429, "", retry_after="7").retry_after == 7.0
    assert error(503, "", retry_after="7").retry_after == 7.0
    assert error(400, "", retry_after="7").retry_after is None
    assert error(429, "").retry_after is None


@pytest.mark.parametrize(
    "text",
    [
        "<script" * 1_000,
        "<" * 8_000,
        "system role " * 600,
        "model " * 1_300,
        "x" * 10**6,
    ],
)
def test_hostile_bodies_are_read_in_their_stride(text):
    for body in (text, f"<html>{text}", {"error": text}, {"detail": [{"msg": text}]}):
        for status in (400, 404, 500):
            assert len(error(status, body).message) < 500
