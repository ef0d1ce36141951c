"""The command line: the same verbs, from a shell."""

from __future__ import annotations


def main() -> None:
    """Run the ``synthnb`` command."""
    from synthnb.cli.app import app

    app()
