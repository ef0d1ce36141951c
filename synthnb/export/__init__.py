"""Export: one file per training format."""
