"""Rows of cells as Markdown tables that stay readable when they are cut."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

_ROWS = 40
"""Rows after which the head stands again: a chunk from the middle has it too."""
_BREAKS = re.compile(r"\s*[\r\n]+\s*")


def tables(rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Yield Markdown tables of rows whose first one is the head.

    Args:
        rows: their cells; ``None`` is an empty one. Shorter rows are filled.
    """
    iterator = iter(rows)
    head = next(iterator, None)
    if head is None:
        return
    width = len(head)
    top = [_line(head, width), _line(["---"] * width, width)]
    block = list(islice(iterator, _ROWS))
    while True:
        widest = max([width, *map(len, block)])
        if widest > width:
            width = widest
            top = [_line(head, width), _line(["---"] * width, width)]
        yield "\n".join([*top, *(_line(row, width) for row in block)])
        block = list(islice(iterator, _ROWS))
        if not block:
            return


def _line(row: Sequence[object], width: int) -> str:
    cells = [_cell(value) for value in row] + [""] * (width - len(row))
    return f"| {' | '.join(cells)} |"


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    return _BREAKS.sub(" ", text.strip()).replace("|", "\\|")
