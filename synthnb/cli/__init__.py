"""The command line: the same verbs, from a shell."""

from __future__ import annotations


def main() -> None:
    """Run the ``synthnb`` command."""
    from synthnb.cli.app import app
    from synthnb.cli.console import print_anywhere, unprintable

    print_anywhere()
    try:
        app()
    except BrokenPipeError:
        raise
    except OSError as error:
        unprintable(error)
