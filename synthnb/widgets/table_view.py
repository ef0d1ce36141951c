"""The view of a table: it carries messages between its pages and ``TableModel``."""

from __future__ import annotations

from synthnb.widgets.channel import Message, View
from synthnb.widgets.table_model import TableModel


class TableView(View, module="table"):
    """One table; all open pages of it show the same order, search and columns."""

    def __init__(self, model: TableModel, height: int) -> None:
        """Show ``model`` in a grid of ``height`` pixels."""
        super().__init__()
        self._model = model
        self._height = height

    def on_open(self, _message: Message) -> Message:
        """Answer a page that begins to show the table."""
        return {"state": self._model.state(), "height": self._height}

    def on_rows(self, message: Message) -> Message:
        """Return the cells of the rows ``start`` up to ``end``."""
        version = self._model.version
        rows = self._model.rows(int(message["start"]), int(message["end"]))
        return {"version": version, "rows": rows}

    def on_row(self, message: Message) -> Message:
        """Return the row ``i`` whole."""
        return {"version": self._model.version, **self._model.row(int(message["i"]))}

    def on_json(self, message: Message) -> Message:
        """Return the row ``i`` as JSON."""
        return {"text": self._model.as_json(int(message["i"]))}

    def on_sort(self, message: Message) -> Message:
        """Sort by the column at ``column``; none = the frame's own order."""
        place = message.get("column")
        self._model.sort_by(
            None if place is None else int(place),
            descending=bool(message.get("descending")),
        )
        return self._changed()

    def on_search(self, message: Message) -> Message:
        """Leave the rows that hold ``text``."""
        self._model.search(str(message.get("text", "")))
        return self._changed()

    def on_choose(self, message: Message) -> Message:
        """Show the columns at the places ``columns``."""
        self._model.choose([int(place) for place in message["columns"]])
        return self._changed()

    def _changed(self) -> Message:
        state = self._model.state()
        self.push("changed", state=state)
        return {"state": state}
