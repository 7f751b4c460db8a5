"""Data sets: word pairs, relations, ratings and multiple-choice questions, read from files as they are."""
