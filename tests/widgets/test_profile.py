"""A profile's page and text: all figures are there, and no text of the data acts."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import pandas as pd
import pytest

from synthnb.errors import ConfigError, FrameError
from synthnb.widgets.profile import profile
from synthnb.widgets.profile_blocks import bars, histogram, number, percent
from synthnb.widgets.profile_strips import cell_name, sentences
from synthnb.widgets.profile_view import ProfileView

RECORDS = pd.DataFrame(
    {
        "record_id": ["r0", "r1", "r2", "r3"],
        "status": ["ok", "ok", "truncated", "server"],
        "source": ["a.md", "a.md", "a.md", "b.md"],
        "chunk_id": ["a1", "a1", "a2", "b1"],
        "question": ["What is it?", "Who is it?", None, None],
        "answer": ["A river.", "A duke.", None, None],
        "rating": [7.0, 3.0, None, None],
        "model": ["tiny"] * 4,
        "row_id": ["a1", "a1", "a2", "b1"],
        "prompt_tokens": [10, 10, 20, 30],
        "completion_tokens": [5, 5, 6, 0],
    }
)
CHUNKS = pd.DataFrame({"chunk_id": ["a1", "a2", "a3", "b1"], "source": ["a.md"] * 3 + ["b.md"]})  # fmt: skip


class Page(HTMLParser):
    """What a page says, and everything in it that could act."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.names, self.images, self.text = set(), set(), [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.names |= {name for name, _ in attrs}
        if ("role", "img") in attrs:
            self.images.append(dict(attrs).get("aria-label") or tag)

    def handle_data(self, data):
        self.text.append(data)


def html_of(*args, **options):
    return profile(*args, **options)._repr_mimebundle_()["text/html"]


class Reviewer:
    def __init__(self):
        self.wanted = []

    def filter(self, **wanted):
        self.wanted.append(wanted)


def test_the_figures_are_plain_values_and_a_copy():
    made = profile(RECORDS, chunks=CHUNKS)
    found = made.to_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["kept"] == 2
    found["kept"] = 99
    assert made.to_dict()["kept"] == 2


def test_the_text_holds_the_same_figures():
    lines = repr(profile(RECORDS, chunks=CHUNKS)).splitlines()
    assert lines[0] == "Profile: 4 rows, 2 kept (status ok)"
    assert "status        ok 2, truncated 1, server 1" in lines
    assert "rating        median 5, from 3 to 7, 2 not rated" in lines
    assert any(
        line.startswith("tokens        prompt 60, completion 11") for line in lines
    )
    assert "no prices are known" in "".join(lines)
    assert "1 of 4 chunks gave rows that are kept; 2 gave only rows that are not; 1 gave none." in "\n".join(lines)  # fmt: skip
    assert any(line.strip() == "a.md: 2 0 –" for line in lines)
    assert lines[-1].startswith("Not in this frame, so left out: ")
    assert "decision" in lines[-1]


def test_every_picture_has_words_and_a_table():
    page = Page(html_of(RECORDS, chunks=CHUNKS))
    assert "Status, rows: ok 2, truncated 1, server 1" in page.images
    assert page.images.count("svg") == 4  # two lengths, the rating, a call's tokens
    assert {"svg", "title", "desc", "table", "details", "summary"} <= page.tags
    assert page.text.count("Numbers") == len(page.images) - 1  # two strips share one
    text = " ".join(page.text)
    assert "Rating: 2 values, median 5, from 3 to 7" in text
    assert "1 of 4 chunks gave rows that are kept" in text


def test_without_pictures_and_styles_the_words_remain():
    """What GitHub leaves of it: text in its order, and tables."""
    text = "".join(Page(html_of(RECORDS, chunks=CHUNKS)).text).replace("\u00a0", " ")
    assert "✓ ok 2 (50 %)" in text
    assert "▲ truncated 1 (25 %)" in text
    assert "✗ server 1 (25 %)" in text
    assert "a.md 1 of 3 chunks" in text
    assert " 2   0   – " in text


def test_nothing_on_the_page_acts_or_is_fetched():
    page = Page(html_of(RECORDS, chunks=CHUNKS))
    assert not page.tags & {"script", "style", "img", "iframe", "a", "button", "input"}
    assert not {n for n in page.names if n.startswith("on") or n in {"href", "src"}}


HOSTILE = [
    "<script>window.hit=1</script>",
    '"><img src=x onerror=window.hit=1>',
    "' onmouseover='window.hit=1",
    "</title></svg><script>window.hit=1</script>",
    "url(http://127.0.0.1:9/x)",
    "\x1b]8;;http://x\x07link\x1b]8;;\x07 \x1b[2J",
    "safe \u202etxt.exe",
    "\ud800",
    "W" * 100_000,
]  # fmt: skip


def test_hostile_texts_stay_text_in_html_and_terminal():
    names = ["status", "decision", "model", "finish_reason", "source", "chunk_id",
             "question", "answer", "adapted", *HOSTILE]  # fmt: skip
    df = pd.DataFrame([[text] * len(names) for text in HOSTILE], dtype=object)
    df.columns = pd.Index(names, dtype=object)
    made = profile(df, chunks=df)
    html = made._repr_mimebundle_()["text/html"]
    page = Page(html)
    assert not page.tags & {"script", "img"}
    assert not {n for n in page.names if n.startswith("on")}
    assert len(html) < 200_000
    assert "\u202e" not in html
    for text in (repr(made), html):
        assert "\x1b" not in text
        text.encode()
    assert max(map(len, repr(made).splitlines())) < 700


@pytest.mark.parametrize("rows", [0, 2])
def test_a_frame_with_nothing_in_it_has_a_page(rows):
    empty = RECORDS.iloc[:0].reindex(range(rows))
    made = profile(empty)
    assert f"{rows} rows, 0 kept" in repr(made)
    assert Page(made._repr_mimebundle_()["text/html"]).text
    assert "no column says" in repr(profile(pd.DataFrame({"x": [1]})))


def test_what_is_no_frame_is_refused():
    with pytest.raises(FrameError, match="takes a DataFrame, not list"):
        profile([1])
    with pytest.raises(FrameError, match="chunk_id"):
        profile(RECORDS, chunks=pd.DataFrame({"x": [1]}))


# live beside a review -------------------------------------------------------------------


def test_without_a_review_there_is_no_widget():
    bundle = profile(RECORDS)._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}


def test_pressing_a_cell_filters_the_review():
    reviewer = Reviewer()
    view = ProfileView(profile(RECORDS, chunks=CHUNKS).to_dict(), reviewer)
    answer = view.on_pick({"strip": 0, "cell": 1})
    assert reviewer.wanted[-1] == {"source": "", "chunk": "a2"}
    assert answer["said"] == "the review shows chunk 2 of 3: 0 kept of 1 row"
    view.on_pick({})
    assert reviewer.wanted[-1] == {"source": "", "chunk": ""}
    for wrong in ({"strip": 9, "cell": 0}, {"strip": 0}, {"strip": "x", "cell": None}):
        with pytest.raises(ConfigError):
            view.on_pick(wrong)


def test_a_cell_of_many_chunks_filters_by_its_document():
    df = pd.DataFrame({"chunk_id": range(450), "source": ["long.md"] * 450})
    reviewer = Reviewer()
    view = ProfileView(profile(df).to_dict(), reviewer)
    view.on_pick({"strip": 0, "cell": 1})
    assert reviewer.wanted == [{"source": "long.md", "chunk": ""}]
    assert "a cell is 3 chunks" in str(view.on_open({})["tree"])


def test_the_live_tree_can_be_sent_and_its_cells_pressed():
    bundle = profile(RECORDS, review=Reviewer())._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    tree = json.dumps(ProfileView(profile(RECORDS).to_dict(), Reviewer()).on_open({}))
    assert tree.count('"role": "button"') == 3
    assert '"role": "button"' not in bundle["text/html"]


def test_nothing_of_the_data_is_a_trait():
    view = ProfileView(profile(RECORDS).to_dict(), Reviewer())
    assert "a.md" not in json.dumps(view.get_state(), default=str)


# words ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "total", "said"),
    [(0, 9, "0 %"), (1, 1000, "<1 %"), (999, 1000, ">99 %"), (9, 9, "100 %"), (0, 0, "–")],
)  # fmt: skip
def test_shares_never_round_something_to_nothing(n, total, said):
    assert percent(n, total) == said


def test_numbers_as_people_write_them():
    shown = [number(n) for n in (None, 7.0, 1203, 65.519, 0.12345, -2.5)]
    assert shown == ["–", "7", "1,203", "65.5", "0.123", "-2.5"]


def test_bars_are_as_long_as_their_numbers():
    tree = str(bars("x", [("a", 4), ("b", 1)], 5))
    assert "*1.000)" in tree
    assert "*0.250)" in tree


def test_a_histogram_of_nothing_says_so():
    assert "no values" in str(histogram("x", {"n": 0, "bins": []}, ""))


def test_a_cell_says_what_it_stands_for():
    strip = {"chunks": 1200}
    cell = {"first": 7, "last": 12, "page": 3, "rows": 9, "kept": 4, "empty": 2}
    assert cell_name(strip, cell) == (
        "chunks 7 to 12 of 1,200, page 3: 4 kept of 9 rows, 2 of its chunks without"
    )


def test_what_the_strips_cannot_show_is_said():
    chunks = pd.DataFrame(
        {"chunk_id": range(40), "source": [f"d{i}" for i in range(40)]}
    )
    df = pd.DataFrame({"chunk_id": [1, 1, None, 99], "status": ["ok"] * 4})
    said = " ".join(sentences(profile(df, chunks=chunks).to_dict()["coverage"]))
    assert "1 of 40 chunks gave rows that are kept; 39 gave none." in said
    assert "1 row without a chunk left out." in said
    assert "1 row of other chunks" in said
    assert "10 others are not shown" in said
    assert "chunks=" not in said
    alone = " ".join(sentences(profile(df).to_dict()["coverage"]))
    assert "Only the chunks that stand in the rows are known" in alone
