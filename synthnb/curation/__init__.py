"""Curation: rule checks, duplicates, decisions, and what is kept in the end."""

from __future__ import annotations

from synthnb.curation.agreement import Agreement, agreement
from synthnb.curation.checks import CHECKS, apply_checks
from synthnb.curation.contamination import contamination
from synthnb.curation.decided_frame import apply_decisions
from synthnb.curation.decisions import DecisionBook, DecisionState, replay
from synthnb.curation.duplicates import deduplicate
from synthnb.curation.evidence import locate_evidence
from synthnb.curation.keep import dropped_report, keep
from synthnb.curation.pairs import Check, Pair
from synthnb.curation.splits import split
from synthnb.curation.statistics import counts
from synthnb.curation.top_up import top_up

__all__ = [
    "CHECKS",
    "Agreement",
    "Check",
    "DecisionBook",
    "DecisionState",
    "Pair",
    "agreement",
    "apply_checks",
    "apply_decisions",
    "contamination",
    "counts",
    "deduplicate",
    "dropped_report",
    "keep",
    "locate_evidence",
    "replay",
    "split",
    "top_up",
]
