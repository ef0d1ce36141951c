from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from raw_server import CANARY, SCHEMA, ask, chat

from synthnb.errors import ContextError, RateLimitError, ServerError
from synthnb.providers.answers import Answer
from synthnb.providers.completions import decode
from synthnb.providers.forms import Form, Structured
from synthnb.providers.reasoning import separate
from synthnb.providers.redaction import Redactor
from synthnb.records import Usage

REDACTOR = Redactor([CANARY])


def read(body, request=None, form=None):
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return decode(Answer(200, {}, raw), request or ask(), form or Form(), REDACTOR)


def test_an_ordinary_answer():
    found = read(chat("hello"))
    assert found.text == "hello"
    assert found.reasoning is None
    assert found.finish_reason == "stop"
    assert found.usage == Usage(5, 2)
    assert (found.model, found.request_id) == ("m", "chatcmpl-1")
    assert found.adapted == ()


# ---- reasoning, four forms

ANSWER = '[{"question":"q","answer":"a"}]'
THOUGHT = "a [1] {x}"


@pytest.mark.parametrize(
    "message",
    [
        {"content": ANSWER, "reasoning": THOUGHT},
        {"content": ANSWER, "reasoning_content": f"\n{THOUGHT}\n"},
        {"content": f"<think>{THOUGHT}</think>{ANSWER}"},
        {"content": f"\n<think>\n{THOUGHT}\n</think>\n\n{ANSWER}"},
        {"content": f"<Thinking>{THOUGHT}</Thinking>{ANSWER}"},
        {"content": f"[THINK]{THOUGHT}[/THINK]{ANSWER}"},
        {"content": f"{THOUGHT}\n</think>\n\n{ANSWER}"},
        {"content": ANSWER, "reasoning": "", "reasoning_content": THOUGHT},
        {"content": ANSWER, "reasoning": {"x": 1}, "reasoning_content": THOUGHT},
    ],
)
def test_every_form_of_reasoning_gives_the_same(message):
    found = read(chat(**message))
    assert found.text == ANSWER
    assert found.reasoning == THOUGHT


@pytest.mark.parametrize(
    ("content", "text", "reasoning"),
    [
        ("plain", "plain", None),
        ("<think>cut off while", "", "cut off while"),
        ("<think></think>\n\nhi", "hi", None),
        ("<think>a</think><think>b</think>c", "c", "a\nb"),
        ("see the <think> tag", "see the <think> tag", None),
        ("<b>bold</b>", "<b>bold</b>", None),
        ('{"a": "ends with </think>"}', '{"a": "ends with </think>"}', None),
        ("```\n</think>\n```", "```\n</think>\n```", None),
        ("</think>hi", "hi", None),
        ("  leading space", "  leading space", None),
    ],
)
def test_only_a_leading_block_is_reasoning(content, text, reasoning):
    assert separate(content, {}) == (text, reasoning)


def test_a_field_and_an_inline_block_are_joined():
    assert separate("<think>b</think>c", {"reasoning": "a"}) == ("c", "a\nb")


@given(st.text(), st.text())
def test_no_text_is_lost_with_a_block(thought, answer):
    if any(mark in thought + answer for mark in ("<", "[")):
        return
    text, reasoning = separate(f"<think>{thought}</think>{answer}", {})
    assert text == answer.lstrip()
    assert (reasoning or "") == thought.strip()


def test_json_in_the_reasoning_field_is_the_answer_where_json_was_asked():
    message = {"content": None, "reasoning": '{"answer":42}'}
    found = read(chat(**message), ask(schema=SCHEMA))
    assert found.text == '{"answer":42}'
    assert found.reasoning is None
    assert found.adapted == ("answer_from_reasoning",)
    unasked = read(chat(**message))
    assert (unasked.text, unasked.reasoning) == ("", '{"answer":42}')
    prose = read(chat(None, reasoning="I think 42"), ask(schema=SCHEMA))
    assert (prose.text, prose.reasoning, prose.adapted) == ("", "I think 42", ())


# ---- odd answers


def test_parts_and_old_style_text_are_joined():
    parts = [{"type": "text", "text": "a"}, {"type": "image"}, {"text": "b"}, 7]
    assert read(chat(parts)).text == "ab"
    assert read({"choices": [{"text": "old"}]}).text == "old"


def test_a_refusal_is_kept_with_its_reason():
    found = read(chat(None, refusal="I cannot help with that."))
    assert (found.text, found.finish_reason) == ("I cannot help with that.", "refusal")


@pytest.mark.parametrize("reason", ["length", "content_filter", "tool_calls", None, 7])
def test_the_finish_reason_is_kept(reason):
    expected = reason if isinstance(reason, str) else None
    assert read(chat("x", reason)).finish_reason == expected


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, Usage()),
        ("much", Usage()),
        ({}, Usage()),
        ({"prompt_tokens": -1, "completion_tokens": -5}, Usage()),
        ({"prompt_tokens": 0, "completion_tokens": 0}, Usage()),
        ({"prompt_tokens": 10**15, "completion_tokens": 3}, Usage(None, 3)),
        ({"prompt_tokens": True, "completion_tokens": "3"}, Usage()),
        ({"prompt_tokens": 4.0, "completion_tokens": 2}, Usage(4, 2)),
        ({"prompt_tokens": float("nan"), "completion_tokens": float("inf")}, Usage()),
    ],
)
def test_odd_usage_is_unknown_and_never_nan(usage, expected):
    assert read(chat("x") | {"usage": usage}).usage == expected


def test_no_tokens_for_no_text_is_believed():
    usage = {"prompt_tokens": 4, "completion_tokens": 0}
    assert read(chat("") | {"usage": usage}).usage == Usage(4, 0)


@pytest.mark.parametrize(
    ("body", "word"),
    [
        (b"", "is empty"),
        (b"  \n", "is empty"),
        (b"<html><script>alert(1)</script>", "a page instead of JSON"),
        (b"not json", "no chat completion: not json"),
        (b'{"choices": [', "no chat completion"),
        (b"[]", "no chat completion"),
        (b"null", "no chat completion"),
        (b'{"choices": []}', "no chat completion"),
        (b'{"choices": [null]}', "no chat completion"),
        (b'{"choices": {}}', "no chat completion"),
        (b"\xff\xfe\x00", "no chat completion"),
        (b"[" * 100_000, "no chat completion"),
    ],
)
def test_what_is_no_answer_is_a_server_error_with_an_excerpt(body, word):
    with pytest.raises(ServerError, match=word) as caught:
        read(body)
    assert caught.value.http_status == 200
    assert len(caught.value.message) < 400
    assert caught.value.retryable


def test_an_excerpt_holds_no_key_and_no_control_characters():
    with pytest.raises(ServerError) as caught:
        read(f"oops {CANARY}\x1b[31m\nnext".encode())
    assert "CANARY" not in str(caught.value)
    assert "\x1b" not in str(caught.value)
    assert "oops [key] [31m next" in caught.value.message


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"error": {"message": "slow down", "code": 429}}, RateLimitError),
        (
            {"error": {"message": "maximum context length is 9", "code": 400}},
            ContextError,
        ),
        ({"error": {"message": "boom"}}, ServerError),
        ({"error": "boom"}, ServerError),
        ({"object": "error", "message": "boom", "code": 500}, ServerError),
    ],
)
def test_an_error_in_a_200_answer_is_typed(body, kind):
    with pytest.raises(kind) as caught:
        read(body)
    assert caught.value.http_status == 200


def test_lone_surrogates_and_bad_utf8_are_replaced_and_noted():
    escaped = json.dumps(chat("a\ud800b")).encode()
    assert b"\\ud800" in escaped
    found = read(escaped)
    assert (found.text, found.adapted) == ("a\ufffdb", ("surrogates_replaced",))
    broken = json.dumps(chat("ab")).encode().replace(b"ab", b"a\xffb")
    assert read(broken).text == "a\ufffdb"


def test_nul_and_wide_characters_pass_unchanged():
    text = "a\x00b \u202e \U0001f600 \u0633"
    assert read(chat(text)).text == text
    assert read(chat(text)).adapted == ()


def test_what_was_sent_differently_is_noted():
    form = Form(
        Structured.PROMPT_ONLY, fold_system=True, dropped=frozenset({"seed", "top_p"})
    )
    request = ask(schema=SCHEMA, system="s", seed=3)
    found = read(chat("x"), request, form)
    assert found.adapted == ("prompt_only", "system_folded", "no_seed")
    assert read(chat("x"), ask(), form).adapted == ()


PROSE = " ".join(f"word{n}" for n in range(5_000))


@pytest.mark.parametrize(
    ("prompt", "tokens", "cut"),
    [
        (PROSE, 4_096, True),
        (PROSE, 4_095, True),
        (PROSE, 8_000, False),
        (PROSE, 4_070, False),  # what a prefix cache left over: no full context
        (f"{' ' * 40}x\n" * 1_000, 4_096, False),
        ("| - " * 10_000, 4_096, False),
        ("你好" * 20_000, 4_096, False),
        ("=" * 40_000, 4_096, False),
        ("word " * 100, 20, False),
        (PROSE, None, False),
    ],
)
def test_a_prompt_that_the_server_cut_is_noticed(prompt, tokens, cut):
    body = chat("x") | {"usage": {"prompt_tokens": tokens, "completion_tokens": 1}}
    assert read(body, ask(prompt)).adapted == (("prompt_cut_by_server",) if cut else ())


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "message", "content", "usage", "error", "code"]
            ),
            inner,
        )
    ),
    max_leaves=12,
)


@given(_JSON)
def test_any_json_is_a_completion_or_a_typed_error(body):
    from synthnb.errors import ProviderError

    try:
        found = read(json.dumps(body).encode())
    except ProviderError:
        return
    assert isinstance(found.text, str)


def test_a_hundred_thousand_blocks_of_reasoning_are_no_trouble():
    text, reasoning = separate("<think>a</think>" * 100_000 + "b", {})
    assert text == "b"
    assert reasoning is not None
    assert reasoning.count("a") == 100_000


def test_an_answer_that_fills_the_context_shows_a_cut_prompt():
    usage = {"prompt_tokens": 3_000, "completion_tokens": 1_096}
    found = read(chat("x") | {"usage": usage}, ask(PROSE))
    assert found.adapted == ("prompt_cut_by_server",)


@pytest.mark.parametrize(
    "more",
    [
        {"usage": {"prompt_tokens_details": {"cached_tokens": 9_000}}},
        {"usage": {"prompt_cache_hit_tokens": 9_000}},
        {"usage": {}, "timings": {"cache_n": 9_000}},
        {"usage": {"prompt_tokens_details": {"cached_tokens": None}}, "cut": True},
        {"usage": {"prompt_tokens_details": [1]}, "timings": [], "cut": True},
    ],
)
def test_tokens_from_a_cache_are_no_cut(more):
    usage = {"prompt_tokens": 4_096, "completion_tokens": 1} | more["usage"]
    found = read(chat("x") | more | {"usage": usage}, ask(PROSE))
    assert bool(found.adapted) == more.get("cut", False)
