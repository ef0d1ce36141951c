from __future__ import annotations

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from synthnb.recipes.json_text import extract_json
from synthnb.recipes.parsing import items
from synthnb.recipes.reasoning import split_reasoning

TEXT = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(
    [
        "a\nb\tc",
        "```python\nx = [1, {'a': 2}]\n```",
        '"quoted" \\" [x] {y}',
        "</think>",
        "😀\x00",
    ]
)
PAIRS = st.lists(
    st.fixed_dictionaries({"question": TEXT, "answer": TEXT}), min_size=1, max_size=4
)
WRAPPERS = st.sampled_from(
    [
        "{}",
        "Here you are, see [1] and {{x}}:\n{}\nI hope that helps [2].",
        "<think>perhaps [1] or {{'a': 1}} {{\"q\": 2}}</think>\n{}",
        'reasoned {{"question": 1}} so\n</think>{}',
    ]
)


def extracted(text):
    return extract_json(split_reasoning(text)[1])


@settings(deadline=None)
@given(PAIRS, WRAPPERS, st.booleans(), st.sampled_from([None, 2]))
def test_wrapped_pairs_come_back_as_they_were(pairs, wrapper, ascii_only, indent):
    dumped = json.dumps(pairs, ensure_ascii=ascii_only, indent=indent)
    found = extracted(wrapper.format(dumped))
    assert found is not None
    assert found.value == pairs
    assert not found.repaired
    assert not found.truncated


@settings(deadline=None)
@given(PAIRS, st.sampled_from(["```json\n", "```\n", "Sure!\n```JSON\n"]))
def test_fenced_pairs_come_back_as_they_were(pairs, opening):
    found = extracted(f"{opening}{json.dumps(pairs, indent=1)}\n```\nDone.")
    assert found is not None
    assert (found.value, found.repaired, found.truncated) == (pairs, False, False)


@given(
    PAIRS,
    st.data(),
    st.sampled_from(["{}", '{{"pairs": {}}}', "```json\n{}\n```", "Here:\n{}"]),
)
@example([{"question": "q", "answer": "use {x} now"}], None, "{}")
def test_cut_anywhere_gives_whole_items_only(pairs, data, form):
    text = form.format(json.dumps(pairs))
    whole_at = len(text.rstrip("`\n"))
    cuts = (
        range(whole_at) if data is None else [data.draw(st.integers(0, whole_at - 1))]
    )
    for cut in cuts:
        for finished in (False, True):
            found = extract_json(text[:cut], finished=finished)
            if found is None:
                continue
            got = items(found.value, ("question", "answer"))
            if finished and found.repaired:
                assert not found.truncated
                continue
            assert found.truncated or got == pairs
            assert got == pairs[: len(got)]


@settings(deadline=None)
@given(
    st.text() | st.text(alphabet=list('{}[]",:\\ ae1`\n'), max_size=80), st.booleans()
)
def test_garbage_never_raises(text, finished):
    found = extract_json(text, finished=finished)
    assert found is None or isinstance(found.value, dict | list)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 20_000,
        '{"a":' * 20_000,
        "[{" * 20_000,
        '{"a' * 20_000,
        '[{"a": ' + "9" * 5000 + "}]",
    ],
    ids=["lists", "objects", "both", "strings", "number"],
)
@pytest.mark.parametrize("finished", [False, True])
def test_hostile_nesting_is_survived(text, finished):
    found = extract_json(text, finished=finished)
    assert found is None or found.repaired or found.truncated


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I cannot do that.",
        "See [1] and [2, 3] for details.",
        "[1, 2, 3]",
        '["a", "b"]',
        "42",
        '"text"',
        "null",
        "the set {a, b}",
    ],
)
def test_what_holds_no_object_is_none(text):
    assert extract_json(text) is None


def test_brackets_in_prose_are_not_taken_for_the_answer():
    found = extract_json(
        'As [1] says, {see} [2]: [{"question": "q", "answer": "[3]"}] [4]'
    )
    assert found is not None
    assert found.value == [{"question": "q", "answer": "[3]"}]


def test_case_30_cut_in_the_second_item():
    found = extract_json('[{"question":"q1","answer":"a1"},{"question":"q2","ans')
    assert found is not None
    assert found.value == [{"question": "q1", "answer": "a1"}]
    assert found.truncated


def test_a_cut_object_alone_is_truncated_and_empty():
    found = extract_json('{"question": "q1", "answer": "half')
    assert found is not None
    assert (found.value, found.truncated) == ([], True)


def test_objects_after_another_are_a_list():
    found = extract_json('Two lines:\n{"q": 1}\n{"q": 2}\n{"q": ')
    assert found is not None
    assert (found.value, found.truncated) == ([{"q": 1}, {"q": 2}], True)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{'question': 'q', 'answer': 'a'}", {"question": "q", "answer": "a"}),
        ('[{"question": "q", "answer": "a",},]', [{"question": "q", "answer": "a"}]),
        (
            '{"question": "q", "answer": "line 1\nline 2"}',
            {"question": "q", "answer": "line 1\nline 2"},
        ),
    ],
)
def test_broken_json_is_repaired_and_says_so(text, value):
    found = extract_json(text, finished=True)
    assert found is not None
    assert found.value == value
    assert found.repaired


def test_case_70_code_in_an_answer_keeps_its_lines():
    code = 'def f(x):\n    return {"a": [x, "\\n"]}\n'
    found = extract_json(
        "```json\n" + json.dumps([{"question": "q", "answer": code}]) + "\n```"
    )
    assert found is not None
    assert found.value[0]["answer"] == code


def test_lone_surrogates_become_a_sign_and_are_flagged():
    found = extract_json(
        '{"answer": "a\\ud800b", "nul": "\\u0000", "ok": "\\ud83d\\ude00"}'
    )
    assert found is not None
    assert found.value == {"answer": "a\ufffdb", "nul": "\x00", "ok": "😀"}
    assert found.repaired


def test_nan_is_no_json():
    found = extract_json('{"rating": NaN}')
    assert found is None or found.repaired
