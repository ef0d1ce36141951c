"""Finds keys that a saved notebook holds, without ever repeating one."""

from __future__ import annotations

from synthnb.scan.files import find_notebooks
from synthnb.scan.finding import Finding
from synthnb.scan.scanner import scan_notebook

__all__ = ["Finding", "find_notebooks", "scan_notebook"]
