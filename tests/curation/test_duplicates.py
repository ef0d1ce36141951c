"""Near-duplicates: against brute force, against datasketch, and by their promises."""

from __future__ import annotations

import random

import pandas as pd
import pytest
from datasketch import MinHash, MinHashLSH
from hypothesis import given, settings
from hypothesis import strategies as st

from synthnb.curation import deduplicate
from synthnb.curation.duplicates import _bands, _candidates, jaccard, shingles
from synthnb.curation.words import normalise
from synthnb.errors import ConfigError, FrameError

PLACES = [
    "the river",
    "the old town",
    "a lighthouse",
    "our library",
    "the harbour",
    "the bakery",
]
ASKED = [
    "How long",
    "Who built",
    "When was",
    "Why should people visit",
    "What is known about",
]
TAILS = "today,in winter,before the war,according to local people,and its surroundings"


def frame(questions, **columns):
    ids = [f"r{i}" for i in range(len(questions))]
    return pd.DataFrame({"record_id": ids, "question": questions, **columns})


def marked(df, **options):
    found = deduplicate(df, **options)["duplicate_of"]
    return [None if pd.isna(value) else value for value in found]


def questions(count, seed=7):
    """Return questions half of which repeat an earlier one with small changes."""
    rng = random.Random(seed)
    made = []
    for _ in range(count):
        if made and rng.random() < 0.5:
            text = rng.choice(made)
            for _ in range(rng.randint(1, 2)):
                place = rng.randrange(len(text))
                text = (
                    text[:place] + rng.choice(["", "x", "ly ", "s"]) + text[place + 1 :]
                )
            made.append(text)
        else:
            words = (
                rng.choice(ASKED),
                rng.choice(PLACES),
                rng.choice(TAILS.split(",")),
            )
            made.append(" ".join(words) + f" {''.join(rng.choices('abcdefgh', k=12))}?")
    return made


def similar_pairs(texts, threshold):
    sets = [shingles(normalise(text)) for text in texts]
    return {
        (i, j)
        for j in range(len(sets))
        for i in range(j)
        if jaccard(sets[i], sets[j]) >= threshold
    }


def found_pairs(texts, threshold):
    sets = [shingles(normalise(text)) for text in texts]
    return {
        (i, j)
        for j, candidates in enumerate(_candidates(sets, threshold))
        for i in candidates
        if jaccard(sets[i], sets[j]) >= threshold
    }


@pytest.mark.parametrize("threshold", [0.5, 0.7, 0.85])
def test_brute_force_finds_hardly_more(threshold):
    texts = list(dict.fromkeys(questions(600)))
    truth = similar_pairs(texts, threshold)
    found = found_pairs(texts, threshold)
    assert len(truth) >= 20
    assert found <= truth
    assert len(found) >= 0.95 * len(truth)


def test_datasketch_finds_the_same():
    texts = list(dict.fromkeys(questions(400)))
    index = MinHashLSH(params=(18, 7), num_perm=126)
    pairs = set()
    sets = [shingles(normalise(text)) for text in texts]
    for j, shingled in enumerate(sets):
        sketch = MinHash(num_perm=126, seed=1)
        sketch.update_batch([s.encode() for s in shingled])
        near = (int(i) for i in index.query(sketch))
        pairs |= {(i, j) for i in near if jaccard(sets[i], shingled) >= 0.85}
        index.insert(str(j), sketch)
    found = found_pairs(texts, 0.85)
    assert len(found & pairs) >= 0.95 * len(found | pairs)


@pytest.mark.parametrize("threshold", [0.05, 0.3, 0.5, 0.7, 0.85, 0.99, 1.0])
def test_bands_miss_a_pair_at_the_threshold_at_most_once_in_a_thousand(threshold):
    bands, rows = _bands(threshold)
    missed = (1 - threshold**rows) ** bands
    assert missed <= 1e-3 or (bands, rows) == (128, 1)
    assert bands * rows <= 128


def test_duplicates_point_to_a_kept_row_that_is_like_them():
    texts = questions(500)
    ids = marked(frame(texts))
    for i, leader in enumerate(ids):
        if leader is None:
            continue
        j = int(leader[1:])
        assert ids[j] is None
        assert j < i
        assert jaccard(*(shingles(normalise(texts[k])) for k in (i, j))) >= 0.85
    assert sum(leader is not None for leader in ids) > 50


def test_case_width_space_and_punctuation_make_no_difference():
    texts = [
        "How long is it?",
        "  how LONG  is it ",
        "Ｈow long is it?!",
        "How wide is it?",
    ]
    assert marked(frame(texts)) == [None, "r0", "r0", None]


def test_other_numbers_are_other_questions():
    texts = [
        "What happened in the old town of Vienna in the year 1950?",
        "What happened in the old town of Vienna in the year 1951?",
        "What happened in the old town of Vienna in that year, 1950?",
    ]
    assert marked(frame(texts), threshold=0.6) == [None, None, "r0"]


def test_rows_that_failed_or_are_empty_take_no_part():
    df = frame(["Same?"] * 5, status=["ok", "truncated", None, "ok", "ok"])
    df.loc[4, "question"] = None
    assert marked(df) == [None, None, None, "r0", None]
    assert marked(frame(["?!", "?!", "", None])) == [None] * 4


def test_the_best_rated_of_a_group_may_stay():
    df = frame(["Same one?", "same one", "SAME ONE"], rating=[3.0, None, 9.0])
    assert marked(df) == [None, "r0", "r0"]
    assert marked(df, keep="best") == ["r2", "r2", None]
    tied = df.assign(rating=[5.0, 5.0, None])
    assert marked(tied, keep="best") == [None, "r0", "r0"]


def test_several_columns_are_compared_as_one():
    df = frame(["Same?"] * 3, answer=["yes it is", "yes, it is", "never at all"])
    assert marked(df, on=["question", "answer"]) == [None, "r0", None]


def test_nothing_is_dropped_and_the_frame_is_left_alone():
    df = frame(["Same?", "Same?"])
    made = deduplicate(df)
    assert len(made) == 2
    assert str(made["duplicate_of"].dtype) == "string"
    assert "duplicate_of" not in df.columns
    assert marked(made) == [None, "r0"]  # a second time gives the same
    assert str(deduplicate(df.head(0))["duplicate_of"].dtype) == "string"


def test_what_cannot_be_done_is_said():
    df = frame(["a"])
    with pytest.raises(FrameError, match="'questions'"):
        deduplicate(df, on="questions")
    with pytest.raises(FrameError, match="rating"):
        deduplicate(df, keep="best")
    with pytest.raises(FrameError, match="record_id"):
        deduplicate(df[["question"]])
    for threshold in (0, 1.01, -1):
        with pytest.raises(ConfigError, match="threshold"):
            deduplicate(df, threshold=threshold)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.text(max_size=12), max_size=8), st.floats(0.1, 1.0))
def test_any_texts_give_a_flat_marking(texts, threshold):
    ids = marked(frame(texts), threshold=threshold)
    for leader in filter(None, ids):
        assert ids[int(leader[1:])] is None
