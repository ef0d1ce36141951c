from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthnb.errors import TemplateError
from synthnb.recipes.templates import MAX_TEMPLATE_CHARS, PromptTemplate


def test_fields_are_found_and_filled():
    template = PromptTemplate(
        "{{ n }} about {{ topic|upper }}{% for x in xs %} {{ x }}{% endfor %}"
    )
    assert template.fields == ("n", "topic", "xs")
    assert (
        template.render({"n": 2, "topic": "bees", "xs": ["a", "b"]})
        == "2 about BEES a b"
    )


def test_literal_braces_are_text():
    text = 'Return {"question": "…"} or {} or {x}.\n'
    assert PromptTemplate(text).render({}) == text


@given(st.text())
def test_values_are_never_parsed(value):
    assert PromptTemplate("<{{ text }}>").render({"text": value}) == f"<{value}>"


@pytest.mark.parametrize(
    "value", ["{{ 7 * 7 }}", "{% for %}", "{# c #}", 'f({"name": 1})', "{0.__class__}"]
)
def test_document_text_is_no_template(value):
    assert PromptTemplate("{{ text }}").render({"text": value}) == value


def test_an_unknown_field_is_named_with_the_closest_column():
    with pytest.raises(TemplateError, match="'topc'") as caught:
        PromptTemplate("{{ topc }}", ["topic", "n"])
    assert "did you mean {{ topic }}" in caught.value.hint
    assert "topic, n" in caught.value.hint


def test_a_missing_value_is_an_error_not_an_empty_string():
    with pytest.raises(TemplateError, match="topic"):
        PromptTemplate("{{ topic }}").render({})


def test_a_syntax_error_says_the_line():
    with pytest.raises(TemplateError, match="line 2"):
        PromptTemplate("fine\n{{ broken")


def test_values_become_plain_data():
    class Hostile:
        secret = "s"

        def __str__(self):
            return "shown"

    assert PromptTemplate("{{ x }}").render({"x": Hostile()}) == "shown"
    with pytest.raises(TemplateError):
        PromptTemplate("{{ x.secret }}").render({"x": Hostile()})


def test_a_key_of_a_dict_wins_over_its_method():
    assert PromptTemplate("{{ x.items }}").render({"x": {"items": 3}}) == "3"


@pytest.mark.parametrize(
    "text",
    [
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ x['__class__']['__mro__'] }}",
        "{{ x|attr('__class__') }}",
        "{{ '{0.__class__}'.format(x) }}",
        "{{ range.__globals__ }}",
        "{{ x.__init__.__globals__ }}",
        "{{ self._TemplateReference__context }}",
        "{{ [x]|map(attribute='__class__')|first }}",
        "{{ xs.append(1) }}",
        "{{ d.update({'a': 1}) }}",
        "{% include 'x' %}",
        "{% import 'os' as os %}",
        "{% macro m() %}{% endmacro %}",
        "{% set a %}{{ x }}{% endset %}",
        "{{ _tick }}",
    ],
)
def test_there_is_no_way_out(text):
    with pytest.raises(TemplateError):
        print(PromptTemplate(text).render({"x": "abc", "xs": [1], "d": {}}))


@pytest.mark.parametrize(
    "text",
    [
        "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
        "{% for i in range(99999) %}{% for j in x * 9 if 0 %}{% endfor %}{% endfor %}",
        "{{ range(10**9) }}",
        "{{ 'x' * 1000000000 }}",
        "{{ 1000000000 * 'x' }}",
        "{{ [0] * 1000000000 }}",
        "{{ 9 ** 999999999 }}",
        "{{ '%1000000000d' % 1 }}",
        "{% set a = 'x' * 3000000 %}{% set a = a + a %}{{ a }}",
        "{{ x ~ x }}",
        "{{ x|replace('a', 'b' * 99999)|replace('b', 'c' * 99999) }}",
        "{{ range(99999)|join('x' * 999) }}",
        "{% for i in [1] recursive %}{{ loop([i]) }}{% endfor %}",
        "{% for i in range(99999) %}{{ 'x' * 999 }}{% endfor %}",
    ],
)
def test_bombs_are_refused(text):
    with pytest.raises(TemplateError):
        PromptTemplate(text).render({"x": "abc"})


def test_too_long_a_template_is_refused():
    with pytest.raises(TemplateError, match="characters"):
        PromptTemplate("x" * (MAX_TEMPLATE_CHARS + 1))


def test_deep_values_are_refused():
    value: object = "x"
    for _ in range(50):
        value = [value]
    with pytest.raises(TemplateError, match="nested"):
        PromptTemplate("{{ x }}").render({"x": value})


def test_equality_hash_and_pickle_follow_the_text():
    template = PromptTemplate("{{ a }}")
    assert pickle.loads(pickle.dumps(template)) == template
    assert hash(template) == hash(PromptTemplate("{{ a }}"))
    assert template != PromptTemplate("{{ b }}")
    assert "{{ a }}" in repr(template)


def test_a_missing_value_is_nothing_not_the_word_none():
    template = PromptTemplate(
        "[{{ a }}] {% if a is none %}no{% endif %} {{ a or 'x' }}"
    )
    assert template.render({"a": None}) == "[] no x"


_VALUES = st.one_of(
    st.text(max_size=12), st.integers(), st.none(), st.booleans(), st.floats()
)


@given(
    row=st.dictionaries(st.sampled_from(["a", "b", "c"]), _VALUES),
    pieces=st.lists(
        st.sampled_from(["{{ a }}", "{{b}}", "x { y", "z } }", "\n", "{# no #}"]),
        max_size=6,
    ),
)
def test_the_short_way_fills_in_as_jinja2_does(row, pieces):
    template = PromptTemplate("".join(pieces))
    slow = PromptTemplate("".join(pieces))
    slow._parts = None
    texts = []
    for one in (template, slow):
        try:
            texts.append(one.render(row))
        except TemplateError as error:
            texts.append(str(error))
    assert texts[0] == texts[1]
