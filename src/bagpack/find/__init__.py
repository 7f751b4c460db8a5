"""Finding new pairs of a relation in a whole corpus: candidates, a cheap ranking, full vectors for the best.

The names below load on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bagpack.find.examples import Examples as Examples
    from bagpack.find.examples import read_examples as read_examples
    from bagpack.find.like import make_prototype as make_prototype
    from bagpack.find.pool import CandidateOptions as CandidateOptions
    from bagpack.find.pool import Pool as Pool
    from bagpack.find.pool import collect_pool as collect_pool
    from bagpack.find.questions import next_questions as next_questions
    from bagpack.find.ranking import Found as Found
    from bagpack.find.ranking import FoundPair as FoundPair
    from bagpack.find.ranking import find_pairs as find_pairs
    from bagpack.find.ranking import iter_pairs as iter_pairs
    from bagpack.find.ranking import rank_pool as rank_pool
    from bagpack.find.relations import group_relations as group_relations
    from bagpack.find.sentences import best_lines as best_lines
    from bagpack.find.training import Trained as Trained
    from bagpack.find.training import train_on_examples as train_on_examples
    from bagpack.find.vocabulary import Vocabulary as Vocabulary
    from bagpack.find.vocabulary import corpus_vocabulary as corpus_vocabulary
    from bagpack.find.vocabulary import read_vocabulary as read_vocabulary

_HOMES = {
    "Examples": "examples",
    "read_examples": "examples",
    "make_prototype": "like",
    "CandidateOptions": "pool",
    "Pool": "pool",
    "collect_pool": "pool",
    "next_questions": "questions",
    "Found": "ranking",
    "FoundPair": "ranking",
    "find_pairs": "ranking",
    "iter_pairs": "ranking",
    "rank_pool": "ranking",
    "group_relations": "relations",
    "best_lines": "sentences",
    "Trained": "training",
    "train_on_examples": "training",
    "Vocabulary": "vocabulary",
    "corpus_vocabulary": "vocabulary",
    "read_vocabulary": "vocabulary",
}
__all__ = sorted(_HOMES)  # noqa: PLE0605


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
