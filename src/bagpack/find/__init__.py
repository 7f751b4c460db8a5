"""Finding new pairs of a relation in a whole corpus: candidates, a cheap ranking, full vectors for the best.

The names below load on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bagpack.lazy import lazy_names

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

_MODULES = {
    "Examples": "bagpack.find.examples",
    "read_examples": "bagpack.find.examples",
    "make_prototype": "bagpack.find.like",
    "CandidateOptions": "bagpack.find.pool",
    "Pool": "bagpack.find.pool",
    "collect_pool": "bagpack.find.pool",
    "next_questions": "bagpack.find.questions",
    "Found": "bagpack.find.ranking",
    "FoundPair": "bagpack.find.ranking",
    "find_pairs": "bagpack.find.ranking",
    "iter_pairs": "bagpack.find.ranking",
    "rank_pool": "bagpack.find.ranking",
    "group_relations": "bagpack.find.relations",
    "best_lines": "bagpack.find.sentences",
    "Trained": "bagpack.find.training",
    "train_on_examples": "bagpack.find.training",
    "Vocabulary": "bagpack.find.vocabulary",
    "corpus_vocabulary": "bagpack.find.vocabulary",
    "read_vocabulary": "bagpack.find.vocabulary",
}
__all__ = sorted(_MODULES)  # noqa: PLE0605
__getattr__ = lazy_names(__name__, _MODULES)
