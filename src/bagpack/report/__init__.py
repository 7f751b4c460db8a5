"""Showing results: an evaluation as sections, on a terminal and as a one-file HTML report. Nothing is computed here."""
