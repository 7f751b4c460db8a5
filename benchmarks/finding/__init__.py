"""Finding pairs, measured: see docs/finding.md."""
