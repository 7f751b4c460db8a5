"""Asking an engine: budget, retries, and the cache of answers."""
