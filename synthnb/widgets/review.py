"""``review(df)``: the reviewer's desk in a cell, and the same from Python."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from synthnb.curation.decided_frame import decisions_frame
from synthnb.errors import ConfigError
from synthnb.reviewing.calls import decided
from synthnb.reviewing.gesture import Action, gesture
from synthnb.widgets.review_model import ReviewModel
from synthnb.widgets.review_static import static_html, summary

if TYPE_CHECKING:
    import pandas as pd

    from synthnb.widgets.review_view import ReviewView

_STATIC_ROWS = 10
_STATIC_FIELDS = 6


def review(
    df: pd.DataFrame,
    *,
    name: str | None = None,
    folder: str | Path | None = None,
    by: str | None = None,
    fields: Iterable[str] | None = None,
) -> Review:
    """Look through records one by one: accept, reject, edit, tag; all of it undoable.

    ::

        desk = sn.review(df)
        desk  # the last line of a cell shows the desk

        kept = desk.frame("accept")  # in a later cell

    Each decision is on disk before the next row is shown, in a log that only grows:
    ``decisions.sqlite`` in the run's folder. The same frame opened again, in another
    kernel or by ``sn.decide``, shows the same decisions.

    Args:
        df: records. A frame without ``record_id`` gets ids from its rows' content.
        name: the run's name, where its log lies; default: the run that ``df`` is from,
            else a name made from the records.
        folder: where the log lies, in place of ``name``.
        by: who decides; default ``SYNTHNB_USER``, else the system's user.
        fields: the columns under review; default: the recipe's.

    Raises:
        FrameError: rows that cannot be told apart, or a field that is no column.
        StoreError: the log cannot be read.
    """
    return Review(df, name=name, folder=folder, by=by, fields=fields)


class Review:
    """A review of a frame; made by ``review``. Its methods do what the desk's keys do."""

    def __init__(self, df: pd.DataFrame, **options: Any) -> None:
        """Take the arguments of ``review``."""
        self._model = ReviewModel(df, **options)
        self._view: ReviewView | None = None

    # looking -------------------------------------------------------------------------------

    def frame(
        self, decision: Literal["accept", "reject", "undecided"] | None = None
    ) -> pd.DataFrame:
        """Return the records with all decisions and edits, with a fresh index.

        Args:
            decision: only the records that were accepted or rejected, or are undecided.

        Raises:
            ConfigError: another word.
            StoreError: the log cannot be read.
        """
        words = (None, "accept", "reject", "undecided")
        if decision not in words:
            hint = f"It is one of {', '.join(map(repr, words[1:]))}."
            raise ConfigError(f"{decision!r} is no decision", hint=hint)
        live = self._model.live
        with live.lock:
            live.sync()
            shown = decided(self._model.records, live)
        if decision == "undecided":
            shown = shown[shown["decision"].isna()]
        elif decision is not None:
            shown = shown[(shown["decision"] == decision).fillna(value=False)]
        return shown.reset_index(drop=True)

    @property
    def decisions(self) -> pd.DataFrame:
        """The whole log, oldest first: who, when, what, and whether it stands."""
        live = self._model.live
        with live.lock:
            live.sync()
            return decisions_frame(live.book)

    @property
    def progress(self) -> dict[str, int]:
        """How many rows there are, accepted, rejected, and still to do."""
        self._model.sync()
        state = self._model.state()
        return {"rows": state["total"], **state["counts"]}

    def filter(self, **values: Any) -> Review:
        """Set what the desk shows; what is not named is shown whole again.

        Args:
            values: ``decision`` (undecided, accept, reject, edited, noted), ``status``,
                ``rating`` (a pair, either end may be ``None``), ``duplicates`` (only,
                none), ``source``, ``chunk``, ``text``, ``sort`` (order, rating, length,
                source, decided), ``descending``.

        Raises:
            ConfigError: an unknown name or a value that it cannot have.
        """
        self._model.reset_filter(values)
        return self

    # deciding ------------------------------------------------------------------------------

    def accept(self, record_id: Any) -> None:
        """Accept a record, or a list of them as one step."""
        self.decide(record_id, "accept")

    def reject(self, record_id: Any) -> None:
        """Reject a record, or a list of them as one step."""
        self.decide(record_id, "reject")

    def edit(self, record_id: Any, /, **fields: Any) -> None:
        """Give fields new values, which accepts the record."""
        self.decide(record_id, "edit", edited=fields)

    def decide(self, record_id: Any, action: Action, **said: Any) -> None:
        """Decide as ``sn.decide`` does; on disk when this returns.

        Args:
            record_id: the record, or a list of them for one step.
            action: ``accept``, ``reject``, ``edit`` or ``annotate``.
            said: ``edited``, ``tags``, ``stars``, ``note``.

        Raises:
            FrameError: no such record or column.
            ConfigError: arguments that do not go together.
            StoreError: it could not be saved.
        """
        model = self._model
        with model.live.lock:
            model.live.sync()
            told = gesture(model.records, model.live.book, record_id, action, **said)
            model.live.append(told, by=model.by)

    def undo(self) -> str:
        """Take back the last step that stands; as often as there are any.

        Returns:
            What was taken back, in words.

        Raises:
            ConfigError: nothing is left to take back.
            StoreError: it could not be saved.
        """
        what: str = self._model.undo()["what"]
        return what

    # showing -------------------------------------------------------------------------------

    def __repr__(self) -> str:
        """Return the counts and where the log lies, as one line."""
        return summary(self._model.state())

    def _repr_mimebundle_(
        self, **options: Any
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the live desk, and what a saved notebook shows without a kernel."""
        if self._view is None:
            # Only a front end needs the widget and all that it imports.
            from synthnb.widgets.review_view import ReviewView

            self._view = ReviewView(self._model)
        bundle = self._view._repr_mimebundle_(**options)
        data, metadata = bundle if bundle is not None else ({}, {})
        model = self._model
        html = static_html(
            model.state(), *model.first_rows(_STATIC_ROWS, _STATIC_FIELDS)
        )
        return data | {"text/plain": repr(self), "text/html": html}, metadata
