"""The demo's documents, as package data."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def documents_folder() -> Path:
    """Return the folder of the four documents that the demo reads."""
    return Path(str(files("synthnb.demo").joinpath("documents")))
