"""Progress of reading files, in the cell that reads them."""

from __future__ import annotations

import time
from typing import Any

from IPython.display import DisplayHandle

from synthnb.widgets.markup import to_html

_SECONDS = 0.3
_LOOK = {
    "style": "font-family:var(--jp-ui-font-family,sans-serif);"
    "font-size:var(--jp-ui-font-size1,13px);color:var(--jp-ui-font-color2,#616161)"
}


class ReadingProgress:
    """Shows which file is being read, once reading takes longer than a moment."""

    def __init__(self) -> None:
        """Begin to count the time; nothing is shown yet."""
        self._shown_at = time.monotonic()
        self._handle: Any = None

    def __call__(self, done: int, total: int, source: str) -> None:
        """Take one report of ``read``: files done, files in all, the last one's name."""
        now = time.monotonic()
        if now - self._shown_at < _SECONDS and not (done == total and self._handle):
            return
        self._shown_at = now
        line = f"{done} of {total} files read"
        if done < total:
            line += f", last {source}"
        data = {"text/plain": line, "text/html": to_html(("div", _LOOK, line))}
        if self._handle is None:
            self._handle = DisplayHandle()  # type: ignore[no-untyped-call]
            self._handle.display(data, raw=True)
        else:
            self._handle.update(data, raw=True)
