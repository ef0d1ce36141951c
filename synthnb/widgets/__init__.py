"""Widgets: what a run and its rows look like in a notebook."""

from __future__ import annotations


def register() -> None:
    """Let IPython show a ``Run`` as a live progress; harmless when repeated."""
    from synthnb.widgets.progress import register_formatter

    register_formatter()
