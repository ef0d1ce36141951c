"""What a finished run leaves behind: readable without styles, pictures or a kernel."""

from __future__ import annotations

import re
from html import unescape

import pytest

from synthnb.widgets.markup import to_html
from synthnb.widgets.monitor_static import cost, finished, line, unfinished

STOPPED = (
    "stopped after 2:31 · 210 wanted, 203 ok, 2 failed, 5 not tried · 41,200 tokens · "
    "runs/handbook · the same cell goes on from here"
)
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\u202egnp"


def snapshot(**changes):
    plain = {
        "name": "handbook", "recipe": "qa", "model": "tiny", "state": "done",
        "final": True, "seconds": 151.0, "done": 210, "wanted": 210,
        "statuses": [
            {"name": "ok", "count": 203, "kind": "ok"},
            {"name": "truncated", "count": 4, "kind": "attention"},
            {"name": "server", "count": 3, "kind": "error"},
        ],
        "requests": 220, "retries": 2, "resumed": 0, "tokens": 41_200,
        "written": 30_000, "unknown_usage": 0, "local": False,
        "peek": [["question", "How long is the Danube?"], ["answer", "2,850 km"]],
        "series": {"step": 4.0, "rate": [1.0, 2.0], "flight": [8.0, 6.0]},
        "troubles": [
            {"name": "truncated", "count": 4, "detail": "cut off", "row_id": "r1",
             "next_step": "Raise max_tokens."},
            {"name": "server", "count": 3, "detail": "closed", "row_id": "r2",
             "next_step": "Look at the server's log."},
        ],
        "error": None, "folder": "runs/handbook",
    }  # fmt: skip
    return plain | changes


def words(html: str) -> str:
    """Return what is left where tags, styles and pictures are dropped, as on GitHub."""
    html = re.sub(r"<svg.*?</svg>", "", html)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


def test_the_one_line_says_it_all():
    assert line(snapshot()) == (
        "done in 2:31 · 210 wanted, 203 ok, 7 failed · 41,200 tokens · runs/handbook"
    )


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"state": "stopped", "done": 205}, STOPPED),
        ({"state": "error"}, "ended by an error after 2:31"),
        ({"wanted": None, "state": "stopped"}, "after 2:31 · 203 ok, 7 failed"),
        ({"unknown_usage": 3}, "at least 41,200 tokens"),
        ({"requests": 0, "resumed": 70, "tokens": 0}, "nothing bought, all from the ledger"),
        ({"local": True}, "41,200 tokens, local, no cost"),
    ],
)  # fmt: skip
def test_the_line_names_what_is_special(changes, text):
    assert text in line(snapshot(**changes))


def test_no_cost_is_made_up():
    assert cost(snapshot(tokens=0)) == "tokens unknown"
    assert cost(snapshot(tokens=0, local=True)) == "local, no cost"


def test_the_block_reads_well_as_bare_text():
    text = words(to_html(finished(snapshot())))
    assert "handbook · qa · tiny" in text
    assert "✓ done in 2:31 · 210 wanted, 203 ok, 7 failed · 41,200 tokens" in text
    assert "✓ 203 ok ▲ 4 truncated ✗ 3 server" in text
    assert "answers/s: 2, at most 2" in text
    assert "7 failed: truncated (4), server (3)" in text
    assert "closed (for example row r2) → Look at the server's log." in text
    assert "latest question How long is the Danube?" in text
    assert "Rows by status status rows ok 203 truncated 4 server 3" in text


def test_an_error_is_red_has_a_word_and_says_the_next_step():
    error = {"message": "key refused (401)", "hint": "Give a valid key."}
    html = to_html(finished(snapshot(state="error", error=error)))
    assert "--jp-error-color1" in html.partition("ended by an error")[0]
    text = words(html)
    assert "✗ ended by an error" in text
    assert "key refused (401) → Give a valid key." in text
    assert "the same cell goes on" in text


def test_a_run_that_nobody_watched_has_no_made_up_curves():
    html = to_html(
        finished(snapshot(series={"step": 1.0, "rate": [], "flight": []}, peek=[]))
    )
    assert "<svg" not in html
    assert "latest" not in html


def test_what_stands_in_for_the_live_view_says_what_to_do():
    text = words(to_html(unfinished(snapshot(state="running", done=48))))
    assert "running when this was shown" in text
    assert "Run the cell again" in text


def test_no_text_of_a_model_becomes_markup():
    trouble = {"name": HOSTILE, "count": 1, "detail": HOSTILE, "row_id": HOSTILE,
               "next_step": "x"}  # fmt: skip
    html = to_html(
        finished(
            snapshot(
                name=HOSTILE,
                model=HOSTILE,
                recipe=HOSTILE,
                folder=HOSTILE,
                peek=[[HOSTILE, HOSTILE]],
                troubles=[trouble],
                state="error",
                error={"message": HOSTILE, "hint": HOSTILE},
                statuses=[{"name": HOSTILE, "count": 1, "kind": "error"}],
            )
        )
    )
    assert not re.search(r"<(script|img)", html)
    assert "\u202e" not in html
    assert html.count("&lt;script&gt;") >= 9
