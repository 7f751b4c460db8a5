"""Search engines as a source: inflection, queries, snippets, cache."""
