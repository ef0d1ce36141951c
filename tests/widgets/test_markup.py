"""Static blocks: all text escaped, and nothing that acts."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthnb.widgets.markup import clip, to_html, visible


def test_text_and_attributes_are_escaped():
    node = ("p", {"title": 'a"b<c'}, "1 < 2 & ", ("strong", {}, "<b>"))
    assert to_html(node) == (
        '<p title="a&quot;b&lt;c">1 &lt; 2 &amp; <strong>&lt;b&gt;</strong></p>'
    )


@pytest.mark.parametrize(
    "tag", ["script", "a", "img", "iframe", "style", "p onclick", ""]
)
def test_elements_that_act_are_refused(tag):
    with pytest.raises(ValueError, match="not on the list"):
        to_html((tag, {}))


@pytest.mark.parametrize(
    "name", ["onclick", "href", "src", "srcset", "xlink:href", "x y"]
)
def test_attributes_that_act_are_refused(name):
    with pytest.raises(ValueError, match="not on the list"):
        to_html(("p", {name: "x"}))


@pytest.mark.parametrize(
    "value", ["background:url(http://x)", "width:expression(1)", "@import x", "a\\62"]
)
def test_styles_hold_plain_values_only(value):
    with pytest.raises(ValueError, match="more than plain values"):
        to_html(("p", {"style": value}))


def test_flags_and_missing_values():
    assert to_html(("details", {"open": True})) == '<details open=""></details>'
    assert to_html(("details", {"open": False, "title": None})) == "<details></details>"


def test_hidden_characters_are_shown():
    assert visible("a\u202eb\x1b[3m\nc\td\ud800") == "aU+202EbU+001B[3m\nc\tdU+D800"


def test_clip_keeps_what_fits():
    assert clip("abcd", 4) == "abcd"
    assert clip("abcde", 4) == "abc…"


class Reader(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.text = [], ""

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


@given(st.text(), st.text())
def test_any_text_comes_back_as_text(text, title):
    reader = Reader()
    reader.feed(to_html(("p", {"title": title}, text)))
    reader.close()
    assert [tag for tag, _ in reader.tags] == ["p"]
    assert reader.text == visible(text)
    assert list(reader.tags[0][1]) == ["title"]
