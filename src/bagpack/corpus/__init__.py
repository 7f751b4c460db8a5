"""Readers, annotators, the builder and the on-disk store of a corpus."""
