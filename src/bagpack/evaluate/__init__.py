"""Splits, scores with intervals, baselines, and the paper's protocols, over pair counts."""

from bagpack.evaluate.answering import solve_analogies, solve_synonyms
from bagpack.evaluate.comparison import Score, compare, interval
from bagpack.evaluate.crossval import cross_validate
from bagpack.evaluate.questions import QuestionRows, question_rows
from bagpack.evaluate.relations import relation_rounds
from bagpack.evaluate.results import Evaluation
from bagpack.evaluate.splits import (
    Split,
    fixed_split,
    group_splits,
    lexical_splits,
    make_splits,
    random_splits,
)

__all__ = [
    "Evaluation",
    "QuestionRows",
    "Score",
    "Split",
    "compare",
    "cross_validate",
    "fixed_split",
    "group_splits",
    "interval",
    "lexical_splits",
    "make_splits",
    "question_rows",
    "random_splits",
    "relation_rounds",
    "solve_analogies",
    "solve_synonyms",
]
