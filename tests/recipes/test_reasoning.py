from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthnb.recipes.reasoning import split_reasoning


@pytest.mark.parametrize(
    ("text", "reasoning", "answer"),
    [
        ("<think>a [1] {x}</think>[1]", "a [1] {x}", "[1]"),
        ("\n<THINK>\na\n</THINK>\n\nb", "a", "b"),
        ("only the end</think>b", "only the end", "b"),
        ("<think>never closed {", "never closed {", ""),
        ("<think></think>b", None, "b"),
        ("<thinking>a</thinking><think>c</think>b", "a\n\nc", "b"),
        ("no tags at all", None, "no tags at all"),
        ('{"a": "write </think> here"}', None, '{"a": "write </think> here"}'),
        ("say <think>x</think> aloud", None, "say <think>x</think> aloud"),
        ("", None, ""),
    ],
)
def test_forms(text, reasoning, answer):
    assert split_reasoning(text) == (reasoning, answer)


@given(st.text())
def test_never_raises(text):
    reasoning, answer = split_reasoning(text)
    assert len(answer) + len(reasoning or "") <= len(text)
