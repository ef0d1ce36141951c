import dataclasses
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthnb.documents import chunk_document, chunk_rows, estimate_tokens
from synthnb.errors import ConfigError
from synthnb.records import Document, Page

SENTENCE = "The quick brown fox jumps over the lazy dog at noon. "


def words(text):
    return len(text.split())


def letters_and_a_half(text):
    """A counter that does not add up: joining texts saves tokens."""
    return (len(text) * 2 + 2) // 3


def chunks_of(text, tokens=40, overlap=0, count=words):
    return chunk_document(
        Document("s", text), chunk_tokens=tokens, overlap=overlap, count=count
    )


PIECES = st.sampled_from(
    [
        *("word", "Sentence end.", " ", "\n", "\n\n", "今天很好。", "我们", "x" * 50),
        *("# Head\n", "- item\n", "| a | b |\n", "Dr. ", "...", "\t", "\u00a0"),
        *("e\u0301", "👨\u200d👩"),
    ]
)
TEXTS = st.one_of(
    st.lists(PIECES, max_size=60).map("".join),
    st.lists(PIECES, max_size=60).map(" ".join),
    st.text(max_size=300),
)
COUNTERS = st.sampled_from([len, estimate_tokens, letters_and_a_half])


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.integers(1, 60), st.data())
def test_the_promises_hold_for_any_text(text, bound, data):
    overlap = data.draw(st.integers(0, bound - 1))
    count = data.draw(COUNTERS)
    chunks = chunks_of(text, bound, overlap, count)

    covered = set()
    for chunk in chunks:
        assert chunk.text == text[chunk.start : chunk.end]
        assert chunk.text == chunk.text.strip()
        assert chunk.text
        assert chunk.tokens == count(chunk.text) <= bound
        covered.update(range(chunk.start, chunk.end))
    missed = set(range(len(text))) - covered
    assert all(text[i].isspace() for i in missed)

    for before, after in pairwise(chunks):
        assert before.start < after.start
        assert before.end < after.end
        if not overlap:
            assert before.end <= after.start


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=80),
    st.integers(10, 60),
    st.data(),
)
def test_overlap_is_real(lengths, bound, data):
    """Sentences of any length, counted in words: each chunk repeats about ``overlap``."""
    overlap = data.draw(st.integers(1, bound // 2))
    text = " ".join("word " * (n - 1) + "End." for n in lengths)
    chunks = chunks_of(text, bound, overlap)
    for before, after in pairwise(chunks):
        shared = words(text[after.start : before.end])
        whole = min(overlap, before.tokens - 1)
        assert whole / 2 <= shared <= max(1.5 * overlap, 1)
        assert text[after.start - 1].isspace()


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(1, 20), min_size=1, max_size=80), st.integers(20, 60))
def test_a_sentence_that_fits_is_never_cut(lengths, bound):
    text = " ".join("word " * (n - 1) + "End." for n in lengths)
    for chunk in chunks_of(text, bound):
        assert chunk.text.endswith("End.")


@given(st.text(alphabet=" \n\t\r\u00a0\u3000", max_size=50))
def test_blank_text_gives_no_chunk(text):
    assert chunks_of(text) == ()


def test_text_without_blank_lines_is_cut_within_the_bound():
    chunks = chunks_of("a. " * 30_000, 400, 40, estimate_tokens)
    assert len(chunks) == 167
    assert {chunk.tokens for chunk in chunks[:-1]} == {400}
    assert all(chunk.text.endswith("a.") for chunk in chunks)


def test_a_word_longer_than_a_chunk_is_cut_inside():
    chunks = chunks_of("Before " + "x" * 100_000 + " after.", 400, 0, len)
    assert chunks[0].text == "Before"
    assert "".join(c.text for c in chunks[1:-1]) == "x" * 100_000
    assert chunks[-1].text == "after."


def test_text_of_ideographs_is_cut_at_its_sentences():
    chunks = chunks_of("今天天气很好。我们去公园吧。" * 500, 100, 10, estimate_tokens)
    assert len(chunks) > 70
    assert all(chunk.text.endswith("。") for chunk in chunks)
    assert all(chunk.tokens <= 100 for chunk in chunks)


def test_no_visible_character_is_cut_in_two():
    chunks = chunks_of("e\u0301" * 300, 25, 0, len)
    assert all(not chunk.text.startswith("\u0301") for chunk in chunks)


def test_a_chunk_is_cut_at_a_paragraph_where_that_costs_little():
    text = (SENTENCE * 3 + "\n\n") * 4
    assert [c.tokens for c in chunks_of(text, 50)] == [33, 33, 33, 33]


def test_but_not_where_it_would_leave_a_chunk_half_empty():
    text = SENTENCE + "\n\n" + SENTENCE * 10
    assert chunks_of(text, 50)[0].tokens == 44


def test_no_chunk_ends_with_a_heading():
    text = "\n\n".join(f"## Part {i}\n\n{SENTENCE * 2}" for i in range(20))
    for chunk in chunks_of(text, 30):
        assert chunk.text.startswith("## Part")
        assert chunk.text.endswith("noon.")


def test_wrapped_lines_are_cut_at_a_line_when_there_is_no_sentence():
    text = "\n".join(["five words stand in line"] * 50)
    assert {c.tokens for c in chunks_of(text, 12)} == {10}


def test_overlap_starts_at_a_sentence():
    chunks = chunks_of(SENTENCE * 20, 50, 11)
    assert [c.tokens for c in chunks[:2]] == [44, 44]
    assert all(chunk.text.startswith("The quick") for chunk in chunks)
    for before, after in pairwise(chunks):
        assert before.end - after.start == len(SENTENCE.strip())


def test_overlap_starts_at_a_word_when_sentences_are_long():
    chunks = chunks_of("word " * 200, 50, 10)
    shared = chunks[0].text[chunks[1].start :]
    assert shared == "word " * 9 + "word"


def test_an_overlap_that_leaves_no_room_is_given_up():
    chunks = chunks_of("aaaa bbbbbbb ccccccc", 8, 7, len)
    assert [chunk.text for chunk in chunks][-1].endswith("ccccccc")
    assert all(len(chunk.text) <= 8 for chunk in chunks)


def test_a_chunk_knows_the_page_on_which_it_starts():
    text = "First page. " * 10 + "Second page. " * 10
    pages = (Page(1, 0, 120), Page(2, 120, len(text)))
    chunks = chunk_document(
        Document("s", text, pages), chunk_tokens=5, overlap=0, count=words
    )
    assert [c.page for c in chunks] == [1] * 5 + [2] * 5
    assert chunks_of(text)[0].page is None


def test_an_empty_page_is_passed_over():
    pages = (Page(1, 0, 3), Page(2, 5, 5), Page(3, 5, 8))
    chunks = chunk_document(
        Document("s", "One\n\nTwo", pages), chunk_tokens=1, overlap=0, count=words
    )
    assert [c.page for c in chunks] == [1, 3]


def test_ids_follow_the_content_and_the_place():
    text = SENTENCE * 30
    first, again = chunks_of(text), chunks_of(text)
    assert [c.chunk_id for c in first] == [c.chunk_id for c in again]
    assert len({c.chunk_id for c in first}) == len(first)
    other = chunk_document(
        Document("other", text), chunk_tokens=40, overlap=0, count=words
    )
    assert other[0].chunk_id != first[0].chunk_id


def test_rows_have_the_columns_of_the_table():
    chunks = chunks_of(SENTENCE)
    assert chunk_rows(chunks) == [dataclasses.asdict(chunks[0])]
    assert list(chunk_rows(chunks)[0]) == [
        *("chunk_id", "source", "page", "start", "end", "text", "tokens")
    ]
    assert chunk_rows(()) == []


@pytest.mark.parametrize(
    ("tokens", "overlap", "said"),
    [
        (40, 40, "overlap=40 does not go with chunk_tokens=40"),
        (40, 50, "overlap=50"),
        (40, -1, "overlap=-1"),
        (0, 0, "chunk_tokens=0"),
    ],
)
def test_numbers_that_do_not_go_together_are_refused(tokens, overlap, said):
    with pytest.raises(ConfigError, match=said):
        chunks_of(SENTENCE, tokens, overlap)


def test_a_bound_below_one_character_is_refused():
    with pytest.raises(ConfigError, match="less than the tokens of one character"):
        chunks_of("abc", 2, 0, lambda text: 3 * len(text))


def test_the_counter_is_called_a_bounded_number_of_times():
    calls = []

    def counting(text):
        calls.append(len(text))
        return estimate_tokens(text)

    text = SENTENCE * 2_000
    chunks = chunks_of(text, 400, 40, counting)
    assert len(calls) < 30 * len(chunks)
    assert sum(calls) < 40 * len(text)  # linear in the text, whatever its length


def test_markdown_of_tables_and_code_without_headings():
    """Case 43: the structure is no reason to fail; every line is in a chunk."""
    rows = "\n".join(f"| cell {i} | {{value}} |" for i in range(40))
    code = "```python\n" + "\n".join(f"    x[{i}] = {{}}" for i in range(40)) + "\n```"
    text = f"| a | b |\n| --- | --- |\n{rows}\n\n{code}\n"
    chunks = chunks_of(text, 60, 0, estimate_tokens)
    lines = [line for chunk in chunks for line in chunk.text.split("\n")]
    assert sorted(map(str.strip, lines)) == sorted(
        line.strip() for line in text.splitlines() if line.strip()
    )


@pytest.mark.parametrize(
    "wrong",
    [{"chunk_tokens": "400"}, {"chunk_tokens": 40.5}, {"overlap": "4"}, {"count": 3}],
)
def test_an_argument_of_another_type_is_named(wrong):
    (name,) = wrong
    with pytest.raises(ConfigError, match=name) as caught:
        chunk_document(Document("a", "some text"), **wrong)
    assert caught.value.hint
