"""Ids must be the same for ever: runs on disk are found again by them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from synthnb.fingerprint import content_hash, request_key, row_hash
from synthnb.records import Message, Request, Sampling

_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=20)
_VALUES = st.one_of(
    _TEXT,
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.lists(st.integers(), max_size=3),
)


@given(st.dictionaries(_TEXT, _VALUES, max_size=5))
def test_the_short_way_gives_the_hash_of_the_canonical_form(row):
    assert row_hash(row) == content_hash(row)


def test_ids_that_are_on_disk_stay_the_same():
    assert row_hash({"n": 1, "text": "Käse \u0001\n€"}) == "adb93db3bda5dea3"
    request = Request(
        (Message("system", "Be brief."), Message("user", "Grüße \ud800")),
        Sampling(temperature=0.7, max_tokens=64, seed=3),
        {"type": "object"},
    )
    assert request_key("m", request) == "c769af9ac8cf2090ebfa064911e94c23"
    assert request_key(None, request) != request_key("m", request)


@given(st.lists(st.tuples(st.sampled_from(["system", "user"]), _TEXT), max_size=4))
def test_no_two_splits_of_the_same_text_share_a_key(pairs):
    messages = tuple(Message(role, text) for role, text in pairs)
    joined = (Message("user", "".join(text for _, text in pairs)),)
    same = messages == joined
    keys = {request_key("m", Request(messages)), request_key("m", Request(joined))}
    assert len(keys) == (1 if same else 2)
