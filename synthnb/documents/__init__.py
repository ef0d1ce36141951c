"""Documents: readers by suffix, and chunking."""
