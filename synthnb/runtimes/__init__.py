"""Runtimes: start and watch a local model server."""
