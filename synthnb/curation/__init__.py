"""Curation: checks, duplicates, grounding, and what each dropped."""
