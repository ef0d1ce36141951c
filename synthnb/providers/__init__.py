"""Providers: where an OpenAI-compatible API lives, and the client that calls it."""
