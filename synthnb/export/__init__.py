"""Exporters: records → a training format. One file and one registry line per format."""

from __future__ import annotations

from synthnb.export.formats import ExportResult, export, formats

__all__ = ["ExportResult", "export", "formats"]
