"""Evaluation: cross-validation and questions, complete runs over files, and models that are trained for use.

The names below load on first use.
"""

from bagpack.lazy import lazy_names

_NAMES = {
    "bagpack.evaluate.crossval": ("cross_validate",),
    "bagpack.evaluate.questions": ("question_rows", "solve_analogies", "solve_synonyms"),
    "bagpack.evaluate.result": ("Evaluation",),
    "bagpack.evaluate.run": ("CountOptions", "EvaluateOptions", "evaluate_file"),
    "bagpack.evaluate.splits": (
        "Split", "fixed_split", "group_splits", "lexical_splits", "make_splits", "random_splits",
    ),
    "bagpack.evaluate.train": ("TrainOptions", "train_file"),
}  # fmt: skip
__getattr__, __all__ = lazy_names(__name__, _NAMES)
