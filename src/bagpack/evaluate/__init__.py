"""Splits, scores with intervals, baselines, and the paper's protocols, over pair counts. Names load on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bagpack.lazy import lazy_names

if TYPE_CHECKING:
    from bagpack.evaluate.answering import solve_analogies as solve_analogies
    from bagpack.evaluate.answering import solve_synonyms as solve_synonyms
    from bagpack.evaluate.comparison import Score as Score
    from bagpack.evaluate.comparison import compare as compare
    from bagpack.evaluate.comparison import interval as interval
    from bagpack.evaluate.crossval import cross_validate as cross_validate
    from bagpack.evaluate.questions import QuestionRows as QuestionRows
    from bagpack.evaluate.questions import question_rows as question_rows
    from bagpack.evaluate.relations import relation_rounds as relation_rounds
    from bagpack.evaluate.results import Evaluation as Evaluation
    from bagpack.evaluate.splits import Split as Split
    from bagpack.evaluate.splits import fixed_split as fixed_split
    from bagpack.evaluate.splits import group_splits as group_splits
    from bagpack.evaluate.splits import lexical_splits as lexical_splits
    from bagpack.evaluate.splits import make_splits as make_splits
    from bagpack.evaluate.splits import random_splits as random_splits

_NAMES = {
    "bagpack.evaluate.answering": ("solve_analogies", "solve_synonyms"),
    "bagpack.evaluate.comparison": ("Score", "compare", "interval"),
    "bagpack.evaluate.crossval": ("cross_validate",),
    "bagpack.evaluate.questions": ("QuestionRows", "question_rows"),
    "bagpack.evaluate.relations": ("relation_rounds",),
    "bagpack.evaluate.results": ("Evaluation",),
    "bagpack.evaluate.splits": (
        "Split", "fixed_split", "group_splits", "lexical_splits", "make_splits", "random_splits",
    ),
}  # fmt: skip
__getattr__, __all__ = lazy_names(__name__, _NAMES)
