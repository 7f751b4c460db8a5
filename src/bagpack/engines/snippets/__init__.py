"""From the answers of an engine to a corpus of snippets that serves wherever a store does."""
