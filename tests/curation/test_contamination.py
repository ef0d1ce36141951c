from __future__ import annotations

import pandas as pd
import pytest

import synthnb as sn
from synthnb.errors import ConfigError, FrameError

LONG = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
)
OTHER = "a b c d e f g h i j k l m n o p"


def marked(texts, benchmark, **options):
    df = pd.DataFrame({"question": texts, "answer": ["x"] * len(texts)})
    return sn.contamination(df, {"bench": benchmark}, **options)


def test_thirteen_words_running_are_enough_whatever_stands_around_them():
    copied = "Say: One, two THREE four; five six seven eight nine ten eleven twelve thirteen!"
    done = marked(
        [f"{copied} And {OTHER} and more and more words of its own.", OTHER], [LONG]
    )
    assert list(done["contaminated"]) == [True, False]
    assert done["contaminated_by"][0] == "bench: " + LONG.rsplit(" ", 1)[0]
    assert done["contaminated_by"].isna()[1]
    assert 0 < done["overlap"][0] < 0.5
    assert done.attrs["contamination"] == {"bench": 1}


def test_twelve_words_are_not_but_most_runs_of_eight_are():
    twelve = " ".join(LONG.split()[:12])
    done = marked([f"{twelve} {OTHER}", f"{twelve} new"], [LONG])
    assert list(done["contaminated"]) == [False, True]
    assert done["overlap"][1] == pytest.approx(5 / 6)


def test_a_short_text_is_only_where_it_stands_whole():
    done = marked(["What is 2 + 2?", "What is 2 + 3?"], ["what is 2 + 2", None, LONG])
    assert list(done["contaminated"]) == [True, False]


def test_scripts_without_spaces_have_their_runs_too():
    text = "東京は日本の首都であり世界最大の都市圏の一つである"
    done = marked([f"質問：{text}。", "大阪は西日本の中心都市である"], [text])
    assert list(done["contaminated"]) == [True, False]


def test_several_benchmarks_are_told_apart_and_missing_texts_are_none():
    df = pd.DataFrame({"question": [LONG, None], "answer": [OTHER, None]})
    done = sn.contamination(df, {"a": [LONG], "b": [OTHER], "c": ["nothing"]})
    assert done["contaminated_by"][0].startswith("a: one two")
    assert "; b: a b c" in done["contaminated_by"][0]
    assert done.attrs["contamination"] == {"a": 1, "b": 1, "c": 0}
    assert list(done["contaminated"]) == [True, False]
    assert "contaminated" not in df.columns


def test_what_is_missing_is_named():
    df = pd.DataFrame({"question": ["q"]})
    with pytest.raises(ConfigError, match="no benchmark"):
        sn.contamination(df, {})
    with pytest.raises(ConfigError, match="'b' has no text"):
        sn.contamination(df, {"b": [None, 3]})
    with pytest.raises(FrameError, match="question"):
        sn.contamination(pd.DataFrame({"x": [1]}), {"b": ["t"]})
