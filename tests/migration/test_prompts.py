from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthnb.migration import converted
from synthnb.migration.prompts import NAMES
from synthnb.recipes.templates import PromptTemplate

ROW = {"text": "A {b} {{c}} {% d %}", "summary": "s"}


def shown(prompt, values=None):
    return PromptTemplate(converted(prompt, values)).render(ROW)


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("Sum up: {text}", "Sum up: A {b} {{c}} {% d %}"),
        ('As [{{"question": "q"}}] of {summary}', 'As [{"question": "q"}] of s'),
        # Fault 7: single braces of a JSON example ended theirs with a KeyError.
        (
            'As {\n    "question": "q"\n} of {summary}',
            'As {\n    "question": "q"\n} of s',
        ),
        ("{num_pairs} pairs", "7 pairs"),
        ("{unknown} {0} {}", "{unknown} {0} {}"),
        ("{{text}}", "{text}"),
        ("{{% raw %}}", "{% raw %}"),
        ("a {{{{ b }}}}", "a {{ b }}"),
        ("}} {{", "} {"),
        ("no brace at all", "no brace at all"),
    ],
)
def test_a_prompt_says_the_same_as_a_template(prompt, expected):
    assert shown(prompt, {"num_pairs": 7}) == expected


@given(st.lists(st.sampled_from(["{{", "}}", "{text}", "a", " ", "%", "#", "\n", '"'])))
def test_what_their_format_makes_of_it_ours_makes_too(parts):
    prompt = "".join(parts)
    try:
        expected = prompt.format(**dict.fromkeys(NAMES, "T"))
    except (ValueError, KeyError, IndexError):
        return
    row = dict.fromkeys(NAMES, "T")
    # A template drops one line end at its end, as jinja2 does.
    made = PromptTemplate(converted(prompt + "|")).render(row)
    assert made == expected + "|"
