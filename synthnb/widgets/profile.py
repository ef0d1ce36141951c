"""``profile(df)``: what is in a frame, on one calm page of figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from synthnb.curation.profiling import figures
from synthnb.frames import require
from synthnb.widgets.markup import to_html
from synthnb.widgets.profile_figures import page
from synthnb.widgets.profile_text import as_text

if TYPE_CHECKING:
    import pandas as pd

    from synthnb.widgets.profile_view import ProfileView


class Filterable(Protocol):
    """What a profile needs of a review: that it can be told which rows to show."""

    def filter(self, **wanted: Any) -> Any:
        """Show only the rows of one source or one chunk."""


class Profile:
    """The figures of one frame, as they were when it was made.

    In a notebook it shows itself as a page that needs no kernel; in a terminal it prints
    the same figures.
    """

    def __init__(self, found: dict[str, Any], review: Filterable | None = None) -> None:
        """Take the figures; ``profile`` makes them."""
        self._found = found
        self._review = review
        self._view: ProfileView | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain values that JSON can hold."""
        import copy

        return copy.deepcopy(self._found)

    def __repr__(self) -> str:
        return as_text(self._found)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = {
            "text/plain": repr(self),
            "text/html": to_html(page(self._found)),
        }
        if self._review is not None and self._found["coverage"]:
            from synthnb.widgets.profile_view import ProfileView

            if self._view is None:
                self._view = ProfileView(self._found, self._review)
            bundle["application/vnd.jupyter.widget-view+json"] = {
                "version_major": 2,
                "version_minor": 0,
                "model_id": self._view.model_id,
            }
        return bundle


def profile(
    df: pd.DataFrame,
    *,
    chunks: pd.DataFrame | None = None,
    review: Filterable | None = None,
) -> Profile:
    """Return the figures of a frame: what its rows are, and what of the source they cover.

    Args:
        df: records, with whatever columns; those that are missing are named, not asked for.
        chunks: all chunks that the rows were made from, as ``read`` returns them: then
            also the chunks that gave no row are shown.
        review: a review of the same rows: pressing a cell of the source shows its rows
            there.

    Returns:
        A profile: shown by a notebook as a page, printed as text, ``to_dict()`` for the
        values. It does not follow later changes of ``df``.

    Raises:
        FrameError: ``df`` is no DataFrame, or ``chunks`` has no column ``chunk_id``.

    Example:
        >>> import pandas as pd
        >>> found = profile(pd.DataFrame({"status": ["ok", "ok", "truncated"]}))
        >>> found.to_dict()["kept"]
        2
    """
    require(df, (), "profile")
    if chunks is not None:
        require(chunks, ["chunk_id"], "profile(chunks=...)")
    return Profile(figures(df, chunks=chunks), review)
