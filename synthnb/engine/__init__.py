"""Engine: the batch loop."""
