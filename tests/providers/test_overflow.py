from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthnb.errors import ContextError
from synthnb.providers.answers import Answer
from synthnb.providers.failures import error_for
from synthnb.providers.overflow import read_overflow
from synthnb.providers.redaction import Redactor
from synthnb.testing.overflow import OVERFLOWS, Size

WORDS = [
    ("This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8500 in the messages, 500 in the completion). Please reduce the length of the messages or completion.", 8192, 8500),
    ("This model's maximum context length is 131072 tokens. However, you requested 512 output tokens and your prompt contains at least 130900 input tokens, for a total of at least 131412 tokens.", 131072, 130900),
    ("'max_tokens' or 'max_completion_tokens' is too large: 9000. This model's maximum context length is 8192 tokens and your request has 1005 input tokens (9000 > 8192 - 1005).", 8192, 1005),
    ("The decoder prompt (length 12324) is longer than the maximum model length of 8192. Make sure that `max_model_len` is no smaller than the number of text tokens.", 8192, 12324),
    ("input (691,793 tokens) is longer than the model's context length (540000)", 540000, 691793),
    ("Input length (5000 tokens) exceeds the maximum allowed length (4091 tokens). Use a shorter input or enable --allow-auto-truncate.", 4091, 5000),
    ("Requested token count exceeds the model's maximum context length of 32768 tokens. You requested a total of 33000 tokens: 32500 tokens from the input messages and 500 tokens for the completion.", 32768, 32500),
    ("Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300123 tokens. Please reduce the length of the messages.", 272000, 300123),
    ("request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it", 4096, 5000),
    ('{"error":{"code":400,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}}', 4096, 5000),
    ("Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.", 4096, 5000),
    ("Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length", 32768, 40000),
    ("The sum of prompt length (5000.0), query length (0) should not exceed max_num_tokens (4096)", 4096, 5000),
    ("prompt is too long: 210000 tokens > 200000 maximum", 200000, 210000),
    ("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 1048576, 1200000),
    ("`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 512 `max_new_tokens`", 4096, 4000),
    ("This model's maximum prompt length is 131072 but the request contains 140000 tokens.", 131072, 140000),
    ("prompt token count of 70000 exceeds the limit of 64000", 64000, 70000),
    ("This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens (139000 of text input, 1000 in the output).", 131072, 139000),
    ("too many tokens: total number of tokens in the prompt exceeds the limit of 4081", 4081, None),
    ("the input length exceeds the context length", None, None),
    ("prompt too long; exceeded max context length by 512 tokens", None, None),
    ("Please reduce the length of the messages or completion.", None, None),
]  # fmt: skip


@pytest.mark.parametrize(("words", "limit", "prompt"), WORDS)
def test_the_sizes_are_read_in_every_servers_words(words, limit, prompt):
    assert read_overflow(words) == (limit, prompt)


@pytest.mark.parametrize(("words", "limit", "prompt"), WORDS)
def test_each_of_them_is_a_context_error_with_its_sizes(words, limit, prompt):
    body = words if words[0] == "{" else json.dumps({"error": {"message": words}})
    error = error_for(Answer(400, {}, body.encode()), Redactor())
    assert isinstance(error, ContextError)
    assert (error.limit, error.prompt_tokens, error.sent) == (limit, prompt, True)


@pytest.mark.parametrize("name", [n for n, refuse in OVERFLOWS.items() if refuse])
def test_every_kind_of_fault_server_is_understood(name):
    reply = OVERFLOWS[name](Size(prompt=5_001, wanted=300, limit=4_096))
    error = error_for(Answer(reply.status, {}, reply.body), Redactor())
    assert isinstance(error, ContextError)
    assert (error.limit, error.prompt_tokens) == (4_096, 5_001)


@pytest.mark.parametrize(
    ("text", "wanted", "sound"),
    [
        ("maximum context length is 8192 tokens: 8000 in the messages", 500, True),
        ("maximum context length is 8192 tokens: 800 in the messages", 500, False),
        ("maximum context length is 8192 tokens", 0, True),
        ("too long", 0, False),
    ],
)
def test_sizes_that_do_not_explain_the_refusal_are_not_trusted(text, wanted, sound):
    assert read_overflow(text).is_sound(wanted) is sound


@given(st.text(max_size=300))
def test_any_text_is_read(text):
    limit, prompt = read_overflow(text)
    assert limit is None or limit >= 128
    assert prompt is None or prompt >= 128


def test_a_hostile_text_is_read_to_its_end():
    """A pattern that backtracks without bound would take minutes here."""
    for piece in (
        "maximum context length ",
        "context length (",
        "input ",
        "1,",
        "in the ",
    ):
        assert read_overflow(piece * 100_000).limit is None
