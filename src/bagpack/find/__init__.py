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

_NAMES = {
    "bagpack.find.examples": ("Examples", "read_examples"),
    "bagpack.find.like": ("make_prototype",),
    "bagpack.find.pool": ("CandidateOptions", "Pool", "collect_pool"),
    "bagpack.find.questions": ("next_questions",),
    "bagpack.find.ranking": ("Found", "FoundPair", "find_pairs", "iter_pairs", "rank_pool"),
    "bagpack.find.relations": ("group_relations",),
    "bagpack.find.sentences": ("best_lines",),
    "bagpack.find.training": ("Trained", "train_on_examples"),
    "bagpack.find.vocabulary": ("Vocabulary", "corpus_vocabulary", "read_vocabulary"),
}
__getattr__, __all__ = lazy_names(__name__, _NAMES)
