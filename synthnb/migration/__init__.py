"""Moving over from synthetic-data-kit: its configuration, its prompts, its files."""

from __future__ import annotations

from synthnb.migration.config import Configuration, config_from_sdk
from synthnb.migration.prompts import converted
from synthnb.migration.reading import read_sdk
from synthnb.migration.writing import write_sdk

__all__ = ["Configuration", "config_from_sdk", "converted", "read_sdk", "write_sdk"]
