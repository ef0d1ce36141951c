import pytest

from synthnb.documents.layout import Line, PageLines, flow, without_margins

WIDTH = 300.0


def line(text, bottom, *, left=50.0, right=None, size=10.0, hyphen=False):
    full = left + WIDTH
    return Line(text, left, full if right is None else right, bottom, size, hyphen)


def page(*lines, number=1, height=600.0):
    return PageLines(number, height, lines)


def text_of(*pages):
    return flow(pages)[0]


def test_wrapped_lines_are_joined_to_whole_sentences():
    text = text_of(page(line("The first line goes", 500), line("on here.", 488)))
    assert text == "The first line goes on here."


def test_a_gap_makes_a_paragraph():
    text = text_of(
        page(
            line("One goes", 500),
            line("on.", 488),
            line("Two goes", 470),
            line("on.", 458),
        )
    )
    assert text == "One goes on.\n\nTwo goes on."


def test_another_type_size_makes_a_paragraph():
    text = text_of(page(line("A heading", 500, size=14), line("The text.", 486)))
    assert text == "A heading\n\nThe text."


def test_an_indent_after_a_finished_sentence_makes_a_paragraph():
    text = text_of(
        page(line("It ended there.", 500), line("It began", 488, left=65, right=350))
    )
    assert text == "It ended there.\n\nIt began"


def test_a_line_that_ends_early_was_ended_on_purpose():
    rows = page(
        line("Name Value", 500, right=150),
        line("Alpha 1", 488, right=120),
        line("A row as wide as the page is", 476),
    )
    assert text_of(rows) == "Name Value\nAlpha 1\nA row as wide as the page is"


def test_list_items_begin_new_lines():
    items = page(
        line("It holds these:", 500), line("• one and", 488), line("1. two", 476)
    )
    assert text_of(items) == "It holds these:\n• one and\n1. two"


def test_a_sentence_goes_on_over_the_end_of_a_page():
    text, pages = flow(
        [
            page(line("It starts on one page and", 60), number=1),
            page(line("ends on another.", 540), number=2),
            page(line("A new one.", 540), number=3),
        ]
    )
    assert text == "It starts on one page and ends on another.\n\nA new one."
    spans = [text[p.start : p.end] for p in pages]
    assert spans == ["It starts on one page and", "ends on another.", "A new one."]
    assert [p.number for p in pages] == [1, 2, 3]


def test_a_sentence_goes_on_in_the_next_column():
    columns = page(
        line("It starts in the left", 100, right=200),
        line("and ends in the right column.", 500, left=220, right=370),
        line("Another column.", 500, left=400, right=550),
    )
    assert text_of(columns) == (
        "It starts in the left and ends in the right column.\n\nAnother column."
    )


def test_an_empty_page_has_an_empty_span():
    _, pages = flow([page(line("One.", 500)), page(number=2), page(number=3)])
    assert [(p.start, p.end) for p in pages] == [(0, 4), (4, 4), (4, 4)]
    assert flow([]) == ("", ())


@pytest.mark.parametrize(
    ("before", "after", "elsewhere", "joined"),
    [
        ("a para", "graph ends", "", "a paragraph ends"),
        ("a well", "known thing", "a well-known one", "a well-known thing"),
        ("we re", "sign it", "they resign", "we resign it"),
        ("for fine", "tuning it", "fine for tuning", "for fine-tuning it"),
        ("the Non", "Linear case", "", "the Non-Linear case"),
        ("state-of-the", "art model", "", "state-of-the-art model"),
        ("type A", "1 fits", "", "type A-1 fits"),
    ],
)
def test_a_hyphen_at_a_lines_end(before, after, elsewhere, joined):
    lines = [line(before, 500, hyphen=True), line(after, 488)]
    text = text_of(page(*lines, line(elsewhere or "x", 400)))
    assert text.split("\n\n")[0] == joined


def test_a_hyphenated_word_over_the_end_of_a_page():
    text = text_of(
        page(line("a para", 60, hyphen=True)), page(line("graph.", 540), number=2)
    )
    assert text == "a paragraph."


def test_a_hyphen_before_a_heading_stays():
    lines = page(line("a para", 500, hyphen=True), line("Heading", 480, size=20))
    assert text_of(lines) == "a para-\n\nHeading"


def test_a_range_of_numbers_stays_together():
    text = text_of(page(line("the years 2020-", 500), line("2021 and more", 488)))
    assert text == "the years 2020-2021 and more"


def test_running_headers_and_page_numbers_are_left_out_and_said():
    pages = [
        page(
            line("A handbook", 580),
            line(f"Text of page {n}.", 300),
            line(f"Page {n} of 3", 20),
            number=n,
        )
        for n in (1, 2, 3)
    ]
    kept, notes = without_margins(pages)
    assert text_of(*kept) == "Text of page 1.\n\nText of page 2.\n\nText of page 3."
    assert notes == (
        "running header or footer left out on 3 pages: 'A handbook'",
        "running header or footer left out on 3 pages: 'Page 1 of 3'",
    )


def test_what_stands_at_the_edge_once_or_in_the_middle_often_stays():
    pages = [
        page(line(f"Title {'abc'[n]}", 580), line("The same line.", 300), number=n)
        for n in (0, 1, 2)
    ]
    assert without_margins(pages) == (tuple(pages), ())
    single = [page(line("Page 1", 20))]
    assert without_margins(single) == (tuple(single), ())
