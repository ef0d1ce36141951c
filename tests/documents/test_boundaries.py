from itertools import pairwise

import pytest

from synthnb.documents.boundaries import find_boundaries, whole_character


def pieces(text, positions):
    edges = [0, *positions, len(text)]
    return [text[a:b].strip() for a, b in pairwise(edges)]


def sentences(text):
    return pieces(text, find_boundaries(text).sentences)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ('He said "go." She went.', ['He said "go."', "She went."]),
        ("(A note.) The next.", ["(A note.)", "The next."]),
        ("hello there. how are you", ["hello there.", "how are you"]),
        ("It costs 3.14 euros. Yes.", ["It costs 3.14 euros.", "Yes."]),
        ("Wait... what? Yes.", ["Wait...", "what?", "Yes."]),
        ("今天很好。我们走吧！好", ["今天很好。", "我们走吧！", "好"]),
        ("他说“好。”然后走了。", ["他说“好。”", "然后走了。"]),
        ("هل هذا جيد؟ نعم.", ["هل هذا جيد؟", "نعم."]),
        ("यह अच्छा है। हाँ।", ["यह अच्छा है।", "हाँ।"]),
    ],
)
def test_sentences_end_at_their_marks(text, expected):
    assert sentences(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Dr. Smith met Mr. Jones.",
        "See Fig. 3 and No. 5 on p. 7.",
        "Use e.g. this or i.e. that.",
        "J. R. Tolkien wrote it.",
        "Bread, milk, etc. were sold by Acme Inc. and others.",
        "The U.S. Navy came.",
        "1. Install the package.",
        "Visit example.com today",
    ],
)
def test_abbreviations_and_numbers_end_no_sentence(text):
    assert sentences(text) == [text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The answer is no. Then stop.", 2),
        ("It was sold by Acme Inc. The price was low.", 2),
        ("The year was 2020. Then it ended.", 2),
        ("Point a. Point b. Done.", 3),
    ],
)
def test_words_that_may_end_a_sentence_do(text, expected):
    assert len(sentences(text)) == expected


def test_a_blank_line_ends_a_paragraph_and_a_sentence():
    text = "One line of it.\n\nAnother line of it.\n \nA third."
    found = find_boundaries(text)
    assert pieces(text, found.paragraphs) == text.replace("\n \n", "\n\n").split("\n\n")
    assert set(found.paragraphs) <= set(found.sentences)


def test_a_wrapped_line_is_no_sentence_end():
    found = find_boundaries("a sentence that goes\non in the next line. End")
    assert len(found.lines) == 1
    assert len(found.sentences) == 1


def test_a_heading_stays_with_what_it_heads():
    text = "Text before.\n\n## Heading\n\nText after.\n# Next\nMore."
    found = find_boundaries(text)
    starts = [text[p:].partition("\n")[0] for p in found.sentences]
    assert starts == ["## Heading", "# Next"]
    assert [text[p:].partition("\n")[0] for p in found.lines] == [
        "Text after.",
        "More.",
    ]


def test_a_line_that_stands_alone_without_a_full_stop_is_taken_for_a_heading():
    text = "The end of it.\n\n2 How it began\n\nIt began in 1990."
    found = find_boundaries(text)
    assert [text[p:][:5] for p in found.paragraphs] == ["2 How"]


def test_list_items_and_table_rows_are_pieces_and_a_table_keeps_its_head():
    text = "- one\n- two\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |"
    assert sentences(text) == [
        "- one",
        "- two",
        "| a | b |\n| --- | --- |\n| 1 | 2 |",
        "| 3 | 4 |",
    ]


@pytest.mark.parametrize("text", ["", " \n\n ", "word", "end.", "end.\n\n"])
def test_nothing_starts_at_the_end(text):
    found = find_boundaries(text)
    assert len(text) not in (*found.sentences, *found.lines, *found.paragraphs)


@pytest.mark.parametrize(
    ("text", "position", "expected"),
    [
        ("ae\u0301b", 2, 1),  # a combining accent
        ("a👨\u200d👩b", 2, 1),  # a joined emoji, cut before its joiner
        ("a👨\u200d👩b", 3, 1),  # and after it
        ("ab", 1, 1),
        ("\u0301\u0301\u0301", 2, 2),  # nothing to keep together: cut as asked
    ],
)
def test_a_cut_keeps_visible_characters_whole(text, position, expected):
    assert whole_character(text, position, 0) == expected
