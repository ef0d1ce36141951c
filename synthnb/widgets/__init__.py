"""Widgets: what a run and its rows look like in a notebook."""

from __future__ import annotations


def register() -> None:
    """Let IPython show runs and reading as they go; harmless when repeated."""
    from IPython.core.getipython import get_ipython

    if get_ipython() is None:
        return
    from synthnb.pipeline import show_with
    from synthnb.widgets.monitor import register_formatter, show
    from synthnb.widgets.reading import ReadingProgress

    register_formatter()
    show_with(reading=ReadingProgress, rating=show)
