"""Exporters: records → a training format. One file and one registry line per format."""

from __future__ import annotations

from synthnb.export.dataset_folder import DatasetResult, export_dataset
from synthnb.export.formats import ExportResult, export, formats
from synthnb.export.manifest import Verified, verify

__all__ = [
    "DatasetResult",
    "ExportResult",
    "Verified",
    "export",
    "export_dataset",
    "formats",
    "verify",
]
