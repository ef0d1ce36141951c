"""A profile beside a review: pressing a cell of the source shows its rows there."""

from __future__ import annotations

from typing import Any

from synthnb.errors import ConfigError
from synthnb.widgets.channel import Message, View
from synthnb.widgets.profile_figures import Figures, page
from synthnb.widgets.profile_strips import cell_name


class ProfileView(View, module="profile"):
    """The same page as the static one, whose cells can be pressed."""

    def __init__(self, found: Figures, review: Any) -> None:
        """Show the figures; ``review`` is told what was pressed."""
        super().__init__()
        self._found = found
        self._review = review

    def on_open(self, _message: Message) -> Message:
        """Answer a page that begins to show the profile."""
        return {"tree": page(self._found, live=True)}

    def on_pick(self, message: Message) -> Message:
        """Show one cell's rows in the review; without a cell, all rows again.

        The page names a strip and a cell by their places: a source may be any text.

        Raises:
            ConfigError: there is no such cell.
        """
        if message.get("strip") is None:
            self._review.filter(source="", chunk="")
            return {"said": "the review shows all sources again"}
        try:
            strip = self._found["coverage"]["strips"][int(message["strip"])]
            cell = strip["cells"][int(message["cell"])]
        except (IndexError, KeyError, TypeError, ValueError):
            raise ConfigError("there is no such cell of the source") from None
        name = cell_name(strip, cell)
        if cell["chunk"] is None:
            self._review.filter(source=strip["source"], chunk="")
            return {
                "said": f"the review shows all of this document; pressed was {name}"
            }
        self._review.filter(source="", chunk=cell["chunk"])
        return {"said": f"the review shows {name}"}
