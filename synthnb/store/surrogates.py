"""Text that UTF-8, and so SQLite, cannot hold."""

from __future__ import annotations

from typing import Any

from synthnb.store import schema

MARK = "surrogates_replaced"


def mend(sql: str, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Replace lone surrogates by U+FFFD; an answer that had some is marked.

    Called for a group that SQLite refused, not for each row: the check costs more than
    the insert.
    """
    mended = tuple(_mend(v) if isinstance(v, str) else v for v in values)
    if sql != schema.PUT_RESULT or mended == values:
        return mended
    place = schema.RESULT_ADAPTED
    marks = [*filter(None, [mended[place]]), MARK]
    return (*mended[:place], ",".join(marks), *mended[place + 1 :])


def _mend(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
