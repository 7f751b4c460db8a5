"""Evaluation: cross-validation and questions, complete runs over files, and models that are trained for use."""
