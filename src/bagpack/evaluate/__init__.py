"""Splits, scores with intervals, baselines, and the paper's protocols, over pair counts."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

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

_HOMES = {
    "cross_validate": "crossval",
    "QuestionRows": "questions",
    "question_rows": "questions",
    "solve_analogies": "answering",
    "solve_synonyms": "answering",
    "relation_rounds": "relations",
    "Evaluation": "results",
    "Score": "comparison",
    "compare": "comparison",
    "interval": "comparison",
    "Split": "splits",
    "fixed_split": "splits",
    "group_splits": "splits",
    "lexical_splits": "splits",
    "make_splits": "splits",
    "random_splits": "splits",
}
__all__ = sorted(_HOMES)  # noqa: PLE0605


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
