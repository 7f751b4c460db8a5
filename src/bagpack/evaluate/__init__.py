"""Evaluation: cross-validation and questions, complete runs over files, and models that are trained for use.

The names below load on first use.
"""

from typing import TYPE_CHECKING

from bagpack.lazy import lazy_names

if TYPE_CHECKING:
    from bagpack.evaluate.crossval import cross_validate as cross_validate
    from bagpack.evaluate.questions import question_rows as question_rows
    from bagpack.evaluate.questions import solve_analogies as solve_analogies
    from bagpack.evaluate.questions import solve_synonyms as solve_synonyms
    from bagpack.evaluate.result import Evaluation as Evaluation
    from bagpack.evaluate.run import CountOptions as CountOptions
    from bagpack.evaluate.run import EvaluateOptions as EvaluateOptions
    from bagpack.evaluate.run import evaluate_file as evaluate_file
    from bagpack.evaluate.splits import Split as Split
    from bagpack.evaluate.splits import fixed_split as fixed_split
    from bagpack.evaluate.splits import group_splits as group_splits
    from bagpack.evaluate.splits import lexical_splits as lexical_splits
    from bagpack.evaluate.splits import make_splits as make_splits
    from bagpack.evaluate.splits import random_splits as random_splits
    from bagpack.evaluate.train import TrainOptions as TrainOptions
    from bagpack.evaluate.train import train_file as train_file

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
