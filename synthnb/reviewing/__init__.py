"""Reviewing: the log on disk joined with its replay, and the plain calls over a frame."""

from synthnb.reviewing.calls import decide, decisions, undo, with_decisions

__all__ = ["decide", "decisions", "undo", "with_decisions"]
